#include "compiler/config/hf_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace skdsl::config {

namespace {

enum class Rule : uint8_t { Runtime, Harmless, Neutral, Math, Same, Inert, Member };

struct Row {
  Rule rule;
  std::string_view key;
  std::string_view text;       // the values, or the use
  std::string_view other;      // of Same, Inert and Member
  std::string_view plus = "";  // of a sum
  int64_t factor = 1;
};
constexpr Row kRows[] = {
#define SK_HF_RUNTIME(key, what) {Rule::Runtime, #key, what, ""},
#define SK_HF_HARMLESS(key) {Rule::Harmless, #key, "", ""},
#define SK_HF_NEUTRAL(key, values) {Rule::Neutral, #key, values, ""},
#define SK_HF_MATH(key) {Rule::Math, #key, "", ""},
#define SK_HF_SAME(key, factor, other) {Rule::Same, #key, "", #other, "", factor},
#define SK_HF_SUM(key, a, b) {Rule::Same, #key, "", #a, #b},
#define SK_HF_INERT(key, other, values) {Rule::Inert, #key, values, #other},
#define SK_HF_MEMBER(object, member, values) {Rule::Member, #object, values, #member},
#include "compiler/config/hf_keys.def"
#undef SK_HF_RUNTIME
#undef SK_HF_HARMLESS
#undef SK_HF_NEUTRAL
#undef SK_HF_MATH
#undef SK_HF_SAME
#undef SK_HF_SUM
#undef SK_HF_INERT
#undef SK_HF_MEMBER
};

/// What a key means of itself; null when it has no such row.
const Row* own_row(std::string_view key) {
  for (const Row& row : kRows)
    if (row.key == key && row.rule <= Rule::Math) return &row;
  return nullptr;
}

/// Whether a value is one of `values` (JSON, separated by `|`); a list is when all its elements are.
bool is_one_of(const Json& value, std::string_view values) {
  const std::string text = to_json(value);
  for (std::string_view rest = values; !rest.empty();) {
    const size_t bar = rest.find('|');
    const std::string_view one = rest.substr(0, bar);
    if (one == text) return true;
    double number = 0;
    if (const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
        value.is_number() && error == std::errc() && end == one.data() + one.size() &&
        value.as_double() == number)
      return true;
    rest = bar == rest.npos ? std::string_view{} : rest.substr(bar + 1);
  }
  if (!value.is_array() || value.as_array().empty()) return false;
  return std::all_of(value.as_array().begin(), value.as_array().end(),
                     [&](const Json& x) { return !x.is_array() && is_one_of(x, values); });
}

/// `"silu"|"swish"` as a sentence has it: "silu" or "swish".
std::string alternatives(std::string_view values) {
  std::string out;
  for (std::string_view rest = values; !rest.empty();) {
    const size_t bar = rest.find('|');
    if (!out.empty()) out += " or ";
    out += rest.substr(0, bar);
    rest = bar == rest.npos ? std::string_view{} : rest.substr(bar + 1);
  }
  return out;
}

std::optional<int64_t> integer(const Settings& settings, std::string_view key) {
  const Setting* s = settings.find(key);
  if (!s || !s->value.is_int()) return {};
  return s->value.as_int();
}

HfVerdict unsupported(std::string key, Json value, std::string text) {
  return {HfKind::Unsupported, std::move(text), std::move(key), std::move(value)};
}

std::string declare_it(std::string_view key, std::string_view values) {
  if (values.empty())
    return fmt::format("declare `{}` in the model's config and use it; it is never without effect", key);
  return fmt::format("supported is {}; for more, declare `{}` in the model's config and use it",
                     alternatives(values), key);
}

/// Judges a key that is a second name of declared ones; nothing when it is none.
std::optional<HfVerdict> judge_second_name(const Setting& setting, const Settings& settings,
                                           const Declares& declares) {
  for (const Row& row : kRows) {
    if (row.rule != Rule::Same || row.key != setting.key) continue;
    if (!declares(row.other) || (!row.plus.empty() && !declares(row.plus))) continue;
    const HfVerdict fine{HfKind::Neutral, "", setting.key, setting.value};
    const auto other = integer(settings, row.other);
    const auto plus = row.plus.empty() ? std::optional<int64_t>(0) : integer(settings, row.plus);
    if (!other || !plus) return fine;
    int64_t expected = 0;
    const bool fits = !__builtin_mul_overflow(row.factor, *other, &expected) &&
                      !__builtin_add_overflow(expected, *plus, &expected);
    if (fits && setting.value.is_int() && setting.value.as_int() == expected) return fine;
    return unsupported(setting.key, setting.value,
                       fmt::format("this model has {}`{}`{} in its place, which is {}",
                                   row.factor == 1 ? "" : fmt::format("{} * ", row.factor), row.other,
                                   row.plus.empty() ? "" : fmt::format(" + `{}`", row.plus), expected));
  }
  return {};
}

/// An object is without effect when every member is known to be; nothing when the table knows no members.
std::optional<HfVerdict> judge_object(const Setting& setting) {
  const auto member_row = [&](std::string_view member) -> const Row* {
    for (const Row& row : kRows)
      if (row.rule == Rule::Member && row.key == setting.key && (member.empty() || row.other == member))
        return &row;
    return nullptr;
  };
  if (!member_row("")) return {};
  for (const auto& [member, value] : setting.value.as_object()) {
    if (value.is_null()) continue;
    const Row* const row = member.empty() ? nullptr : member_row(member);
    if (row && (row->text.empty() || is_one_of(value, row->text))) continue;
    return unsupported(setting.key + "." + member, value, declare_it(setting.key, row ? row->text : ""));
  }
  return HfVerdict{HfKind::Neutral, "", setting.key, setting.value};
}

}  // namespace

