// Every kernel compiled for random static shapes gives the bits of the native kernel, faults included, for
// any number of blocks.
#include <gtest/gtest.h>

#include <cstring>

#include "jit/cache/symbols.h"
#include "jit/host/host.h"
#include "jit/load/load.h"
#include "jit/load/runtime_symbols.h"
#include "tests/ops/abi_call.h"
#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

exec::NativeKernel described(Opcode op, const sk_call& call) {
  exec::NativeKernel k;
  k.code = op;
  const auto shapes = [](const sk_tensor* list, uint32_t n) {
    std::vector<exec::NativeTensor> out(n);
    for (uint32_t i = 0; i < n; ++i) {
      out[i].dim.assign(list[i].dim, list[i].dim + list[i].rank);
      out[i].stride.assign(list[i].stride, list[i].stride + list[i].rank);
      out[i].dtype = list[i].dtype;
    }
    return out;
  };
  k.in = shapes(call.in, call.n_in);
  k.out = shapes(call.out, call.n_out);
  for (size_t i = 0; i < call.n_attr; ++i) {
    exec::NativeAttr a;
    if (attr_param(info(op), i).attr == AttrType::IntList) {
      a.is_list = true;
      a.list.assign(call.attr[i].list.data, call.attr[i].list.data + call.attr[i].list.size);
    } else {
      std::memcpy(&a.bits, &call.attr[i], sizeof a.bits);
    }
    k.attrs.push_back(std::move(a));
  }
  return k;
}

class StaticKernels : public testing::TestWithParam<CaseRow> {};

TEST_P(StaticKernels, GiveTheBitsOfTheNativeKernel) {
  auto engine = jit::engine();
  ASSERT_TRUE(engine) << engine.error().message;
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  size_t calls = 0;
  for (const sk_dtype dtype : GetParam().dtypes)
    for (uint64_t seed = 1; seed <= (soak ? 40u : 1u); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", dtype " + std::to_string(dtype));
      Random random(seed * 104729 + static_cast<uint64_t>(dtype));
      const OpCase c = GetParam().make(random, {.dtype = dtype, .empty = seed % 20 == 19});
      std::vector<Tensor> operands = c.operands;
      if ((seed + static_cast<uint64_t>(dtype)) % 2 == 0)
        for (Tensor& t : operands)
          if (t && !info(GetParam().op).has(kElementwise)) t = strided_copy(random, t);
      const auto results = [&] {
        std::vector<Tensor> out;
        for (const TensorType& t : c.results) out.push_back(poisoned(t));
        return out;
      };
      AbiCall native(GetParam().op, c.attrs, operands, results());
      native.run(1);
      const exec::NativeKernel k = described(GetParam().op, native.call());
      const std::string symbol = jit::kernel_symbol(k, true);
      auto object = (*engine)->compile_kernel(k, symbol);
      ASSERT_TRUE(object) << object.error().message;
      const std::vector<jit::Object> objects{*object};
      // By ORC as when it is compiled, and as from the cache.
      auto linked = (*engine)->link(objects, jit::runtime_symbols());
      ASSERT_TRUE(linked) << linked.error().message;
      auto loaded = jit::load(objects, jit::runtime_symbols());
      ASSERT_TRUE(loaded) << loaded.error().message;
      for (const jit::Linked* code : {linked->get(), loaded->get()}) {
        const auto found = code->find(symbol);
        ASSERT_TRUE(found) << found.error().message << " "
                           << (found.error().notes.empty() ? "" : found.error().notes[0]);
        auto* function = reinterpret_cast<sk_kernel_fn>(const_cast<void*>(*found));
        for (const uint32_t blocks : {1u, 3u}) {
          AbiCall clone(GetParam().op, c.attrs, operands, results());
          clone.run(blocks, function);
          ASSERT_EQ(clone.fault().code, native.fault().code);
          for (size_t r = 0; r < c.results.size(); ++r)
            ASSERT_EQ(bytes_of(clone.results()[r]), bytes_of(native.results()[r]))
                << blocks << " blocks, result " << r;
        }
      }
      // ORC forgets the names of local functions.
      ASSERT_LE((*linked)->code_bytes(), (*loaded)->code_bytes());
      ++calls;
    }
  EXPECT_GT(calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(, StaticKernels, testing::ValuesIn(all_cases()),
                         [](const auto& p) { return std::string(skdsl::info(p.param.op).name); });

TEST(StaticKernelFaults, NameTheRowOfTheNativeKernel) {
  auto engine = jit::engine();
  ASSERT_TRUE(engine);
  const Tensor ids = int_tensor(SK_I32, {3}, {1, 7, 0});
  Tensor table = Tensor::zeros(SK_F32, std::vector<int64_t>{2, 2});
  AbiCall call(Opcode::Embedding, {}, {ids, table}, {poisoned({SK_F32, {3, 2}})});
  const exec::NativeKernel k = described(Opcode::Embedding, call.call());
  const std::vector<jit::Object> objects{*(*engine)->compile_kernel(k, "clone")};
  auto linked = (*engine)->link(objects, jit::runtime_symbols());
  ASSERT_TRUE(linked) << linked.error().message;
  call.run(2, reinterpret_cast<sk_kernel_fn>(const_cast<void*>(*(*linked)->find("clone"))));
  EXPECT_EQ(call.fault().code, SK_FAULT_INDEX);
  EXPECT_EQ(call.fault().value, 7);
  EXPECT_EQ(call.fault().limit, 2);
  EXPECT_EQ(call.fault().row, 1);
}

}  // namespace
}  // namespace skdsl::test
