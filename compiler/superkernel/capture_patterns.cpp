// capture_patterns — the two small languages inside option values: kernel-name patterns and extend strings
#include <fmt/format.h>

#include <algorithm>

#include "compiler/superkernel/capture_options.h"
#include "compiler/superkernel/words.h"

namespace skdsl::superkernel {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

tl::expected<ExtendOptions, std::string> parse_extend(std::string_view text) {
  const auto refuse = [](std::string why) { return tl::unexpected<std::string>(std::move(why)); };
  if (text.size() > kMaxExtendBytes)
    return refuse(fmt::format("it has {} characters, at most {} are read", text.size(), kMaxExtendBytes));
  text = trim(text);
  if (text.empty()) return refuse("it is empty");
  const auto valid = [](std::string_view s, bool slash) {
    return !s.empty() && std::all_of(s.begin(), s.end(),
                                     [&](char c) { return is_word(c) || c == '.' || (slash && c == '/'); });
  };
  ExtendOptions out;
  for (std::string_view pair : split(text, ':')) {
    pair = trim(pair);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.find('=', equals + 1) != std::string_view::npos)
      return refuse(fmt::format("`{}` is no `key=value,value`", pair));
    const std::string_view key = trim(pair.substr(0, equals));
    if (!valid(key, false))
      return refuse(fmt::format("`{}` is no key of letters, digits, `_`, `-` and `.`", key));
    if (std::any_of(out.begin(), out.end(), [&](const auto& o) { return o.first == key; }))
      return refuse(fmt::format("key `{}` is given twice", key));
    auto& values = out.emplace_back(std::string(key), std::vector<std::string>{}).second;
    for (std::string_view value : split(pair.substr(equals + 1), ',')) {
      value = trim(value);
      if (!valid(value, true))
        return refuse(fmt::format("`{}` is no value of letters, digits, `_`, `-`, `.` and `/`", value));
      values.emplace_back(value);
    }
  }
  return out;
}

bool matches_kernel(std::string_view pattern, std::string_view name) {
  pattern = trim(pattern);
  if (pattern.empty() || pattern.front() == '*') return false;
  struct Item {
    char c;
    bool repeats;
  };
  std::vector<Item> items;
  for (const char c : pattern) {
    if (c == '*') {
      items.back().repeats = true;
      continue;
    }
    if (!is_word(c) && c != '.') return false;
    items.push_back({c, false});
  }
  // at[i]: the items before i match what was read. All of them advance together, so nothing is tried twice.
  std::vector<char> at(items.size() + 1, 0), next(items.size() + 1, 0);
  at[0] = 1;
  const auto skip = [&](std::vector<char>& states) {
    for (size_t i = 0; i < items.size(); ++i)
      if (states[i] && items[i].repeats) states[i + 1] = 1;
  };
  skip(at);
  for (const char c : name) {
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < items.size(); ++i)
      if (at[i] && (items[i].c == '.' || items[i].c == c)) next[items[i].repeats ? i : i + 1] = 1;
    skip(next);
    at.swap(next);
  }
  return at.back() != 0;
}

}  // namespace skdsl::superkernel
