// op_cases — random calls of every operator that has a kernel, with plain references in double
//
// A row of the table makes one call: attributes, operands, result types, what its rows are, and what the
// results should be by the textbook. The suite in kernel_properties_test.cpp holds every row to the same
// properties; an operator without a row fails its completeness test.
#pragma once
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <span>
#include <vector>

#include "tests/ops/op_executor.h"
#include "tests/ops/vectors.h"

namespace skdsl::test {

/// Random numbers that are the same on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  bool chance(double p) { return real(0, 1) < p; }

 private:
  std::mt19937_64 engine_;
};

using Shape = std::vector<int64_t>;
using Values = std::vector<double>;

/// Where a tensor keeps the rows of a call: `each` positions of `axis` a row; axis -1: the tensor serves all
/// rows.
struct RowAxis {
  int axis = -1;
  int64_t each = 1;
};

struct OpCase {
  Attrs attrs;
  std::vector<Tensor> operands;  // contiguous; an absent one is empty
  std::vector<TensorType> results;
  int64_t rows = 0;                   // 0: the call has no independent rows
  std::vector<RowAxis> operand_rows;  // one an operand
  std::vector<RowAxis> result_rows;
  std::function<std::vector<Values>()> reference;  // results in double, row-major
  double abs = 0, rel = 0;                         // how far f32 results may be from it
  bool rounds_once = true;                         // low-precision results are the f32 results rounded
};

struct CaseOptions {
  sk_dtype dtype = SK_F32;
  bool empty = false;  // some dimension is 0
};

struct CaseRow {
  Opcode op;
  std::vector<sk_dtype> dtypes;
  std::function<OpCase(Random&, const CaseOptions&)> make;
};

inline void PrintTo(const CaseRow& row, std::ostream* out) { *out << info(row.op).name; }

/// The table; each file below gives its part.
std::vector<CaseRow> all_cases();
std::vector<CaseRow> elementwise_cases();
std::vector<CaseRow> reduction_cases();
std::vector<CaseRow> layout_cases();
std::vector<CaseRow> matrix_cases();
std::vector<CaseRow> layer_cases();
std::vector<CaseRow> moe_cases();
std::vector<CaseRow> quant_cases();

inline const std::vector<sk_dtype> kFloatTypes = {SK_F32, SK_BF16, SK_F16};
inline const std::vector<sk_dtype> kAllTypes = {SK_F32, SK_BF16, SK_F16, SK_I8, SK_I32, SK_I64, SK_BOOL};
inline const std::vector<sk_dtype> kNumberTypes = {SK_F32, SK_BF16, SK_F16, SK_I8, SK_I32, SK_I64};

// ---- tensors

int64_t product(std::span<const int64_t> shape);
void set_element(const Tensor& t, int64_t i, double value);
/// Random numbers of a dtype: floats in ±4, integers in ±100, bools.
Tensor random_tensor(Random& random, sk_dtype dtype, const Shape& shape);
/// Integers in [low, high].
Tensor random_indices(Random& random, sk_dtype dtype, const Shape& shape, int64_t low, int64_t high);
Tensor int_tensor(sk_dtype dtype, const Shape& shape, const std::vector<int64_t>& values);
Values values_of(const Tensor& t);
/// The same elements in another dtype.
Tensor converted(const Tensor& t, sk_dtype dtype);
/// A view of equal elements whose axes lie in another order with gaps of NaN patterns between.
Tensor strided_copy(Random& random, const Tensor& t);
/// The bytes of the elements in row-major order, whatever the strides.
std::vector<uint8_t> bytes_of(const Tensor& t);
/// Filled with NaN patterns.
Tensor poisoned(const TensorType& type);
/// Positions [begin, begin + n) of an axis, as a fresh contiguous tensor.
Tensor axis_range(const Tensor& t, int axis, int64_t begin, int64_t n);

/// Calls f(index) for each index of a shape in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& f);
int64_t flat_index(const Shape& shape, const Shape& index);
/// Element of `values` (of `shape`) that broadcasts to `index`.
double broadcast_element(const Values& values, const Shape& shape, const Shape& index);
Shape random_shape(Random& random, const CaseOptions& options, int min_rank, int max_rank,
                   int64_t max_dim = 9);

}  // namespace skdsl::test
