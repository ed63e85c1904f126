#include "compiler/passes/specialise.h"

#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::Diags;
using testing::program;

constexpr std::string_view kText = R"(program
symbol T
symbol B
symbol u2
constant 0 : f32[] = [1]
func "M.decode" decode (x = %0 : f32[T, 4], n = %1 : int(B)) -> (f32[T*4]) {
  %2 = host_int {value = T} : int(T)
  %3 = host_fn %2, %1 {fn = "gt"} : bool
  %4 = if %3 : f32[T, 4] region {
    %5 = exp %0 : f32[T, 4]
    yield %5
  } region {
    yield %0
  }
  %6 = host_fn %2, %1 {fn = "floordiv"} : int(u2)
  %7 = to_tensor %6 : f32[]
  %8 = mul %4, %7 : f32[T, 4]
  %9 = reshape %8 {shape = [T*4]} : f32[T*4]
  return %9
}
)";

TEST(Specialise, SizesBecomeNumbersAndBranchesAreTaken) {
  const plan::Program p = program(kText);
  Diags diags;
  EXPECT_EQ(print(specialise(p, p.functions[0], {{"B", 2}, {"T", 6}}, diags.engine)), R"(program
symbol T
symbol B
symbol u2
constant 0 : f32[] = [1]
constant 1 : f32[] = [3]
func "M.decode" decode (x = %0 : f32[6, 4], n = %1 : int(2)) -> (f32[24]) {
  %2 = exp %0 : f32[6, 4]
  %3 = constant {data = 1} : f32[]
  %4 = mul %2, %3 : f32[6, 4]
  %5 = reshape %4 {shape = [24]} : f32[24]
  return %5
}
)");
  // The other branch, and a factor of one that goes away.
  EXPECT_EQ(testing::functions(print(specialise(p, p.functions[0], {{"B", 4}, {"T", 4}}, diags.engine))),
            R"(func "M.decode" decode (x = %0 : f32[4, 4], n = %1 : int(4)) -> (f32[16]) {
  %2 = reshape %0 {shape = [16]} : f32[16]
  return %2
}
)");
  EXPECT_EQ(print(p), kText);
}

TEST(Specialise, UnboundSymbolsStay) {
  const plan::Program p = program(kText);
  Diags diags;
  const plan::Program q = specialise(p, p.functions[0], {{"B", 2}, {"unknown", 7}}, diags.engine);
  EXPECT_TRUE(plan::verify(q).empty());
  EXPECT_NE(print(q).find("f32[T, 4]"), std::string::npos);
}

}  // namespace
}  // namespace skdsl::passes