HfVerdict judge_hf_key(const Setting& setting, const Settings& settings, const Declares& declares) {
  const Row* const row = own_row(setting.key);
  const HfVerdict neutral{HfKind::Neutral, "", setting.key, setting.value};
  if (setting.value.is_null())
    return row ? neutral : HfVerdict{HfKind::Unknown, "", setting.key, setting.value};
  if (setting.value.is_object())
    if (auto verdict = judge_object(setting)) return *verdict;
  for (const Row& inert : kRows) {
    if (inert.rule != Rule::Inert || inert.key != setting.key) continue;
    const Setting* const other = settings.find(inert.other);
    if (other && is_one_of(other->value, inert.text)) return neutral;
  }
  if (auto verdict = judge_second_name(setting, settings, declares)) return *verdict;
  if (!row) return {HfKind::Unknown, "", setting.key, setting.value};
  switch (row->rule) {
    case Rule::Runtime:
      return {HfKind::Runtime, std::string(row->text), setting.key, setting.value};
    case Rule::Harmless:
      return {HfKind::Harmless, "", setting.key, setting.value};
    case Rule::Neutral:
      if (is_one_of(setting.value, row->text)) return neutral;
      break;
    default:
      break;
  }
  return unsupported(setting.key, setting.value, declare_it(setting.key, row->text));
}

void add_hf_second_names(const Json& config, const std::string& origin, Settings& settings) {
  const auto given = [&](std::string_view key) {
    const Json* value = config.find(key);
    return value && !value->is_null();
  };
  const auto add = [&](std::string_view key, const Json& value, const std::string& from) {
    settings.items.push_back(
        {std::string(key), value, Layer::HfConfig, fmt::format("`{}` of {}", from, origin), true, "", {}});
  };
  for (const Row& row : kRows) {
    if (row.rule != Rule::Same) continue;
    const Json* const value = config.find(row.key);
    if (!value || !value->is_int() || !row.plus.empty() || given(row.other)) continue;
    if (value->as_int() % row.factor == 0)
      add(row.other, Json(value->as_int() / row.factor), std::string(row.key));
  }
  const Json* const rope = config.find("rope_parameters");
  if (!rope || given("rope_theta")) return;
  if (const Json* theta = rope->find("rope_theta"); theta && !theta->is_null())
    add("rope_theta", *theta, "rope_parameters.rope_theta");
}

}  // namespace skdsl::config
