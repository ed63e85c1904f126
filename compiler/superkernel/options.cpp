#include "compiler/superkernel/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/diag/diag.h"
#include "compiler/superkernel/words.h"

namespace skdsl::superkernel {

namespace {

constexpr OptionRow kRows[] = {
#define SK_SUPERKERNEL_OPTION(Name, key, kind, values, default_text, text) \
  {key, OptionKind::kind, values, default_text, text},
#include "compiler/superkernel/options.def"
#undef SK_SUPERKERNEL_OPTION
};

tl::unexpected<OptionError> refuse(std::string_view option, std::string message, std::string help) {
  return tl::unexpected(OptionError{std::string(option), std::move(message), std::move(help), false});
}

bool all_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

tl::expected<void, OptionError> check(const OptionRow& r, std::string_view value) {
  switch (r.kind) {
    case OptionKind::Word: {
      const auto words = split(r.values, '|');
      if (std::find(words.begin(), words.end(), value) != words.end()) return {};
      return refuse(r.key,
                    fmt::format("option `{}` is `{}`, expected {}", r.key, value, fmt::join(words, ", ")),
                    "use one of these values");
    }
    case OptionKind::Number:
    case OptionKind::PowerOfTwo: {
      const std::string help = fmt::format("write {}", r.kind == OptionKind::PowerOfTwo
                                                           ? std::string(r.values)
                                                           : fmt::format("an integer in {}", r.values));
      if (!all_digits(value))
        return refuse(r.key, fmt::format("option `{}` is `{}`, which is not a number", r.key, value), help);
      uint32_t n = 0;
      const auto [end, trouble] = std::from_chars(value.data(), value.data() + value.size(), n);
      bool good = trouble == std::errc{};
      if (r.kind == OptionKind::PowerOfTwo) {
        good &= n == 0 || (n >= 2 && (n & (n - 1)) == 0);
      } else {
        const size_t dots = r.values.find("..");
        const auto limit = [](std::string_view s, uint32_t otherwise) {
          uint32_t x = otherwise;
          std::from_chars(s.data(), s.data() + s.size(), x);
          return x;
        };
        good &= n >= limit(r.values.substr(0, dots), 0) && n <= limit(r.values.substr(dots + 2), UINT32_MAX);
      }
      if (good) return {};
      return refuse(r.key, fmt::format("option `{}` is {}, expected {}", r.key, value, r.values), help);
    }
    case OptionKind::List:
    case OptionKind::Text:
      return {};
  }
  return {};
}

}  // namespace

const OptionRow& row(Option option) { return kRows[static_cast<size_t>(option)]; }

Option find_option(std::string_view key) {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].key == key) return static_cast<Option>(i);
  return Option::kCount;
}

std::string_view Options::text(Option o) const {
  return given(o) ? std::string_view(values_[static_cast<size_t>(o)]) : row(o).default_text;
}

uint32_t Options::number(Option o) const {
  const std::string_view s = text(o);
  uint32_t n = 0;
  std::from_chars(s.data(), s.data() + s.size(), n);
  return n;
}

std::vector<std::string> Options::list(Option o) const { return split_list(text(o)); }

void Options::set(Option o, std::string value) {
  values_[static_cast<size_t>(o)] = std::move(value);
  given_[static_cast<size_t>(o)] = true;
}

std::string Options::print() const {
  std::string out;
  for (size_t i = 0; i < kOptions; ++i)
    if (given_[i]) out += fmt::format("{}{}={}", out.empty() ? "" : ":", kRows[i].key, values_[i]);
  return out;
}

tl::expected<void, OptionError> add_option(Options& options, std::string_view key, std::string_view value) {
  key = trim(key);
  value = trim(value);
  if (key.empty() || value.empty())
    return refuse(key, fmt::format("option `{}={}` lacks its {}", key, value, key.empty() ? "key" : "value"),
                  "write `key=value`");
  const Option o = find_option(key);
  if (o == Option::kCount) {
    std::vector<std::string> keys;
    for (const OptionRow& r : kRows) keys.emplace_back(r.key);
    std::string spelled(key);
    std::replace(spelled.begin(), spelled.end(), '_', '-');
    const std::string nearest = diag::nearest(spelled, keys);
    auto refused = refuse(key, fmt::format("a super kernel has no option `{}`", key),
                          nearest.empty() ? fmt::format("the options are {}", fmt::join(keys, ", "))
                                          : fmt::format("did you mean `{}`?", nearest));
    refused.value().nearest = nearest;
    return refused;
  }
  if (options.given(o)) return refuse(key, fmt::format("option `{}` is given twice", key), "give it once");
  if (auto ok = check(row(o), value); !ok) return ok;
  options.set(o, std::string(value));
  return {};
}

tl::expected<ParsedOptions, OptionError> parse_options(std::string_view text, bool underscores) {
  ParsedOptions out;
  while (!text.empty() && text.front() == '"') text.remove_prefix(1);
  while (!text.empty() && text.back() == '"') text.remove_suffix(1);
  for (std::string_view part : split(text, ':')) {
    part = trim(part);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      out.warnings.push_back(fmt::format("option `{}` has no value and is ignored", part));
      continue;
    }
    std::string key(part.substr(0, equals));
    if (underscores) std::replace(key.begin(), key.end(), '_', '-');
    if (auto ok = add_option(out.options, key, part.substr(equals + 1)); !ok)
      return tl::unexpected(ok.error());
  }
  return out;
}

tl::expected<ParsedOptions, OptionError> parse_sub_kernel_options(std::string_view text) {
  ParsedOptions out;
  for (std::string_view part : split(text, ':')) {
    part = trim(part);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    std::string key(trim(part.substr(0, equals)));
    std::replace(key.begin(), key.end(), '_', '-');
    switch (find_option(key)) {
      case Option::EarlyStart:
      case Option::DebugSyncAll:
        if (const auto value = trim(part.substr(equals + 1)); value != "0" && value != "1")
          return refuse(key, fmt::format("option `{}` is `{}`, expected 0, 1", key, value),
                        "use one of these values");
        break;
      case Option::DcciBefore:
      case Option::DcciAfter:
      case Option::DcciDisable:
        break;
      default:
        out.warnings.push_back(fmt::format("option `{}` is skipped", key));
        continue;
    }
    if (auto ok = add_option(out.options, key, part.substr(equals + 1)); !ok)
      return tl::unexpected(ok.error());
  }
  return out;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view part : split(text, ','))
    if (const auto item = trim(part); !item.empty()) out.emplace_back(item);
  return out;
}

}  // namespace skdsl::superkernel
