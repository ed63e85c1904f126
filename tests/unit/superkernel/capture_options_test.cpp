// The option dictionaries of the capture engine.
#include "compiler/superkernel/capture_options.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_program.h"
#include "tests/unit/superkernel/facts.h"

namespace skdsl::superkernel {
namespace {

using facts::cases;
using facts::fact;

Json json(std::string_view text) { return parse_json(text, "test").value(); }
ReadCaptureOptions read(std::string_view optimize, std::string_view debug = "null") {
  auto got = read_capture_options(json(optimize), json(debug));
  EXPECT_TRUE(got.has_value()) << got.error().message;
  return got ? *got : ReadCaptureOptions{};
}
CaptureOptionError refused(std::string_view optimize, std::string_view debug = "null") {
  auto got = read_capture_options(json(optimize), json(debug));
  EXPECT_FALSE(got.has_value());
  return got ? CaptureOptionError{} : got.error();
}

TEST(CaptureOptions, TheTableIsThatOfTheFacts) {
  const CaptureOptions defaults;
  std::set<std::string, std::less<>> known;
  for (const auto& [key, want] : fact("option_defaults_aot").find("options")->as_object()) {
    SCOPED_TRACE(key);
    known.insert(key);
    auto o = CaptureOption::kCount;
    for (size_t i = 0; i < static_cast<size_t>(CaptureOption::kCount); ++i)
      if (row(static_cast<CaptureOption>(i)).key == key) o = static_cast<CaptureOption>(i);
    ASSERT_NE(o, CaptureOption::kCount);
    if (const Json* range = want.find("range")) {
      EXPECT_EQ(row(o).kind, CaptureOptionKind::Number);
      EXPECT_EQ(defaults.number(o), want.find("default")->as_int());
      EXPECT_EQ(row(o).low, range->as_array()[0].as_int());
      EXPECT_EQ(row(o).high, range->as_array()[1].as_int());
    } else if (const Json* kind = want.find("kind"); kind && kind->as_string() == "pattern list") {
      EXPECT_EQ(row(o).kind, CaptureOptionKind::Patterns);
      EXPECT_TRUE(defaults.patterns(o).empty());
    } else if (want.find("fields")) {
      for (const auto& [field, form] : want.find("fields")->as_object()) {
        bool found = false;
        for (size_t i = 0; i < static_cast<size_t>(CaptureStrategy::kCount); ++i)
          found |= row(static_cast<CaptureStrategy>(i)).key == field;
        EXPECT_TRUE(found) << field;
      }
    } else {
      EXPECT_EQ(row(o).kind, CaptureOptionKind::Extend);
      EXPECT_TRUE(defaults.extend(o).empty());
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(CaptureOption::kCount); ++i) {
    const CaptureOptionRow& r = row(static_cast<CaptureOption>(i));
    EXPECT_TRUE(known.contains(r.key) || r.kind == CaptureOptionKind::Declared) << r.key;
  }
}

TEST(CaptureOptions, EveryNumberKeepsItsDefaultOutOfRange) {
  for (size_t i = 0; i < static_cast<size_t>(CaptureOption::kCount); ++i) {
    const auto o = static_cast<CaptureOption>(i);
    const CaptureOptionRow& r = row(o);
    if (r.kind != CaptureOptionKind::Number) continue;
    SCOPED_TRACE(r.key);
    for (int64_t v = int64_t{r.low} - 1; v <= int64_t{r.high} + 1; ++v) {
      const Json given = Json::Object{{std::string(r.key), v}};
      const bool optimize = r.dictionary == CaptureDictionary::Optimize;
      const auto got = read_capture_options(optimize ? given : Json(), optimize ? Json() : given);
      ASSERT_TRUE(got);
      const bool good = v >= r.low && v <= r.high;
      EXPECT_EQ(got->options.number(o), good ? v : r.default_value);
      EXPECT_EQ(got->options.given(o), good);
      ASSERT_EQ(got->warnings.size(), good ? 0u : 1u);
      if (!good) EXPECT_NE(got->warnings[0].find(r.key), std::string::npos);
    }
    EXPECT_TRUE(read_capture_options(Json::Object{{std::string(r.key), int64_t{1} << 40}}, Json())
                    ->options.number(o) == r.default_value);
  }
}

TEST(CaptureOptions, WrongTypesAreErrorsOfPython) {
  EXPECT_TRUE(refused("[1]").type_error);
  EXPECT_TRUE(refused("null", "\"debug_sync_all=1\"").type_error);
  EXPECT_EQ(refused("null", "1").message, "`super_kernel_debug_options` is an integer, expected a dict");
  for (const char* text :
       {R"({"preload_code": "1"})", R"({"preload_code": 1.0})", R"({"preload_code": null})",
        R"({"split_mode": [4]})", R"({"dcci_disable_on_kernel": ".*"})", R"({"dcci_disable_on_kernel": [1]})",
        R"({"opt_extend": {"a": "b"}})", R"({"aggressive_opt_strategies": 1})",
        R"({"aggressive_opt_strategies": {"task_breaker_bypass": "1"}})"}) {
    SCOPED_TRACE(text);
    const CaptureOptionError e = refused(text);
    EXPECT_FALSE(e.type_error);
    EXPECT_NE(e.message.find("expected"), std::string::npos);
  }
}

TEST(CaptureOptions, Warnings) {
  const auto twice = read(R"({"debug_sync_all": 1, "split_mode": 2})", R"({"debug_sync_all": 0})");
  EXPECT_TRUE(twice.options.on(CaptureOption::DebugSyncAll));
  EXPECT_EQ(twice.warnings,
            (std::vector<std::string>{"option `debug_sync_all` belongs in `super_kernel_debug_options`; it "
                                      "is taken from `super_kernel_optimize_options` all the same",
                                      "option `debug_sync_all` is given twice; the first value stays"}));
  EXPECT_EQ(read(R"({"opt_extend": "a=1", "opt_extend_option": "a=2"})")
                .options.extend(CaptureOption::OptExtend)[0]
                .second[0],
            "1");
  EXPECT_EQ(read(R"({"preload-code": 1})").warnings[0],
            "`super_kernel_optimize_options` has no option `preload-code` and ignores it; did you mean "
            "`preload_code`?");
  EXPECT_EQ(read(R"({"aggressive_opt_strategies": {"task_breaker_bypas": 1}})").warnings[0],
            "option `aggressive_opt_strategies` has no field `task_breaker_bypas` and ignores it; did you "
            "mean `task_breaker_bypass`?");
  EXPECT_EQ(read(R"({"aggressive_opt_strategies": {"task_breaker_bypass": 2}})")
                .options.strategy(CaptureStrategy::TaskBreaker),
            0u);
  EXPECT_EQ(read(R"({"kernel_map": {}})").warnings[0], "option `kernel_map` has no effect");
  EXPECT_EQ(read(R"({"dcci_after_kernel_end": []})").warnings.size(), 1u);
}

TEST(CaptureOptions, Values) {
  const auto got = read(
      R"({"preload_code": 2, "early_start": true, "dcci_disable_on_kernel": ["Add", "Mul.*"], "opt_extend": "a=1,2:b=x/y",
          "aggressive_opt_strategies": {"value_breaker_bypass": 3, "task_breaker_bypass": 1}})",
      R"({"debug_per_op_max_core_num": 1})");
  EXPECT_TRUE(got.warnings.empty());
  EXPECT_EQ(got.options.number(CaptureOption::PreloadCode), 2u);
  EXPECT_TRUE(got.options.on(CaptureOption::EarlyStart));
  EXPECT_TRUE(got.options.matches(CaptureOption::DcciDisable, "MulV2"));
  EXPECT_FALSE(got.options.matches(CaptureOption::DcciBefore, "MulV2"));
  EXPECT_EQ(got.options.strategy(CaptureStrategy::ValueBreaker), 3u);
  EXPECT_TRUE(got.options.cross_core_check());
  EXPECT_EQ(
      got.options.print(),
      "preload_code=2:early_start=1:dcci_disable_on_kernel=Add,Mul.*:opt_extend=a=1,2 b=x/y:"
      "aggressive_opt_strategies=value_breaker_bypass=3,task_breaker_bypass=1:debug_per_op_max_core_num=1");
}

TEST(CaptureOptions, ExtendStrings) {
  for (const Json& c : cases("aot_extend_option_cases")) {
    SCOPED_TRACE(to_json(c));
    if (c.find("input")->is_null()) continue;  // None is refused as no str
    std::string text = c.find("input")->as_string();
    if (text == "(longer than 1024 chars)") text = "key=" + std::string(kMaxExtendBytes, 'a');
    const auto got = parse_extend(text);
    Json map(Json::Object{});
    if (got)
      for (const auto& [key, values] : *got) {
        Json list(Json::Array{});
        for (const std::string& v : values) list.push(v);
        map.set(key, std::move(list));
      }
    EXPECT_EQ(map, *c.find("result"));
  }
  EXPECT_TRUE(parse_extend("k=" + std::string(kMaxExtendBytes - 2, 'a')));
  for (const char* text : {"=a", "a=", "a", ":", "a=1:", "a=b=c", "a/b=1", "a=1;2", "a=1,"})
    EXPECT_FALSE(parse_extend(text)) << text;
}

TEST(CaptureOptions, KernelNamePatterns) {
  const Json& f = fact("aot_kernel_name_pattern");
  for (const Json& c : f.find("match")->as_array())
    EXPECT_TRUE(matches_kernel(c.as_array()[0].as_string(), c.as_array()[1].as_string())) << to_json(c);
  for (const Json& c : f.find("no_match")->as_array())
    EXPECT_FALSE(matches_kernel(c.as_array()[0].as_string(), c.as_array()[1].as_string())) << to_json(c);
  CaptureOptions options;
  std::vector<std::string> patterns;
  for (const Json& p : f.find("list_example")->find("patterns")->as_array())
    patterns.push_back(p.as_string());
  options.set(CaptureOption::DcciBefore, patterns);
  for (const Json& n : f.find("list_example")->find("hit")->as_array())
    EXPECT_TRUE(options.matches(CaptureOption::DcciBefore, n.as_string()));
  for (const Json& n : f.find("list_example")->find("miss")->as_array())
    EXPECT_FALSE(options.matches(CaptureOption::DcciBefore, n.as_string()));
}

TEST(CaptureOptions, PatternsDoNotBlowUp) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += ".*a*";
  EXPECT_FALSE(matches_kernel(pattern + "b", std::string(20000, 'a')));
  EXPECT_TRUE(matches_kernel(pattern, std::string(20000, 'a')));
}

