// The frequency rules of std/rope.sk against recorded ones, under the keys of transformers 4 and 5.
#include <cmath>

#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

constexpr const char* kProgram = R"(
import "std/rope.sk"
config {
  dim: int = 2
  rope_theta: float = 1.5
  rope_scaling: dict = dict()
  rope_parameters: dict = dict()
  require rope_problem(rope_scaling, rope_parameters) == "", rope_problem(rope_scaling, rope_parameters)
}
let rule = rope_rule(rope_theta, rope_scaling, rope_parameters)
rotary = Rotary(dim, rule, 2)
cos, sin = rotary([0, 1])
print(reshape(cos, [dim]))
print(reshape(sin, [dim]))
print(f32([rope_softmax_factor(rule)]))
)";

/// The numbers behind the shape of each printed line: "f32[2] [1, 2]".
std::vector<std::vector<double>> printed(const std::string& text) {
  std::vector<std::vector<double>> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<double> numbers;
    const char* p = text.c_str() + text.find("] [", at) + 3;
    while (p < text.c_str() + end && *p != ']') {
      char* behind = nullptr;
      numbers.push_back(std::strtod(p, &behind));
      p = behind + (*behind == ',' ? 2 : 0);
    }
    lines.push_back(std::move(numbers));
    at = end + 1;
  }
  return lines;
}

void expect_near(double got, const Json& want, const Json& tolerance, const std::string& what) {
  const double w = want.as_double();
  EXPECT_LE(std::abs(got - w),
            tolerance.find("abs")->as_double() + tolerance.find("rel")->as_double() * std::abs(w))
      << what << ": " << got << " for " << w;
}

TEST(RopeRules, AgreeWithTheRecordUnderBothKeys) {
  auto text = read_file(source_path("tests/ops/vectors/rope_inv_freq.json"));
  ASSERT_TRUE(text.has_value());
  const Json record = parsed(*text);
  ASSERT_GE(record.find("cases")->as_array().size(), 5u);
  for (const Json& c : record.find("cases")->as_array())
    for (const bool parameters : {false, true}) {
      const Json& attrs = *c.find("attrs");
      const Json& scaling = *attrs.find("rope_scaling");
      TemporaryFolder folder;
      Json::Object config;
      if (parameters) {
        Json::Object rule{{"rope_theta", *attrs.find("theta")}};
        if (scaling.is_object())
          for (const auto& [key, value] : scaling.as_object())
            rule.emplace_back(key == "type" ? "rope_type" : key, value);
        config.emplace_back("rope_parameters", rule);
      } else {
        config = {{"rope_theta", *attrs.find("theta")}, {"rope_scaling", scaling}};
      }
      ASSERT_TRUE(write_file_atomically(folder / "config.json", to_json(config)).has_value());
      ASSERT_TRUE(write_file_atomically(folder / "rule.sk", kProgram).has_value());
      const CommandResult r = run_command({"run", folder / "rule.sk", "--weights", folder / "", "--set",
                                           "dim=" + std::to_string(attrs.find("dim")->as_int())});
      ASSERT_EQ(r.exit, 0) << r.err;
      const auto lines = printed(r.out);
      const std::string name =
          c.find("name")->as_string() + (parameters ? ", rope_parameters" : ", rope_scaling");
      ASSERT_EQ(lines.size(), 3u) << r.out;
      const Json& outputs = *c.find("outputs");
      const auto& want = outputs.find("inv_freq")->find("data")->as_array();
      ASSERT_EQ(lines[0].size(), 2 * want.size());
      for (size_t i = 0; i < want.size(); ++i)
        expect_near(std::atan2(lines[1][want.size() + i], lines[0][want.size() + i]), want[i], *c.find("tol"),
                    name);
      expect_near(lines[0][0], outputs.find("cos_sin_factor")->find("data")->as_array()[0], *c.find("tol"),
                  name);
      expect_near(lines[2].at(0), outputs.find("mla_softmax_scale_factor")->find("data")->as_array()[0],
                  *c.find("tol"), name);
    }
}

}  // namespace
}  // namespace skdsl::testing
