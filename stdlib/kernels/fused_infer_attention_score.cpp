// fused_infer_attention_score — softmax((q k + q_rope k_rope) scale) v over TND rows or a paged cache
//
// A tile is one head of one query row. Three passes over its keys, each in rising position: scores,
// exponentials, values. Pages only cut the passes into runs, so a paged cache and TND rows of equal contents
// give equal bits. A query row sees the keys of its request: with sparse_mode 3 up to its own position, else
// all. Rows of no request, and rows that see nothing, are zero; a length or a block outside its range is a
// fault and leaves that row zero.
#include "stdlib/kernels/math.h"
#include "stdlib/kernels/reduce.h"

namespace skdsl::kernels {
namespace {

enum Operand { kQuery, kKey, kValue, kQueryRope, kKeyRope, kBlockTable, kQueryEnds, kKeyLengths };
enum Attribute { kNumHeads, kNumKeyValueHeads, kScale, kBlockSize, kInputLayout, kSparseMode };

/// Keys or values: rows of `width` elements for (position, head).
struct Cache {
  const sk_tensor* t;
  int64_t width;
  int64_t head_offset;
  int64_t element_stride;

  const void* row(int64_t base) const { return at(*t, base + head_offset); }
};

/// Rows of `width` elements of head `head`; heads have an axis of their own or share the last one. One head
/// serves all.
Cache cache_of(const sk_tensor& t, bool paged, int64_t width, int64_t head) {
  const uint32_t leading = paged ? 2 : 1;
  const bool has_axis = t.rank > leading + 1;
  const int64_t heads = has_axis ? t.dim[leading] : last_dim(t) / width;
  const int64_t head_stride = has_axis ? t.stride[leading] : width * last_stride(t);
  return {&t, width, heads == 1 ? 0 : head * head_stride, last_stride(t)};
}

/// The request of one query row, and the keys that it sees.
struct View {
  int64_t request = -1;
  int64_t keys = 0;   // sees [0, keys)
  int64_t first = 0;  // TND: the request's first row
};

/// Which keys row t sees; false after reporting a length outside its range.
bool find_keys(const sk_call& call, int64_t t, View& view) {
  const sk_tensor& query = call.in[kQuery];
  const sk_tensor& key = call.in[kKey];
  const sk_tensor& table = call.in[kBlockTable];
  const sk_tensor& ends = call.in[kQueryEnds];
  const sk_tensor& lengths = call.in[kKeyLengths];
  const bool paged = present(table);
  int64_t begin = 0, end = 0;
  for (int64_t b = 0; b < ends.dim[0]; ++b, begin = end) {
    end = index_at(ends, b * ends.stride[0]);
    if (end < begin || end > query.dim[0]) {
      report_index(call, end, query.dim[0] + 1, b);
      return false;
    }
    if (t >= end) continue;
    int64_t length = index_at(lengths, b * lengths.stride[0]);
    if (!paged && b > 0) {
      view.first = index_at(lengths, (b - 1) * lengths.stride[0]);
      length -= view.first;
    }
    const int64_t limit = paged ? table.dim[1] * key.dim[1] : key.dim[0] - view.first;
    if (view.first < 0 || length < 0 || length > limit) {
      report_index(call, length, limit + 1, b);
      return false;
    }
    view.request = b;
    const bool causal = call.attr[kSparseMode].i == 3;
    const int64_t position = length - (end - begin) + (t - begin);
    view.keys = causal ? std::max<int64_t>(0, position + 1) : length;
    if (paged)
      for (int64_t page = 0; page * key.dim[1] < view.keys; ++page) {
        const int64_t id = index_at(table, b * table.stride[0] + page * table.stride[1]);
        if (id < 0 || id >= key.dim[0]) {
          report_index(call, id, key.dim[0], b);
          return false;
        }
      }
    return true;
  }
  return true;
}

/// f(base, stride, first, n): positions first … first + n - 1 lie `stride` elements apart from `base`.
template <class F>
void for_runs(const sk_call& call, const sk_tensor& t, const View& view, F&& f) {
  const sk_tensor& table = call.in[kBlockTable];
  if (!present(table)) {
    if (view.keys > 0) f(view.first * t.stride[0], t.stride[0], int64_t{0}, view.keys);
    return;
  }
  const int64_t block_size = t.dim[1];
  for (int64_t first = 0; first < view.keys; first += block_size) {
    const int64_t id = index_at(table, view.request * table.stride[0] + first / block_size * table.stride[1]);
    f(id * t.stride[0], t.stride[1], first, std::min(block_size, view.keys - first));
  }
}

/// score[p] (+)= q · key row p.
void add_scores(const sk_call& call, const View& view, const Cache& cache, const float* q, bool add,
                float* space, float* score) {
  with_float(dtype_of(*cache.t), [&](auto tag) {
    using S = decltype(tag);
    for_runs(call, *cache.t, view, [&](int64_t base, int64_t stride, int64_t first, int64_t n) {
      const auto put = [&](int64_t p, float s) { score[p] = add ? score[p] + s : s; };
      int64_t i = 0;
      if (cache.element_stride == 1)
        for (; i + 4 <= n; i += 4) {
          float four[4];
          dot4(q, static_cast<const S*>(cache.row(base + i * stride)), stride, cache.width, four);
          for (int64_t j = 0; j < 4; ++j) put(first + i + j, four[j]);
        }
      for (; i < n; ++i) {
        const void* row = cache.row(base + i * stride);
        if (cache.element_stride == 1) {
          put(first + i, dot(q, static_cast<const S*>(row), cache.width));
        } else {
          load(space, row, dtype_of(*cache.t), cache.element_stride, cache.width);
          put(first + i, dot(q, space, cache.width));
        }
      }
    });
  });
}

/// sum[0 … n) = sum over positions of weight[p] * value row p, columns [begin, begin + n).
template <class S, bool kWhole>
void add_values(const sk_call& call, const View& view, const Cache& cache, const float* weight, int64_t begin,
                int64_t n, float* sum) {
  const int64_t columns = kWhole ? kChunk : n;
  const int64_t step = kWhole ? 1 : cache.element_stride;
  float acc[kChunk] = {};
  for_runs(call, *cache.t, view, [&](int64_t base, int64_t stride, int64_t first, int64_t count) {
    const S* row = static_cast<const S*>(cache.row(base)) + begin * cache.element_stride;
    for (int64_t i = 0; i < count; ++i, row += stride) {
      const float w = weight[first + i];
      for (int64_t c = 0; c < columns; ++c) acc[c] += w * to_f32(row[c * step]);
    }
  });
  std::copy(acc, acc + n, sum);
}

void attend(const sk_call& call, int64_t t, int64_t h, float* space) {
  const sk_tensor& query = call.in[kQuery];
  const sk_tensor& key = call.in[kKey];
  const sk_tensor& query_rope = call.in[kQueryRope];
  const sk_tensor& out = call.out[0];
  const int64_t heads = query.dim[1], width = query.dim[2], out_width = out.dim[2];
  const bool paged = present(call.in[kBlockTable]);
  void* to = at(out, (t * heads + h) * out_width);
  View view;
  if (!find_keys(call, t, view) || view.keys == 0) return zero(to, dtype_of(out), out_width);

  const int64_t key_heads = call.attr[kNumKeyValueHeads].i > 0 ? call.attr[kNumKeyValueHeads].i : heads;
  const int64_t key_head = h / (heads / key_heads);
  const int64_t widest = std::max(width, present(query_rope) ? query_rope.dim[2] : 0);
  float *q = space, *row = q + widest, *score = row + widest;

  load(q, at(query, t * query.stride[0] + h * query.stride[1]), dtype_of(query), query.stride[2], width);
  add_scores(call, view, cache_of(key, paged, width, key_head), q, false, row, score);
  if (present(query_rope)) {
    const int64_t rope_width = query_rope.dim[2];
    load(q, at(query_rope, t * query_rope.stride[0] + h * query_rope.stride[1]), dtype_of(query_rope),
         query_rope.stride[2], rope_width);
    add_scores(call, view, cache_of(call.in[kKeyRope], paged, rope_width, key_head), q, true, row, score);
  }

  const float scale = static_cast<float>(call.attr[kScale].f);
  float max = -std::numeric_limits<float>::infinity();
  for (int64_t p = 0; p < view.keys; ++p) {
    score[p] *= scale;
    max = score[p] > max ? score[p] : max;
  }
  // All -infinity: exp(-inf - 0) is 0 everywhere and the row becomes zero.
  if (max == -std::numeric_limits<float>::infinity()) max = 0.0f;
  for (int64_t p = 0; p < view.keys; ++p) score[p] = math::exp(score[p] - max);
  LaneSum sum;
  sum.add(score, view.keys);
  const float total = sum.sum();

  const Cache value = cache_of(call.in[kValue], paged, out_width, key_head);
  for (int64_t c = 0; c < out_width; c += kChunk) {
    const int64_t n = std::min(kChunk, out_width - c);
    float v[kChunk];
    with_float(dtype_of(*value.t), [&](auto tag) {
      using S = decltype(tag);
      if (n == kChunk && value.element_stride == 1)
        add_values<S, true>(call, view, value, score, c, n, v);
      else
        add_values<S, false>(call, view, value, score, c, n, v);
    });
    for (int64_t i = 0; i < n; ++i) v[i] = total == 0.0f ? 0.0f : v[i] / total;
    store(static_cast<char*>(to) + c * dtype_bytes(dtype_of(out)), dtype_of(out), 1, v, n);
  }
}

}  // namespace
}  // namespace skdsl::kernels

using namespace skdsl::kernels;

SK_WORKSPACE(fused_infer_attention_score) {
  const sk_tensor& key = call->in[kKey];
  const sk_tensor& table = call->in[kBlockTable];
  const sk_tensor& query_rope = call->in[kQueryRope];
  const int64_t widest = std::max(call->in[kQuery].dim[2], present(query_rope) ? query_rope.dim[2] : 0);
  const int64_t keys = present(table) ? table.dim[1] * key.dim[1] : key.dim[0];
  return static_cast<uint64_t>(2 * widest + keys) * sizeof(float);
}

SK_KERNEL(fused_infer_attention_score) {
  const sk_tensor& query = call->in[kQuery];
  const int64_t heads = query.dim[1];
  const Share tiles = share_of(query.dim[0] * heads, block, blocks);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile)
    attend(*call, tile / heads, tile % heads, workspace_of(*call, block));
}