TEST(CaptureOptions, ConfigOfTheBackend) {
  const Json& f = fact("npugraph_ex_config");
  const auto config = [](std::string_view text) { return read_capture_config(json(text)); };
  EXPECT_EQ(config("{}")->optimize, f.find("super_kernel_optimize")->find("default")->as_bool());
  for (const char* key : {"super_kernel_optimize_options", "super_kernel_debug_options"}) {
    EXPECT_EQ(f.find(key)->find("non_dict")->as_string(), "TypeError");
    const Json wrong = Json::Object{{key, "split_mode=1"}};
    ASSERT_FALSE(read_capture_config(wrong));
    EXPECT_TRUE(read_capture_config(wrong).error().type_error);
    EXPECT_TRUE(read_capture_config(Json::Object{{key, Json()}}));
  }
  EXPECT_FALSE(config(R"({"super_kernel_optimize": 1})"));
  // Not read unless it is on.
  EXPECT_EQ(config(R"({"super_kernel_optimize_options": {"split_mode": "x"}})")
                ->read.options.number(CaptureOption::SplitMode),
            4u);
  EXPECT_FALSE(
      config(R"({"super_kernel_optimize": true, "super_kernel_optimize_options": {"split_mode": "x"}})"));
  const auto on = config(
      R"({"super_kernel_optimize": true, "static_kernel_compile": true, "super_kernel_optimize_options": {"split_mode": 2}})");
  EXPECT_EQ(on->read.options.number(CaptureOption::SplitMode), 2u);
  EXPECT_TRUE(on->read.warnings.empty());
  EXPECT_EQ(config(R"({"super_kernel_optimize": true})")->read.warnings.size(), 1u);
}

