#include "compiler/superkernel/capture_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/diag/diag.h"

namespace skdsl::superkernel {

namespace {

constexpr CaptureOptionRow kRows[] = {
#define SK_CAPTURE_OPTION(Name, key, dictionary, kind, default_value, low, high, meaning) \
  {key, CaptureDictionary::dictionary, CaptureOptionKind::kind, default_value, low, high, meaning},
#include "compiler/superkernel/capture_options.def"
};

constexpr CaptureStrategyRow kStrategies[] = {
#define SK_CAPTURE_STRATEGY(Name, key, high, meaning) {key, high, meaning},
#include "compiler/superkernel/capture_options.def"
};

template <class Rows>
std::string nearest_key(const Rows& rows, std::string_view word) {
  std::vector<std::string> keys;
  for (const auto& r : rows) keys.emplace_back(r.key);
  std::string spelled(word);
  std::replace(spelled.begin(), spelled.end(), '-', '_');
  const bool same = std::find(keys.begin(), keys.end(), spelled) != keys.end();
  const std::string near = same ? spelled : diag::nearest(spelled, keys);
  return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

std::string_view wanted(CaptureOptionKind kind) {
  switch (kind) {
    case CaptureOptionKind::Number:
      return "an int";
    case CaptureOptionKind::Patterns:
      return "a list of str";
    case CaptureOptionKind::Extend:
      return "a str";
    case CaptureOptionKind::Strategies:
      return "a dict of int";
    case CaptureOptionKind::Declared:
      break;
  }
  return "anything";
}

// Python's bool is an int.
std::optional<int64_t> as_number(const Json& value) {
  if (value.is_bool()) return value.as_bool() ? 1 : 0;
  if (value.is_int()) return value.as_int();
  return {};
}

CaptureOptionError no_dict(const Json& given, std::string_view name) {
  return {true, std::string(name), fmt::format("`{}` is {}, expected a dict", name, given.kind()),
          "write {\"preload_code\": 1}, or leave it out"};
}

class Reader {
 public:
  tl::expected<ReadCaptureOptions, CaptureOptionError> run(const Json& optimize, const Json& debug) {
    if (!dictionary(optimize, CaptureDictionary::Optimize) || !dictionary(debug, CaptureDictionary::Debug))
      return tl::unexpected(std::move(error_));
    return std::move(out_);
  }

 private:
  bool refuse(bool type_error, std::string_view option, std::string message, std::string help) {
    error_ = {type_error, std::string(option), std::move(message), std::move(help)};
    return false;
  }
  bool warn(std::string message) {
    out_.warnings.push_back(std::move(message));
    return true;
  }

  bool dictionary(const Json& given, CaptureDictionary d) {
    if (given.is_null()) return true;
    if (!given.is_object()) {
      error_ = no_dict(given, name(d));
      return false;
    }
    for (const auto& [key, value] : given.as_object())
      if (!option(key, value, d)) return false;
    return true;
  }

  bool option(const std::string& key, const Json& value, CaptureDictionary d) {
    // The runtime calls the two extend options by longer names.
    const std::string_view plain = key == "opt_extend_option" || key == "debug_extend_option"
                                       ? std::string_view(key).substr(0, key.size() - 7)
                                       : key;
    const auto* found =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const auto& r) { return r.key == plain; });
    if (found == std::end(kRows))
      return warn(
          fmt::format("`{}` has no option `{}` and ignores it{}", name(d), key, nearest_key(kRows, key)));
    const auto o = static_cast<CaptureOption>(found - kRows);
    if (!seen_.insert(o).second)
      return warn(fmt::format("option `{}` is given twice; the first value stays", key));
    if (found->dictionary != d)
      warn(fmt::format("option `{}` belongs in `{}`; it is taken from `{}` all the same", key,
                       name(found->dictionary), name(d)));
    switch (found->kind) {
      case CaptureOptionKind::Number:
        return number(o, value);
      case CaptureOptionKind::Patterns:
        return patterns(o, value);
      case CaptureOptionKind::Extend:
        return extend(o, value);
      case CaptureOptionKind::Strategies:
        return strategies(o, value);
      case CaptureOptionKind::Declared:
        return warn(fmt::format("option `{}` has no effect", key));
    }
    return true;
  }

