#include "tests/ops/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace skdsl::test {
namespace {

double number(const nlohmann::json& j) {
  if (!j.is_string()) return j.get<double>();
  const auto text = j.get<std::string>();
  const double inf = std::numeric_limits<double>::infinity();
  return text == "inf" ? inf : text == "-inf" ? -inf : std::numeric_limits<double>::quiet_NaN();
}

Tensor tensor(const nlohmann::json& j) {
  const auto shape = j.at("shape").get<std::vector<int64_t>>();
  const auto dtype = j.at("dtype").get<std::string>();
  const bool is_float = dtype == "f32", is_i8 = dtype == "i8";
  EXPECT_TRUE(is_float || is_i8 || dtype == "i32") << dtype;
  Tensor t = Tensor::empty(is_float ? SK_F32 : is_i8 ? SK_I8 : SK_I32, shape);
  const auto& data = j.at("data");
  EXPECT_EQ(static_cast<int64_t>(data.size()), t.elements());
  for (size_t i = 0; i < data.size(); ++i)
    if (is_float)
      t.data<float>()[i] = static_cast<float>(number(data[i]));
    else if (is_i8)
      t.data<int8_t>()[i] = data[i].get<int8_t>();
    else
      t.data<int32_t>()[i] = data[i].get<int32_t>();
  return t;
}

std::map<std::string, Tensor> tensors(const nlohmann::json& j) {
  std::map<std::string, Tensor> out;
  for (const auto& [name, value] : j.items()) out.emplace(name, tensor(value));
  return out;
}

}  // namespace

std::vector<VectorCase> load_vectors(const std::string& file) {
  std::ifstream stream(std::string(SKDSL_SOURCE_DIR) + "/tests/ops/vectors/" + file + ".json");
  EXPECT_TRUE(stream.good()) << file;
  const nlohmann::json doc = nlohmann::json::parse(stream);
  std::vector<VectorCase> cases;
  for (const auto& c : doc.at("cases"))
    cases.push_back({c.at("name"), c.at("attrs"), tensors(c.at("inputs")), tensors(c.at("outputs")),
                     c.at("tol").at("abs"), c.at("tol").at("rel")});
  EXPECT_FALSE(cases.empty()) << file;
  return cases;
}

double element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case SK_F32:
      return t.data<float>()[i];
    case SK_BF16:
      return to_f32(t.data<bf16>()[i]);
    case SK_F16:
      return to_f32(t.data<f16>()[i]);
    case SK_I8:
      return t.data<int8_t>()[i];
    case SK_I32:
      return t.data<int32_t>()[i];
    case SK_I64:
      return static_cast<double>(t.data<int64_t>()[i]);
    case SK_BOOL:
      return t.data<uint8_t>()[i];
    case SK_NONE:
      break;
  }
  return 0;
}

void expect_close(const Tensor& got, const Tensor& want, double abs, double rel, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double g = element(got, i), w = element(want, i);
    const bool exact = !is_float(want.dtype()) || std::isinf(w);
    const bool same_nan = std::isnan(g) && std::isnan(w);
    ASSERT_TRUE(same_nan || (exact ? g == w : std::abs(g - w) <= abs + rel * std::abs(w)))
        << what << " element " << i << ": got " << g << ", expected " << w;
  }
}

}  // namespace skdsl::test