TEST(CaptureOptions, RandomDictionariesAreReadOrRefused) {
  const size_t rounds = testing::repeats(2000, 200000);
  size_t read = 0;
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::Random random(seed);
    const auto value = [&](auto&& self, int depth) -> Json {
      switch (random.below(depth > 2 ? 6 : 8)) {
        case 0:
          return Json();
        case 1:
          return random.chance(50);
        case 2:
          return static_cast<int64_t>(random.below(4)) - 1;
        case 3:
          return static_cast<int64_t>(random.next());
        case 4:
          return 0.5;
        case 5:
          return std::string(random.chance(50) ? "a.*" : "k=v:k=v");
        case 6: {
          Json list(Json::Array{});
          for (size_t n = random.below(3); n > 0; --n) list.push(self(self, depth + 1));
          return list;
        }
        default: {
          Json map(Json::Object{});
          if (random.chance(70))
            map.set(
                row(static_cast<CaptureStrategy>(random.below(static_cast<size_t>(CaptureStrategy::kCount))))
                    .key,
                self(self, depth + 1));
          return map;
        }
      }
    };
    Json dictionaries[2];
    for (Json& d : dictionaries)
      for (size_t n = random.below(3); n > 0; --n)
        d.set(random.chance(90)
                  ? row(static_cast<CaptureOption>(random.below(static_cast<size_t>(CaptureOption::kCount))))
                        .key
                  : "other",
              value(value, 0));
    const auto got = read_capture_options(dictionaries[0], dictionaries[1]);
    if (!got) {
      EXPECT_FALSE(got.error().message.empty() || got.error().option.empty());
      continue;
    }
    ++read;
    for (size_t i = 0; i < static_cast<size_t>(CaptureOption::kCount); ++i) {
      const auto o = static_cast<CaptureOption>(i);
      if (row(o).kind != CaptureOptionKind::Number) continue;
      ASSERT_TRUE(got->options.number(o) >= row(o).low && got->options.number(o) <= row(o).high)
          << row(o).key;
    }
  }
  EXPECT_GT(read, rounds / 10);
  EXPECT_LT(read, rounds);
}

TEST(CaptureOptions, OptionString) {
  for (const Json& c : cases("npugraph_ex_option_string")) {
    SCOPED_TRACE(to_json(c));
    const auto got = option_string(*c.find("optimize"), *c.find("debug"));
    EXPECT_EQ(got ? Json(*got) : Json(), *c.find("text"));
  }
}

}  // namespace
}  // namespace skdsl::superkernel