  bool wrong_type(CaptureOption o, const Json& value) {
    const CaptureOptionRow& r = row(o);
    return refuse(false, r.key,
                  fmt::format("option `{}` is {}, expected {}", r.key, value.kind(), wanted(r.kind)),
                  std::string(r.meaning));
  }

  bool number(CaptureOption o, const Json& value) {
    const auto n = as_number(value);
    if (!n) return wrong_type(o, value);
    const CaptureOptionRow& r = row(o);
    if (*n < r.low || *n > r.high)
      return warn(fmt::format("option `{}` is {}, expected {} to {}; it stays {}", r.key, *n, r.low, r.high,
                              r.default_value));
    out_.options.set(o, static_cast<uint32_t>(*n));
    return true;
  }

  bool patterns(CaptureOption o, const Json& value) {
    if (!value.is_array()) return wrong_type(o, value);
    std::vector<std::string> list;
    for (const Json& item : value.as_array()) {
      if (!item.is_string()) return wrong_type(o, item);
      list.push_back(item.as_string());
    }
    if (list.empty())
      return warn(fmt::format("option `{}` is an empty list and changes nothing", row(o).key));
    out_.options.set(o, std::move(list));
    return true;
  }

  bool extend(CaptureOption o, const Json& value) {
    if (!value.is_string()) return wrong_type(o, value);
    auto parsed = parse_extend(value.as_string());
    if (!parsed) return warn(fmt::format("option `{}` is ignored: {}", row(o).key, parsed.error()));
    out_.options.set(o, std::move(*parsed));
    return true;
  }

  bool strategies(CaptureOption o, const Json& value) {
    if (!value.is_object()) return wrong_type(o, value);
    for (const auto& [key, field] : value.as_object()) {
      const auto* found = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                       [&](const auto& r) { return r.key == key; });
      if (found == std::end(kStrategies)) {
        warn(fmt::format("option `{}` has no field `{}` and ignores it{}", row(o).key, key,
                         nearest_key(kStrategies, key)));
        continue;
      }
      const auto n = as_number(field);
      if (!n) return wrong_type(o, field);
      if (*n < 0 || *n > found->high) {
        warn(fmt::format("field `{}` of option `{}` is {}, expected 0 to {}; it stays 0", key, row(o).key, *n,
                         found->high));
        continue;
      }
      out_.options.set(static_cast<CaptureStrategy>(found - kStrategies), static_cast<uint32_t>(*n));
    }
    return true;
  }

  ReadCaptureOptions out_;
  CaptureOptionError error_;
  std::set<CaptureOption> seen_;
};

std::string python_text(const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  std::string out;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) out += (out.empty() ? "" : ",") + python_text(item);
    return out;
  }
  if (value.is_object()) {
    for (const auto& [key, field] : value.as_object())
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", key, python_text(field));
    return out;
  }
  return to_json(value);
}

}  // namespace

std::string_view name(CaptureDictionary dictionary) {
  return dictionary == CaptureDictionary::Optimize ? "super_kernel_optimize_options"
                                                   : "super_kernel_debug_options";
}

const CaptureOptionRow& row(CaptureOption option) { return kRows[static_cast<size_t>(option)]; }
const CaptureStrategyRow& row(CaptureStrategy strategy) { return kStrategies[static_cast<size_t>(strategy)]; }

CaptureOptions::CaptureOptions() {
  for (size_t i = 0; i < kOptions; ++i) numbers_[i] = kRows[i].default_value;
}

bool CaptureOptions::matches(CaptureOption o, std::string_view kernel) const {
  return std::any_of(patterns(o).begin(), patterns(o).end(),
                     [&](const std::string& p) { return matches_kernel(p, kernel); });
}

bool CaptureOptions::cross_core_check() const {
  return on(CaptureOption::DebugCrossCoreSyncCheck) || on(CaptureOption::DebugPerOpMaxCoreNum);
}

