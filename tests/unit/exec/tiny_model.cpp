#include "tests/unit/exec/tiny_model.h"

namespace skdsl::test {

using plan::Dim;
using plan::DType;
using plan::kNone;
using plan::Phase;
using plan::Type;
using plan::ValueId;

namespace {

struct WeightShape {
  const char* path;
  std::vector<int64_t> shape;
};
std::vector<WeightShape> weight_shapes(const TinySizes& s) {
  return {{"embed.w", {s.vocabulary, s.width}},    {"q.w", {s.heads * s.head, s.width}},
          {"k.w", {s.kv_heads * s.head, s.width}}, {"v.w", {s.kv_heads * s.head, s.width}},
          {"o.w", {s.width, s.heads * s.head}},    {"head.w", {s.vocabulary, s.width}}};
}

void build_phase(plan::Program& program, const TinySizes& s, Phase phase) {
  FunctionBuilder b(program, std::string("Tiny.") + std::string(plan::name(phase)), phase);
  const Dim T = b.dim("T"), B = b.dim("B"), W = b.dim("W");
  const ValueId ids = b.param("ids", i32({T}));
  const ValueId position = b.param("step.position_ids", i32({T}));
  const ValueId slots = b.param("step.slot_mapping", i32({T}));
  const ValueId table = b.param("step.block_table", i32({B, W}));
  const ValueId kv_len = b.param("step.kv_len", i32({B}));
  const ValueId cu_q = b.param("step.actual_seq_lengths_cu_q", i32({B}));
  const auto weight = [&](const std::string& path) {
    for (const WeightShape& w : weight_shapes(s))
      if (w.path == path)
        return b.weight(path, Type::tensor(DType::Stored, {w.shape.begin(), w.shape.end()}));
    return kNone;
  };
  const auto linear = [&](ValueId x, const char* path, Dim rows, int64_t n) {
    return b.op(Opcode::Linear, {x, weight(path), kNone}, {{"dtype", DType::F32}}, f32({rows, n}));
  };
  const auto reshape = [&](ValueId x, std::vector<Dim> shape) {
    return b.op(Opcode::Reshape, {x}, {{"shape", shape}}, f32(shape));
  };
  const auto select = [&](ValueId x, ValueId index, Dim rows, int64_t n) {
    return b.op(Opcode::IndexSelect, {x, index}, {{"axis", Dim(0)}}, f32({rows, n}));
  };

  const ValueId h = b.op(Opcode::Embedding, {ids, weight("embed.w")}, {}, f32({T, s.width}));
  const ValueId cos = select(b.weight("cos", f32({s.max_seq_len, s.head / 2})), position, T, s.head / 2);
  const ValueId sin = select(b.weight("sin", f32({s.max_seq_len, s.head / 2})), position, T, s.head / 2);
  const auto heads = [&](const char* path, int64_t n) {
    return reshape(linear(h, path, T, n * s.head), {T, n, s.head});
  };
  const auto rope = [&](ValueId x, int64_t n) {
    return b.op(Opcode::Rope, {x, cos, sin}, {}, f32({T, n, s.head}));
  };
  const Type cache = f32({s.kv_blocks, s.block_size, s.kv_heads, s.head});
  const ValueId k = b.state("k", cache), v = b.state("v", cache);
  b.effect(Opcode::ScatterUpdate, {k, slots, rope(heads("k.w", s.kv_heads), s.kv_heads)});
  b.effect(Opcode::ScatterUpdate, {v, slots, heads("v.w", s.kv_heads)});
  const ValueId o = b.op(Opcode::FusedInferAttentionScore,
                         {rope(heads("q.w", s.heads), s.heads), k, v, kNone, kNone, table, cu_q, kv_len},
                         {{"num_heads", Dim(s.heads)},
                          {"num_key_value_heads", Dim(s.kv_heads)},
                          {"scale", 0.35},
                          {"block_size", Dim(s.block_size)},
                          {"sparse_mode", Dim(3)}},
                         f32({T, s.heads, s.head}));
  ValueId x = b.op(Opcode::Add, {h, linear(reshape(o, {T, s.heads * s.head}), "o.w", T, s.width)}, {},
                   f32({T, s.width}));
  Dim rows = T;
  if (phase == Phase::Prefill) {
    const ValueId one = b.constant<int32_t>(DType::I32, {}, {1});
    x = select(x, b.op(Opcode::Sub, {cu_q, one}, {}, i32({B})), B, s.width);
    rows = B;
  }
  b.done({linear(x, "head.w", rows, s.vocabulary)});
}

}  // namespace

plan::Program tiny_program(const TinySizes& s) {
  plan::Program program;
  program.files = {"", "tiny.sk"};
  for (const WeightShape& w : weight_shapes(s))
    program.weights.push_back(
        {w.path, Type::tensor(DType::Stored, {w.shape.begin(), w.shape.end()}), {{w.path}}, false, {}});
  const Type cache = f32({s.kv_blocks, s.block_size, s.kv_heads, s.head});
  program.states.push_back({"k", cache, true, false, {}});
  program.states.push_back({"v", cache, true, false, {}});
  const Type table = f32({s.max_seq_len, s.head / 2});
  FunctionBuilder b(program, "tables");
  b.done(
      b.ops(Opcode::RopeTable, {}, {{"length", Dim(s.max_seq_len)}, {"dim", Dim(s.head)}}, {table, table}));
  program.consts.push_back({"cos", table, "tables", 0, {}});
  program.consts.push_back({"sin", table, "tables", 1, {}});
  build_phase(program, s, Phase::Prefill);
  build_phase(program, s, Phase::Decode);
  return program;
}

std::map<std::string, Tensor> tiny_weights(const TinySizes& s, uint64_t seed) {
  std::map<std::string, Tensor> out;
  for (const WeightShape& w : weight_shapes(s)) {
    int64_t n = 1;
    for (const int64_t d : w.shape) n *= d;
    out[w.path] = floats(w.shape, noise(++seed * 977, static_cast<size_t>(n)));
  }
  return out;
}

}  // namespace skdsl::test
