// Keys of config.json that a model does not declare: each row of hf_keys.def, and the keys together.
#include "compiler/config/hf_keys.h"

#include <gtest/gtest.h>

#include <set>

namespace skdsl::config {
namespace {

Json json(const std::string& text) {
  auto value = parse_json(text, "test");
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : Json();
}

Settings settings_of(const std::string& config) {
  Settings s;
  add_hf_config(json(config), "config.json", s);
  return s;
}

/// The verdict on one key of a config, for a model that declares `declared`.
HfVerdict judge(const std::string& config, const std::string& key, std::set<std::string> declared = {}) {
  const Settings s = settings_of(config);
  for (const Setting& item : s.items)
    if (item.key == key && !item.derived)
      return judge_hf_key(item, s, [&](std::string_view k) { return declared.contains(std::string(k)); });
  ADD_FAILURE() << key << " is not in " << config;
  return {};
}

std::string config_of(std::string_view key, std::string_view value) {
  return "{\"" + std::string(key) + "\":" + std::string(value) + "}";
}

std::vector<std::string> split(std::string values) {
  std::vector<std::string> out;
  for (size_t at = 0; at < values.size();) {
    const size_t bar = std::min(values.find('|', at), values.size());
    out.push_back(values.substr(at, bar - at));
    at = bar + 1;
  }
  return out;
}

struct Row {
  std::string rule, key, values, other, plus;
  int64_t factor;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
#define SK_HF_RUNTIME(key, what) {"runtime", #key, what, "", "", 1},
#define SK_HF_HARMLESS(key) {"harmless", #key, "", "", "", 1},
#define SK_HF_NEUTRAL(key, values) {"neutral", #key, values, "", "", 1},
#define SK_HF_MATH(key) {"math", #key, "", "", "", 1},
#define SK_HF_SAME(key, factor, other) {"same", #key, "", #other, "", factor},
#define SK_HF_SUM(key, a, b) {"same", #key, "", #a, #b, 1},
#define SK_HF_INERT(key, other, values) {"inert", #key, values, #other, "", 1},
#define SK_HF_MEMBER(object, member, values) {"member", #object, values, #member, "", 1},
#include "compiler/config/hf_keys.def"
  };
  return kRows;
}

/// A value that no row allows.
constexpr const char* kOdd = "\"odd value\"";

TEST(HfKeys, EveryRowDoesWhatItSays) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.rule + " " + row.key);
    if (row.rule == "runtime" || row.rule == "harmless") {
      const HfVerdict v = judge(config_of(row.key, kOdd), row.key);
      EXPECT_EQ(v.kind, row.rule == "runtime" ? HfKind::Runtime : HfKind::Harmless);
      EXPECT_EQ(v.text, row.values);
    }
    if (row.rule == "neutral") {
      for (const std::string& value : split(row.values))
        EXPECT_EQ(judge(config_of(row.key, value), row.key).kind, HfKind::Neutral) << value;
      EXPECT_EQ(judge(config_of(row.key, "null"), row.key).kind, HfKind::Neutral);
      for (const char* odd : {kOdd, "[\"odd value\"]", "[[]]", "7777", "{\"odd\":1}"}) {
        const HfVerdict v = judge(config_of(row.key, odd), row.key);
        EXPECT_EQ(v.kind, HfKind::Unsupported) << odd;
        for (const std::string& value : split(row.values))
          EXPECT_NE((v.text).find(value == "null" && v.key != row.key ? "`" + row.key + "`" : value),
                    v.text.npos)
              << v.text;
      }
    }
    if (row.rule == "math") {
      const HfVerdict v = judge(config_of(row.key, "0"), row.key);
      EXPECT_EQ(v.kind, HfKind::Unsupported);
      EXPECT_EQ(v.key, row.key);
      EXPECT_EQ(judge(config_of(row.key, "null"), row.key).kind, HfKind::Neutral);
    }
    if (row.rule == "same") {
      const int64_t expected = row.plus.empty() ? row.factor * 6 : 6 + 5;
      const auto config = [&](const std::string& value) {
        return "{\"" + row.other + "\":6," + (row.plus.empty() ? "" : "\"" + row.plus + "\":5,") + "\"" +
               row.key + "\":" + value + "}";
      };
      const std::set<std::string> declared{row.other, row.plus};
      EXPECT_EQ(judge(config(std::to_string(expected)), row.key, declared).kind, HfKind::Neutral);
      const HfVerdict v = judge(config(std::to_string(expected + 1)), row.key, declared);
      EXPECT_EQ(v.kind, HfKind::Unsupported);
      EXPECT_NE(v.text.find("`" + row.other + "`"), v.text.npos) << v.text;
      EXPECT_NE(v.text.find(std::to_string(expected)), v.text.npos) << v.text;
    }
    if (row.rule == "inert") {
      for (const std::string& value : split(row.values)) {
        const std::string start = "{\"" + row.key + "\":4096,\"" + row.other + "\":";
        EXPECT_EQ(judge(start + value + "}", row.key).kind, HfKind::Neutral);
        EXPECT_EQ(judge(start + kOdd + "}", row.key).kind, HfKind::Unsupported);
        EXPECT_EQ(judge(start + "null}", row.key).kind, HfKind::Unsupported);
      }
    }
    if (row.rule == "member") {
      const auto config = [&](const std::string& value) {
        return "{\"" + row.key + "\":{\"" + row.other + "\":" + value + "}}";
      };
      const std::vector<std::string> values = split(row.values);
      for (const std::string& value : values) EXPECT_EQ(judge(config(value), row.key).kind, HfKind::Neutral);
      const HfVerdict v = judge(config(kOdd), row.key);
      EXPECT_EQ(v.kind, values.empty() ? HfKind::Neutral : HfKind::Unsupported);
      if (!values.empty()) EXPECT_EQ(v.key, row.key + "." + row.other);
    }
  }
}

