// dequant_swiglu_quant — int32 sums to floats, the gated unit, and back to int8 with one scale a row
//
// x [R, 2F] times weight_scale [2F] (of the row's group: [G, 2F]) times activation_scale [R]; silu of one
// half times the other; then as dynamic_quant with quant_scale. A tile is one row; rows past the groups are
// zero.
#include "stdlib/kernels/formulas.h"
#include "stdlib/kernels/groups.h"
#include "stdlib/kernels/quant.h"

namespace skdsl::kernels {
namespace {

/// n of the row's numbers from column `begin` on: (sum * weight_scale[column]) * row_scale.
void dequantised(const sk_tensor& x, int64_t row, const sk_tensor& scale, int64_t scale_row, int64_t begin,
                 int64_t n, float row_scale, float* to) {
  const uint32_t axis = scale.rank - 1;
  int64_t sums[kChunk];
  float factor[kChunk];
  load(sums, at(x, row * x.stride[0] + begin * x.stride[1]), dtype_of(x), x.stride[1], n);
  load(factor, at(scale, scale_row + begin * scale.stride[axis]), dtype_of(scale), scale.stride[axis], n);
  for (int64_t i = 0; i < n; ++i) to[i] = (static_cast<float>(sums[i]) * factor[i]) * row_scale;
}

}  // namespace
}  // namespace skdsl::kernels

using namespace skdsl::kernels;

SK_WORKSPACE(dequant_swiglu_quant) { return static_cast<uint64_t>(call->in[0].dim[1]) / 2 * sizeof(float); }

SK_KERNEL(dequant_swiglu_quant) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight_scale = call->in[1];
  const sk_tensor& activation_scale = call->in[2];
  const sk_tensor& quant_scale = call->in[3];
  const sk_tensor& groups = call->in[4];
  const sk_tensor& y = call->out[0];
  const sk_tensor& scales = call->out[1];
  const bool left = call->attr[0].i != 0;
  const int64_t width = last_dim(y), rows = x.dim[0];
  float* values = workspace_of(*call, block);
  const Share share = share_of(rows, block, blocks);
  const auto one_row = [&](int64_t r, int64_t scale_row) {
    const float row_scale = scale_at(activation_scale, r * activation_scale.stride[0]);
    for (int64_t i = 0; i < width; i += kChunk) {
      const int64_t n = std::min(kChunk, width - i);
      float gate[kChunk], up[kChunk];
      dequantised(x, r, weight_scale, scale_row, left ? i : width + i, n, row_scale, gate);
      dequantised(x, r, weight_scale, scale_row, left ? width + i : i, n, row_scale, up);
      for (int64_t k = 0; k < n; ++k) values[i + k] = formulas::Silu::of(gate[k]) * up[k];
      if (!present(quant_scale)) continue;
      float factor[kChunk];
      load(factor, at(quant_scale, i * quant_scale.stride[0]), dtype_of(quant_scale), quant_scale.stride[0],
           n);
      for (int64_t k = 0; k < n; ++k) values[i + k] *= factor[k];
    }
    const float scale = largest_magnitude(values, width) / 127.0f;
    auto* to = static_cast<int8_t*>(at(y, r * width));
    for (int64_t i = 0; i < width; ++i) to[i] = quantised(values[i], scale);
    store(at(scales, r), dtype_of(scales), 1, &scale, 1);
  };
  if (!present(groups)) {
    for (int64_t r = share.begin; r < share.end; ++r) one_row(r, 0);
    return;
  }
  for_groups(*call, groups, true, rows, block, [&](int64_t g, int64_t begin, int64_t end) {
    for (int64_t r = std::max(begin, share.begin); r < std::min(end, share.end); ++r) {
      if (g < groups.dim[0]) {
        one_row(r, g * weight_scale.stride[0]);
      } else {
        zero(at(y, r * width), dtype_of(y), width);
        zero(at(scales, r), dtype_of(scales), 1);
      }
    }
  });
}
