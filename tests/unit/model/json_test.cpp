#include <cmath>
#include <limits>

#include "runtime/base/nearest.h"
#include "runtime/base/utf8.h"
#include "support.h"

namespace skdsl {

namespace {

TEST(Json, KeepsTheOrderOfKeysAndTheKindsOfNumbers) {
  const auto json = parse_json(R"({"z": 1, "a": [1, -2, 2.5, 1e3, true, null, "é\n"], "m": {}})", "f.json");
  ASSERT_OK(json);
  ASSERT_EQ(json->as_object().size(), 3u);
  EXPECT_EQ(json->as_object()[0].first, "z");
  EXPECT_EQ(json->as_object()[1].first, "a");
  const auto& list = json->find("a")->as_array();
  EXPECT_TRUE(list[0].is_int());
  EXPECT_EQ(list[1].as_int(), -2);
  EXPECT_TRUE(list[2].is_double());
  EXPECT_TRUE(list[3].is_double());
  EXPECT_EQ(list[3].as_double(), 1000.0);
  EXPECT_EQ(list[0].as_double(), 1.0);
  EXPECT_TRUE(list[4].as_bool());
  EXPECT_TRUE(list[5].is_null());
  EXPECT_EQ(list[6].as_string(), "é\n");
  EXPECT_EQ(json->find("absent"), nullptr);
  EXPECT_EQ(list[0].find("x"), nullptr);
}

TEST(Json, IntegersBeyond64BitsBecomeDoubles) {
  const auto json =
      parse_json("[9223372036854775807, 9223372036854775808, -9223372036854775808, 1e400000]", "f");
  EXPECT_ERROR(json, "f:1:");  // no double holds 1e400000
  const auto fits = parse_json("[9223372036854775807, 9223372036854775808, 18446744073709551616]", "f");
  ASSERT_OK(fits);
  EXPECT_EQ(fits->as_array()[0].as_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(fits->as_array()[1].as_double(), 0x1p63);
  EXPECT_EQ(fits->as_array()[2].as_double(), 0x1p64);
}

TEST(Json, ErrorsNameFileLineAndColumn) {
  struct Case {
    const char* text;
    const char* part;
  };
  const Case cases[] = {
      {"", "dir/f.json:1:1: "},           {"{\"a\": 1,\n \"a\": 2}", "dir/f.json:2:4: duplicate key `a`"},
      {"[1,\n2,\n]", "dir/f.json:3:1: "}, {"{\"a\" 1}", "dir/f.json:1:6: "},
      {"[1] 2", "dir/f.json:1:5: "},      {"\"abc", "dir/f.json:1:4: "},
      {"\"\xff\"", "dir/f.json:1:2: "},   {"nul", "dir/f.json:1:3: "},
      {"{'a': 1}", "dir/f.json:1:2: "},   {"[NaN]", "dir/f.json:1:2: "},
  };
  for (const Case& c : cases) EXPECT_ERROR(parse_json(c.text, "dir/f.json"), c.part) << c.text;
}

TEST(Json, RefusesDeepNestingWithoutOverflowingTheStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_ERROR(parse_json(deep, "f"), "f:1:129: more than 128 levels");
  std::string objects;
  for (int i = 0; i < 200; ++i) objects += "{\"k\":";
  EXPECT_ERROR(parse_json(objects, "f"), "more than 128 levels");
  const std::string fits = std::string(128, '[') + std::string(128, ']');
  EXPECT_OK(parse_json(fits, "f"));
}

TEST(Json, LongGarbageGivesAShortError) {
  const std::string text = "\"" + std::string(1'000'000, 'x');
  EXPECT_LT(test::error_text(parse_json(text, "f")).size(), 400u);
}

TEST(Json, WritesWhatItReads) {
  const std::string text =
      R"({"a":[1,2.5,true,null,"x\"\\\u0001é"],"b":{},"c":[],"d":1e-05,"e":-0.0,"f":1e+20})";
  const auto json = parse_json(text, "f");
  ASSERT_OK(json);
  EXPECT_EQ(to_json(*json), text);
  const auto again = parse_json(to_json(*json, 2), "f");
  ASSERT_OK(again);
  EXPECT_EQ(*again, *json);
}

TEST(Json, DoublesKeepTheirBitsOrTheAskedDigits) {
  for (const double d : {0.1, 1.0 / 3.0, 1e-310, 1.7976931348623157e308, -0.0, 123456789.0, 1e22}) {
    const auto back = parse_json(to_json(Json(d)), "f");
    ASSERT_OK(back);
    ASSERT_TRUE(back->is_double());
    EXPECT_EQ(back->as_double(), d);
  }
  EXPECT_EQ(to_json(Json(1.0 / 3.0), 0, 9), "0.333333333");
  EXPECT_EQ(to_json(Json(2.0), 0, 9), "2.0");
  EXPECT_EQ(to_json(Json(1e20), 0, 9), "1e+20");
  EXPECT_EQ(to_json(Json(std::nan(""))), "null");
  EXPECT_EQ(to_json(Json(INFINITY)), "null");
}

TEST(Json, IsBuiltWithPlainValues) {
  Json json;
  json.set("n", 3u);
  json.set("yes", true);
  json.set("text", "a");
  json.set("n", 4);
  Json list;
  list.push(1);
  list.push("x");
  json.set("list", list);
  EXPECT_EQ(to_json(json), R"({"n":4,"yes":true,"text":"a","list":[1,"x"]})");
  EXPECT_EQ(to_json(json, 1),
            "{\n \"n\": 4,\n \"yes\": true,\n \"text\": \"a\",\n \"list\": [\n  1,\n  \"x\"\n ]\n}");
  EXPECT_EQ(to_json(Json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_FALSE(invalid_utf8("aé€😀"));
  EXPECT_EQ(invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(invalid_utf8("a\xc0\x80"), 1u);         // overlong
  EXPECT_EQ(invalid_utf8("\xe0\x80\x80"), 0u);      // overlong
  EXPECT_EQ(invalid_utf8("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(invalid_utf8("\xf4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(invalid_utf8("x\xe2\x82"), 1u);         // cut
}

TEST(Utf8, KnowsIncompleteTails) {
  const std::string euro = "€";  // three bytes
  EXPECT_EQ(incomplete_utf8_tail(euro), 0u);
  EXPECT_EQ(incomplete_utf8_tail(euro.substr(0, 2)), 2u);
  EXPECT_EQ(incomplete_utf8_tail("a" + euro.substr(0, 1)), 1u);
  EXPECT_EQ(incomplete_utf8_tail(std::string("😀").substr(0, 3)), 3u);
  EXPECT_EQ(incomplete_utf8_tail("a\xff"), 0u);  // never becomes a character
  EXPECT_EQ(repaired_utf8("a\xff" + euro + euro.substr(0, 2)), "a\xef\xbf\xbd€\xef\xbf\xbd");
  EXPECT_EQ(utf8_floor(euro, 2), 0u);
  EXPECT_EQ(utf8_floor("a" + euro, 1), 1u);
}

TEST(Nearest, CountsEditsWithinTheLimit) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3u);  // limit + 1
  EXPECT_EQ(edit_distance("", "abc", 3), 3u);
  EXPECT_EQ(edit_distance("abc", "abc", 0), 0u);
  EXPECT_EQ(edit_distance("abcdef", "bcdefa", 4), 2u);
}

}  // namespace
}  // namespace skdsl
