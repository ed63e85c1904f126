// vectors — recorded operator cases from tests/ops/vectors/*.json
//
// A file: {"op", "doc", "cases": [{"name", "attrs", "inputs", "outputs", "tol": {"abs", "rel"}}]}; tensors
// are
// {"dtype", "shape", "data"}, data in row-major order with "inf", "-inf" and "nan" as strings.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace skdsl::test {

struct VectorCase {
  std::string name;
  nlohmann::json attrs;
  std::map<std::string, Tensor> inputs, outputs;
  double abs = 0, rel = 0;

  const Tensor& in(const std::string& key) const { return inputs.at(key); }
  const Tensor& out(const std::string& key) const { return outputs.at(key); }
};

/// The cases of tests/ops/vectors/<file>.json.
std::vector<VectorCase> load_vectors(const std::string& file);

/// Element i as a double, any dtype.
double element(const Tensor& t, int64_t i);
/// Fails unless shapes are equal and |got - want| <= abs + rel |want| everywhere; integers and infinities
/// exactly.
void expect_close(const Tensor& got, const Tensor& want, double abs, double rel, const std::string& what);

}  // namespace skdsl::test
