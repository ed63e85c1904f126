// layer_cases — embedding, norms, swiglu, rope, attention, random numbers
#include <cmath>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

sk_dtype any_float(Random& random) { return kFloatTypes[static_cast<size_t>(random.between(0, 2))]; }
int64_t width(Random& random) { return random.chance(0.3) ? random.between(60, 200) : random.between(1, 33); }

OpCase embedding(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 9), entries = random.between(1, 12),
                dim = width(random);
  c.operands = {random_indices(random, random.chance(0.5) ? SK_I32 : SK_I64, {rows}, 0, entries - 1),
                random_tensor(random, any_float(random), {entries, dim})};
  c.results = {{o.dtype, {rows, dim}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, rows, dim] {
    Values y;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < dim; ++i)
        y.push_back(element(in[1], static_cast<int64_t>(element(in[0], r)) * dim + i));
    return std::vector<Values>{y};
  };
  return c;
}

Values normed(const Values& x, const Tensor& gamma, int64_t dim, double eps) {
  Values y;
  for (size_t begin = 0; begin < x.size(); begin += static_cast<size_t>(dim)) {
    double sum = 0;
    for (int64_t i = 0; i < dim; ++i)
      sum += x[begin + static_cast<size_t>(i)] * x[begin + static_cast<size_t>(i)];
    for (int64_t i = 0; i < dim; ++i)
      y.push_back(x[begin + static_cast<size_t>(i)] / std::sqrt(sum / static_cast<double>(dim) + eps) *
                  element(gamma, i));
  }
  return y;
}

OpCase rms_norm(Random& random, const CaseOptions& o, bool add) {
  OpCase c;
  Shape shape = random_shape(random, {}, 2, 3);
  if (o.empty) shape[0] = 0;
  const int64_t dim = shape.back();
  const double eps = random.chance(0.5) ? 1e-5 : 1e-6;
  c.attrs = {{"eps", eps}};
  c.operands = {random_tensor(random, o.dtype, shape), random_tensor(random, any_float(random), {dim})};
  c.operand_rows = {{0, 1}, {}};
  c.results = {{o.dtype, shape}};
  c.result_rows = {{0, 1}};
  c.rows = shape[0];
  if (add) {
    c.operands.insert(c.operands.begin(), random_tensor(random, o.dtype, shape));
    c.operand_rows.insert(c.operand_rows.begin(), {0, 1});
    c.results.push_back(c.results[0]);
    c.result_rows.push_back({0, 1});
    c.rounds_once = false;
  }
  c.reference = [in = c.operands, add, dim, eps] {
    Values x = values_of(in[0]);
    for (size_t i = 0; add && i < x.size(); ++i) x[i] += element(in[1], static_cast<int64_t>(i));
    if (add) {
      // The norm sees the sum as it is stored.
      const Tensor sum = Tensor::empty(in[0].dtype(), in[0].shape());
      for (size_t i = 0; i < x.size(); ++i) set_element(sum, static_cast<int64_t>(i), x[i]);
      x = values_of(sum);
    }
    std::vector<Values> out = {normed(x, in.back(), dim, eps)};
    if (add) out.push_back(x);
    return out;
  };
  c.rel = 3e-6;
  return c;
}

OpCase swiglu(Random& random, const CaseOptions& o) {
  OpCase c;
  Shape shape = random_shape(random, {}, 2, 3), out = shape;
  if (o.empty) shape[0] = out[0] = 0;
  const int64_t ffn = shape.back();
  shape.back() *= 2;
  c.operands = {random_tensor(random, o.dtype, shape)};
  c.results = {{o.dtype, out}};
  c.rows = shape[0];
  c.operand_rows = c.result_rows = {{0, 1}};
  c.reference = [x = c.operands[0], ffn] {
    Values y;
    for (int64_t row = 0; row < x.elements(); row += 2 * ffn)
      for (int64_t i = 0; i < ffn; ++i) {
        const double gate = element(x, row + i);
        y.push_back(gate / (1 + std::exp(-gate)) * element(x, row + ffn + i));
      }
    return std::vector<Values>{y};
  };
  c.rel = 1e-6;
  return c;
}

