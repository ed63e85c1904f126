// synthetic — weights drawn from a seed, for running a model without its checkpoint
//
// Element i of a tensor depends on (seed, name of the source tensor, i) alone, so neither the order in which
// tensors are made nor threads nor the platform changes a bit. The values keep activations finite:
//
//   matrices [.., fan_in]       uniform with standard deviation 1 / sqrt(fan_in)
//   vectors (norms, scales)     uniform in [0.9, 1.1)
//   biases, corrections         uniform in [-0.02, 0.02)
//   i8                          uniform in [-127, 127];  other integers and booleans 0 or 1
//   X_scale of an i8 matrix X   near sqrt(3 / fan_in) / 127, so that X * X_scale has the deviation of a
//   matrix
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/dtype.h"
#include "runtime/base/error.h"
#include "runtime/plan/program.h"

namespace skdsl::model {

/// A tensor as a checkpoint of the program would hold it.
struct SourceSpec {
  std::string name;
  sk_dtype dtype = SK_F32;
  std::vector<int64_t> shape;
  int64_t int8_fan_in = 0;  // of the i8 matrix `X` when this is its `X_scale`
};

/// The source tensors of a program, by name. A source of one declaration alone has that declaration's shape;
/// of sources that are joined, those not known otherwise share what is left in equal parts. `dtype` is for
/// sources whose declarations name none. Declarations that contradict each other are an error.
Expected<std::map<std::string, SourceSpec, std::less<>>> synthetic_sources(const plan::Program& program,
                                                                           sk_dtype dtype);

/// Writes elements [first, first + count) of a tensor to `out`.
void fill_synthetic(const SourceSpec& spec, uint64_t seed, int64_t first, int64_t count, std::byte* out);

}  // namespace skdsl::model
