#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::after;

TEST(DeadCode, UnreadPureOpsGoAway) {
  EXPECT_EQ(testing::functions(after(dead_code, R"(program
symbol T
state "kv" : f32[2, 2, 4]
weight "w" : f32[4]
func "main" none (x = %0 : f32[T, 4], s = %1 : i32[T], c = %2 : bool) -> (f32[T, 4]) {
  %3 = exp %0 : f32[T, 4]
  %4 = neg %3 : f32[T, 4]
  %5 = weight {path = "w"} : f32[4]
  %6 = state {path = "kv"} : f32[2, 2, 4]
  %7 = state {path = "kv"} : f32[2, 2, 4]
  %8 = abs %0 : f32[T, 4]
  scatter_update %7, %1, %8
  %9, %10 = split %0 {sizes = [1, 3], axis = 1} : f32[T, 1], f32[T, 3]
  print %10 {format = "{}"}
  %11 = if %2 : f32[T, 4] region {
    yield %0
  } region {
    %12 = exp %0 : f32[T, 4]
    yield %12
  }
  if %2 region {
    print %0 {format = "{}"}
    yield
  } region {
    %13 = exp %0 : f32[T, 4]
    yield
  }
  return %0
}
)")),
            R"(func "main" none (x = %0 : f32[T, 4], s = %1 : i32[T], c = %2 : bool) -> (f32[T, 4]) {
  %3 = state {path = "kv"} : f32[2, 2, 4]
  %4 = abs %0 : f32[T, 4]
  scatter_update %3, %1, %4
  %5, %6 = split %0 {sizes = [1, 3], axis = 1} : f32[T, 1], f32[T, 3]
  print %6 {format = "{}"}
  if %2 region {
    print %0 {format = "{}"}
    yield
  } region {
    yield
  }
  return %0
}
)");
}

// Reading a value, drawing numbers and looping are effects: a graph must still be refused for them.
TEST(DeadCode, EffectsStay) {
  const std::string text = R"(func "main" none (x = %0 : f32[]) -> () {
  %1 = item %0 : float
  %2 = random_normal {shape = [2], seed = 1, dtype = <f32>} : f32[2]
  %3 = host_float {value = 1.0} : float
  %4 = host_fn %3, %3 {fn = "eq"} : bool
  while region {
    yield %4
  } region {
    yield
  }
  return
}
)";
  EXPECT_EQ(testing::functions(after(dead_code, "program\n" + text)), text);
}

TEST(DeadCode, FunctionsThatNobodyCallsGoAway) {
  const std::string text = after(dead_code, R"(program
const "c" : f32[4] = "make_c" 0
func "a" none () -> () {
  return
}
func "b" none () -> () {
  call {callee = "a"}
  return
}
func "lonely" none () -> () {
  call {callee = "lonelier"}
  return
}
func "lonelier" none () -> () {
  return
}
func "make_c" none () -> (f32[4]) {
  %0 = full {shape = [4], value = 1.0, dtype = <f32>} : f32[4]
  return %0
}
func "M.prefill" prefill () -> () {
  return
}
func "main" none () -> () {
  call {callee = "b"}
  return
}
)");
  EXPECT_EQ(text.find("lonel"), std::string::npos) << text;
  for (const char* name : {"\"a\"", "\"b\"", "\"make_c\"", "\"M.prefill\"", "\"main\""})
    EXPECT_NE(text.find(std::string("func ") + name), std::string::npos);
}

}  // namespace
}  // namespace skdsl::passes