OpCase rope(Random& random, const CaseOptions& o) {
  OpCase c;
  const char* const styles[] = {"half", "pairs", "pairs_to_half"};
  const int64_t style = random.between(0, 2), rows = o.empty ? 0 : random.between(1, 5);
  const int64_t heads = random.between(1, 4), half = width(random);
  c.attrs = {{"style", std::string(styles[style])}};
  c.operands = {random_tensor(random, o.dtype, {rows, heads, 2 * half}),
                random_tensor(random, SK_F32, {rows, half}), random_tensor(random, SK_F32, {rows, half})};
  c.results = {{o.dtype, {rows, heads, 2 * half}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {0, 1}, {0, 1}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, style, rows, heads, half] {
    Values y(static_cast<size_t>(in[0].elements()));
    for (int64_t r = 0; r < rows * heads; ++r)
      for (int64_t i = 0; i < half; ++i) {
        const int64_t row = r * 2 * half, t = r / heads;
        const double a = element(in[0], row + (style == 0 ? i : 2 * i));
        const double b = element(in[0], row + (style == 0 ? i + half : 2 * i + 1));
        const double cos = element(in[1], t * half + i), sin = element(in[2], t * half + i);
        y[static_cast<size_t>(row + (style == 1 ? 2 * i : i))] = a * cos - b * sin;
        y[static_cast<size_t>(row + (style == 1 ? 2 * i + 1 : i + half))] = b * cos + a * sin;
      }
    return std::vector<Values>{y};
  };
  c.abs = 5e-6;
  return c;
}

/// The frequency of pair i as transformers' modeling_rope_utils has it, in its own steps.
double rope_frequency(const std::string& scaling, double theta, double dim, double i, double factor,
                      double length) {
  const double plain = 1 / std::pow(theta, 2 * i / dim);
  const double pi = 3.14159265358979323846;
  if (scaling == "linear") return plain / factor;
  if (scaling == "yarn") {
    const auto correction = [&](double turns) {
      return dim * std::log(length / (turns * 2 * pi)) / (2 * std::log(theta));
    };
    const double low = std::max(std::floor(correction(32)), 0.0);
    const double high = std::min(std::ceil(correction(1)), dim - 1);
    const double ramp = std::clamp((i - low) / (low == high ? 0.001 : high - low), 0.0, 1.0);
    const double extrapolated = 1 - ramp;
    return plain / factor * (1 - extrapolated) + plain * extrapolated;
  }
  if (scaling == "llama3") {
    const double wave = 2 * pi / plain, low = 1, high = 4;
    if (wave < length / high) return plain;
    if (wave > length / low) return plain / factor;
    const double smooth = (length / wave - low) / (high - low);
    return (1 - smooth) * plain / factor + smooth * plain;
  }
  return plain;
}

OpCase rope_table(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t length = o.empty ? 0 : random.between(1, 300), half = random.between(1, 40);
  constexpr const char* kScalings[] = {"default", "linear", "yarn", "llama3"};
  const std::string scaling = kScalings[random.between(0, 3)];
  const double theta = random.chance(0.5) ? 1e4 : 1e7,
               factor = scaling == "default" ? 1.0 : random.real(1, 40);
  const int64_t original = random.between(2, 9000);
  const double attention_factor = random.chance(0.5) ? 1.0 : random.real(0.5, 2);
  c.attrs = {{"length", length},
             {"dim", 2 * half},
             {"theta", theta},
             {"factor", factor},
             {"original_max_position_embeddings", original},
             {"attention_factor", attention_factor},
             {"scaling", scaling}};
  c.results = {{SK_F32, {length, half}}, {SK_F32, {length, half}}};
  c.reference = [=] {
    std::vector<Values> out(2);
    for (int64_t p = 0; p < length; ++p)
      for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(p) *
                             rope_frequency(scaling, theta, 2.0 * static_cast<double>(half),
                                            static_cast<double>(i), factor, static_cast<double>(original));
        out[0].push_back(std::cos(angle) * attention_factor);
        out[1].push_back(std::sin(angle) * attention_factor);
      }
    return out;
  };
  c.abs = 1.2e-7;
  return c;
}