TEST(HfKeys, KeysHaveOneRowOfTheirOwn) {
  std::set<std::string> seen;
  for (const Row& row : rows()) {
    if (row.rule == "same" || row.rule == "inert" || row.rule == "member") continue;
    EXPECT_TRUE(seen.insert(row.key).second) << row.key;
  }
}

TEST(HfKeys, WhatHasNoRowIsUnknown) {
  EXPECT_EQ(judge(R"({"favourite_colour":1})", "favourite_colour").kind, HfKind::Unknown);
  EXPECT_EQ(judge(R"({"favourite_colour":{"a":1}})", "favourite_colour").kind, HfKind::Unknown);
}

TEST(HfKeys, ObjectsNameTheMemberThatDecides) {
  const HfVerdict yarn = judge(R"({"rope_scaling":{"rope_type":"yarn","factor":4.0}})", "rope_scaling");
  EXPECT_EQ(yarn.kind, HfKind::Unsupported);
  EXPECT_EQ(yarn.key, "rope_scaling.rope_type");
  EXPECT_EQ(yarn.value, Json("yarn"));
  const HfVerdict extra =
      judge(R"({"rope_parameters":{"rope_type":"default","mrope_section":[1,2]}})", "rope_parameters");
  EXPECT_EQ(extra.key, "rope_parameters.mrope_section");
  // One rule for each kind of layer.
  const HfVerdict layered =
      judge(R"({"rope_parameters":{"full_attention":{"rope_type":"default"}}})", "rope_parameters");
  EXPECT_EQ(layered.key, "rope_parameters.full_attention");
  EXPECT_EQ(judge(R"({"rope_parameters":{"rope_type":"default","rope_theta":5e5}})", "rope_parameters").kind,
            HfKind::Neutral);
  EXPECT_EQ(judge(R"({"rope_scaling":{}})", "rope_scaling").kind, HfKind::Neutral);
}

TEST(HfKeys, ListsCountElementByElement) {
  const char* mixed = R"({"layer_types":["full_attention","sliding_attention"],"sliding_window":8})";
  EXPECT_EQ(judge(mixed, "layer_types").kind, HfKind::Unsupported);
  EXPECT_EQ(judge(mixed, "sliding_window").kind, HfKind::Unsupported);
  const char* full = R"({"layer_types":["full_attention","full_attention"],"sliding_window":8})";
  EXPECT_EQ(judge(full, "layer_types").kind, HfKind::Neutral);
  EXPECT_EQ(judge(full, "sliding_window").kind, HfKind::Neutral);
  EXPECT_EQ(judge(R"({"mlp_only_layers":[0]})", "mlp_only_layers").kind, HfKind::Unsupported);
}

TEST(HfKeys, ASecondNameStandsForTheFirstWhenAlone) {
  const auto value = [](const char* config, const char* key) {
    const Settings s = settings_of(config);
    const Setting* found = s.find(key);
    return found ? to_json(found->value) + (found->derived ? " derived" : "") : "none";
  };
  EXPECT_EQ(value(R"({"rope_parameters":{"rope_theta":1e6}})", "rope_theta"), "1000000.0 derived");
  EXPECT_EQ(value(R"({"rope_parameters":{"rope_theta":1e6},"rope_theta":5})", "rope_theta"), "5");
  EXPECT_EQ(value(R"({"num_hidden_layers":8})", "num_layers"), "4 derived");
  EXPECT_EQ(value(R"({"num_hidden_layers":7})", "num_layers"), "none");
  EXPECT_EQ(value(R"({"num_hidden_layers":8,"num_layers":3})", "num_layers"), "3");
  EXPECT_EQ(value(R"({"intermediate_size":8,"ffn_hidden_size":null})", "ffn_hidden_size"), "8 derived");
  EXPECT_EQ(value(R"({"qk_head_dim":8})", "qk_nope_head_dim"), "none");
  EXPECT_NE(settings_of(R"({"num_experts_per_tok":8})")
                .find("moe_topk")
                ->origin.find("`num_experts_per_tok` of config"),
            std::string::npos);
}

TEST(HfKeys, HugeNumbersDoNotOverflow) {
  EXPECT_EQ(judge(R"({"num_layers":9223372036854775807,"num_hidden_layers":-2})", "num_hidden_layers",
                  {"num_layers"})
                .kind,
            HfKind::Unsupported);
  EXPECT_EQ(judge(R"({"sliding_window":1e300})", "sliding_window").kind, HfKind::Unsupported);
}

}  // namespace
}  // namespace skdsl::config