void CaptureOptions::set(CaptureOption o, uint32_t value) {
  numbers_[static_cast<size_t>(o)] = value;
  given_[static_cast<size_t>(o)] = true;
}
void CaptureOptions::set(CaptureOption o, std::vector<std::string> patterns) {
  lists_[static_cast<size_t>(o)] = std::move(patterns);
  given_[static_cast<size_t>(o)] = true;
}
void CaptureOptions::set(CaptureOption o, ExtendOptions extend) {
  extends_[o == CaptureOption::OptExtend ? 0 : 1] = std::move(extend);
  given_[static_cast<size_t>(o)] = true;
}
void CaptureOptions::set(CaptureStrategy s, uint32_t value) {
  strategies_[static_cast<size_t>(s)] = value;
  given_[static_cast<size_t>(CaptureOption::AggressiveOptStrategies)] = true;
}

std::string CaptureOptions::print() const {
  std::string out;
  for (size_t i = 0; i < kOptions; ++i) {
    if (!given_[i]) continue;
    out += fmt::format("{}{}=", out.empty() ? "" : ":", kRows[i].key);
    switch (kRows[i].kind) {
      case CaptureOptionKind::Number:
        out += std::to_string(numbers_[i]);
        break;
      case CaptureOptionKind::Patterns:
        out += fmt::format("{}", fmt::join(lists_[i], ","));
        break;
      case CaptureOptionKind::Extend: {
        // `:` would end the option, so the pairs are joined by blanks.
        std::string text;
        for (const auto& [key, values] : extend(static_cast<CaptureOption>(i)))
          text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, fmt::join(values, ","));
        out += text;
        break;
      }
      case CaptureOptionKind::Strategies: {
        std::string text;
        for (size_t s = 0; s < strategies_.size(); ++s)
          if (strategies_[s] != 0)
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", kStrategies[s].key, strategies_[s]);
        out += text;
        break;
      }
      case CaptureOptionKind::Declared:
        break;
    }
  }
  return out;
}

tl::expected<ReadCaptureOptions, CaptureOptionError> read_capture_options(const Json& optimize,
                                                                          const Json& debug) {
  return Reader().run(optimize, debug);
}

tl::expected<CaptureConfig, CaptureOptionError> read_capture_config(const Json& options) {
  static constexpr std::string_view kOptimize = "super_kernel_optimize", kStatic = "static_kernel_compile";
  const auto get = [&](std::string_view key) {
    const Json* found = options.find(key);
    return found ? *found : Json();
  };
  CaptureConfig out;
  for (const std::string_view key : {kOptimize, kStatic})
    if (const Json v = get(key); !v.is_null() && !v.is_bool())
      return tl::unexpected(CaptureOptionError{
          false, std::string(key), fmt::format("`{}` is {}, expected True or False", key, v.kind()), ""});
  std::array<Json, 2> dictionaries;
  for (const CaptureDictionary d : {CaptureDictionary::Optimize, CaptureDictionary::Debug}) {
    Json& given = dictionaries[static_cast<size_t>(d)] = get(name(d));
    if (!given.is_null() && !given.is_object()) return tl::unexpected(no_dict(given, name(d)));
  }
  out.optimize = get(kOptimize) == Json(true);
  if (!out.optimize) return out;
  auto read = read_capture_options(dictionaries[0], dictionaries[1]);
  if (!read) return tl::unexpected(std::move(read.error()));
  out.read = std::move(*read);
  if (get(kStatic) != Json(true))
    out.read.warnings.push_back(fmt::format(
        "`{}` without `{}`: kernels that are not compiled for their shapes do not fuse", kOptimize, kStatic));
  return out;
}

std::optional<std::string> option_string(const Json& optimize, const Json& debug) {
  std::string out;
  for (const Json* given : {&optimize, &debug}) {
    if (!given->is_object()) continue;
    for (const auto& [key, value] : given->as_object())
      out += fmt::format("{}{}={}", out.empty() ? "" : ":", key, python_text(value));
  }
  if (out.empty()) return {};
  return out;
}

}  // namespace skdsl::superkernel