/// Ragged requests over TND keys or a paged cache whose unused entries and slots are poison.
OpCase attention(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t requests = o.empty ? 0 : random.between(1, 4), groups = random.between(1, 3),
                per_group = random.between(1, 3);
  const int64_t heads = groups * per_group, dim = width(random),
                value_dim = random.chance(0.3) ? 64 : width(random);
  const bool paged = random.chance(0.6), rope = random.chance(0.5), causal = random.chance(0.7);
  const int64_t rope_dim = random.between(1, 20), block_size = random.between(1, 6);
  std::vector<int64_t> q_ends, kv_lengths, kv_ends;
  int64_t rows = 0, keys = 0, longest = 1;
  for (int64_t b = 0; b < requests; ++b) {
    const int64_t length = random.chance(0.15) ? 0 : random.between(1, 40);
    const int64_t q = length == 0 ? 1 : random.between(1, std::min<int64_t>(length, 5));
    q_ends.push_back(rows += q);
    kv_lengths.push_back(length);
    kv_ends.push_back(keys += length);
    longest = std::max(longest, length);
  }
  const int64_t width_of_table = (longest + block_size - 1) / block_size + 1;
  std::vector<int64_t> table(static_cast<size_t>(requests * width_of_table), -1);
  int64_t blocks = 1;  // block 0 is never handed out
  for (int64_t b = 0; b < requests; ++b)
    for (int64_t p = 0; p * block_size < kv_lengths[static_cast<size_t>(b)]; ++p)
      table[static_cast<size_t>(b * width_of_table + p)] = blocks++;
  const bool shared_rope = groups == 1 || random.chance(0.5);
  /// A cache of `heads x dim` a position; unused slots keep their poison.
  const auto cache = [&](int64_t cache_heads, int64_t cache_dim) {
    const Tensor dense = random_tensor(random, o.dtype, {keys, cache_heads, cache_dim});
    if (!paged) return dense;
    const Tensor t = poisoned({o.dtype, {blocks, block_size, cache_heads, cache_dim}});
    const int64_t row = cache_heads * cache_dim;
    for (int64_t b = 0; b < requests; ++b)
      for (int64_t p = 0; p < kv_lengths[static_cast<size_t>(b)]; ++p) {
        const int64_t block = table[static_cast<size_t>(b * width_of_table + p / block_size)];
        const int64_t first = kv_ends[static_cast<size_t>(b)] - kv_lengths[static_cast<size_t>(b)];
        for (int64_t i = 0; i < row; ++i)
          set_element(t, (block * block_size + p % block_size) * row + i,
                      element(dense, (first + p) * row + i));
      }
    return t;
  };
  const Tensor key = cache(groups, dim);
  // As in absorbed MLA the values may be the keys themselves.
  const bool alias = random.chance(0.2);
  const Tensor value = alias ? key : cache(groups, value_dim);
  const int64_t out_dim = alias ? dim : value_dim;
  c.operands = {random_tensor(random, o.dtype, {rows, heads, dim}),
                key,
                value,
                {},
                {},
                {},
                int_tensor(SK_I32, {requests}, q_ends),
                int_tensor(SK_I32, {requests}, paged ? kv_lengths : kv_ends)};
  if (rope) {
    c.operands[3] = random_tensor(random, o.dtype, {rows, heads, rope_dim});
    c.operands[4] = cache(shared_rope ? 1 : groups, rope_dim);
  }
  if (paged) c.operands[5] = int_tensor(SK_I32, {requests, width_of_table}, table);
  const double scale = random.real(0.05, 0.4);
  c.attrs = {{"num_heads", heads},
             {"num_key_value_heads", groups},
             {"scale", scale},
             {"block_size", paged ? block_size : 0},
             {"sparse_mode", int64_t{causal ? 3 : 0}}};
  c.results = {{o.dtype, {rows, heads, out_dim}}};
  c.reference = [=, in = c.operands] {
    Values y;
    int64_t b = 0;
    for (int64_t t = 0; t < rows; ++t) {
      while (t >= q_ends[static_cast<size_t>(b)]) ++b;
      const auto request = static_cast<size_t>(b);
      const int64_t length = kv_lengths[request], sees = causal ? length - (q_ends[request] - t) + 1 : length;
      const auto where = [&](int64_t p) {
        if (!paged) return kv_ends[request] - length + p;
        return table[static_cast<size_t>(b * width_of_table + p / block_size)] * block_size + p % block_size;
      };
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t g = h / per_group, rope_heads = shared_rope ? 1 : groups, rope_g = shared_rope ? 0 : g;
        Values p;
        double total = 0;
        for (int64_t k = 0; k < sees; ++k) {
          double s = 0;
          for (int64_t i = 0; i < dim; ++i)
            s +=
                element(in[0], (t * heads + h) * dim + i) * element(in[1], (where(k) * groups + g) * dim + i);
          for (int64_t i = 0; i < rope_dim && rope; ++i)
            s += element(in[3], (t * heads + h) * rope_dim + i) *
                 element(in[4], (where(k) * rope_heads + rope_g) * rope_dim + i);
          p.push_back(s * scale);
        }
        double max = -INFINITY;
        for (const double s : p) max = std::max(max, s);
        for (double& s : p) total += s = std::exp(s - max);
        for (int64_t i = 0; i < out_dim; ++i) {
          double v = 0;
          for (int64_t k = 0; k < sees; ++k)
            v += p[static_cast<size_t>(k)] / total * element(in[2], (where(k) * groups + g) * out_dim + i);
          y.push_back(v);
        }
      }
    }
    return std::vector<Values>{y};
  };
  // Scores reach several hundred; their f32 error is amplified by exp.
  c.abs = 3e-3;
  return c;
}

OpCase random_normal(Random& random, const CaseOptions& o) {
  OpCase c;
  const Shape shape = random_shape(random, o, 1, 3);
  c.attrs = {
      {"shape", shape}, {"seed", random.between(-5, 1000)}, {"dtype", std::string(dtype_name(o.dtype))}};
  c.results = {{o.dtype, shape}};
  return c;
}

}  // namespace

std::vector<CaseRow> layer_cases() {
  return {
      {Opcode::Embedding, kFloatTypes, embedding},
      {Opcode::RmsNorm, kFloatTypes, [](Random& r, const CaseOptions& o) { return rms_norm(r, o, false); }},
      {Opcode::AddRmsNorm, kFloatTypes, [](Random& r, const CaseOptions& o) { return rms_norm(r, o, true); }},
      {Opcode::Swiglu, kFloatTypes, swiglu},
      {Opcode::Rope, kFloatTypes, rope},
      {Opcode::RopeTable, {SK_F32}, rope_table},
      {Opcode::FusedInferAttentionScore, kFloatTypes, attention},
      {Opcode::RandomNormal, kFloatTypes, random_normal},
  };
}

}  // namespace skdsl::test
