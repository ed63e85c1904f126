// kernel_digest — prints one number for each kernel: a digest of its results on the table's random calls
//
// Two builds of the kernels that print the same give the same bits.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/ops/abi_call.h"
#include "tests/unit/kernels/op_cases.h"

int main(int argc, char** argv) {
  using namespace skdsl;
  using namespace skdsl::test;
  testing::InitGoogleTest(&argc, argv);
  for (const CaseRow& row : all_cases()) {
    Random random(static_cast<uint64_t>(row.op) + 77);
    uint64_t digest = 14695981039346656037ull;  // FNV-1a
    for (int i = 0; i < 20; ++i)
      for (const sk_dtype dtype : row.dtypes) {
        const OpCase c = row.make(random, {dtype, false});
        std::vector<Tensor> out;
        for (const TensorType& t : c.results) out.push_back(poisoned(t));
        AbiCall call(row.op, c.attrs, c.operands, out);
        call.run(2);
        if (info(row.op).has(kInPlace)) out.push_back(c.operands[0]);
        for (const Tensor& t : out)
          for (const uint8_t byte : bytes_of(t)) digest = (digest ^ byte) * 1099511628211ull;
      }
    std::printf("%s %016llx\n", std::string(info(row.op).name).c_str(),
                static_cast<unsigned long long>(digest));
  }
  return testing::UnitTest::GetInstance()->failed_test_count() > 0;
}
