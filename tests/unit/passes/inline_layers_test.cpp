#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::after;
using testing::Diags;
using testing::program;

TEST(InlineLayers, SymbolsBecomeTheArgumentsSizesAndContextsHangUnderTheCalls) {
  EXPECT_EQ(after(inline_layers, R"(program
symbol T
symbol R
symbol u2
context 0 stream "1"
context 1 cores "" {"aic" = "8"}
context 2 superkernel "inner" parent 1
func "layer" none (x = %0 : f32[R, 4], n = %1 : int(u2)) -> (f32[R*4]) {
  %2:h = exp %0 : f32[R, 4] ctx(2) path "layers.0"
  %3 = reshape %2 {shape = [R*4]} : f32[R*4] path "layers.0"
  %4 = host_fn %1, %1 {fn = "add"} : int(u2*2)
  return %3
}
func "M.decode" decode (x = %0 : f32[T*2, 4], n = %1 : int(T)) -> (f32[T*8]) {
  %2:y = call %0, %1 {callee = "layer"} : f32[T*8] ctx(0) path "layers.0"
  return %2
}
)"),
            R"(program
symbol T
symbol R
symbol u2
context 0 stream "1"
context 1 cores "" {"aic" = "8"}
context 2 superkernel "inner" parent 1
context 3 cores "" {"aic" = "8"} parent 0
context 4 superkernel "inner" parent 3
func "layer" none (x = %0 : f32[R, 4], n = %1 : int(u2)) -> (f32[R*4]) {
  %2:h = exp %0 : f32[R, 4] ctx(2) path "layers.0"
  %3 = reshape %2 {shape = [R*4]} : f32[R*4] path "layers.0"
  %4 = host_fn %1, %1 {fn = "add"} : int(u2*2)
  return %3
}
func "M.decode" decode (x = %0 : f32[T*2, 4], n = %1 : int(T)) -> (f32[T*8]) {
  %2:h = exp %0 : f32[T*2, 4] ctx(4) path "layers.0"
  %3:y = reshape %2 {shape = [T*8]} : f32[T*8] ctx(0) path "layers.0"
  %4 = host_fn %1, %1 {fn = "add"} : int(T*2) ctx(0)
  return %3
}
)");
}

TEST(InlineLayers, ScriptsKeepTheirPhaseCalls) {
  EXPECT_EQ(testing::functions(after(inline_layers, R"(program
symbol T
func "help" none (x = %0 : f32[T]) -> (f32[T]) {
  %1 = exp %0 : f32[T]
  return %1
}
func "M.decode" decode (x = %0 : f32[T]) -> (f32[T]) {
  %1 = call %0 {callee = "help"} : f32[T]
  return %1
}
func "main" none (x = %0 : f32[4]) -> () {
  %1 = call %0 {callee = "help"} : f32[4]
  %2 = call %1 {callee = "M.decode"} : f32[4]
  print %2 {format = "{}"}
  return
}
)")),
            R"(func "help" none (x = %0 : f32[T]) -> (f32[T]) {
  %1 = exp %0 : f32[T]
  return %1
}
func "M.decode" decode (x = %0 : f32[T]) -> (f32[T]) {
  %1 = exp %0 : f32[T]
  return %1
}
func "main" none (x = %0 : f32[4]) -> () {
  %1 = exp %0 : f32[4]
  %2 = call %1 {callee = "M.decode"} : f32[4]
  print %2 {format = "{}"}
  return
}
)");
}

// Each expansion's run-time size is a size of its own.
TEST(InlineLayers, SecondExpansionGetsFreshSymbols) {
  const std::string text = after(inline_layers, R"(program
symbol T
symbol u1
symbol u2
symbol u3
func "pick" none (x = %0 : bool[T]) -> (i32[u1, 1]) {
  %1 = nonzero %0 : i32[u1, 1]
  return %1
}
func "M.decode" decode (x = %0 : bool[T], y = %1 : bool[T]) -> (i32[u2, 1], i32[u3, 1]) {
  %2 = call %0 {callee = "pick"} : i32[u2, 1]
  %3 = call %1 {callee = "pick"} : i32[u3, 1]
  return %2, %3
}
)");
  EXPECT_NE(
      text.find(
          "func \"M.decode\" decode (x = %0 : bool[T], y = %1 : bool[T]) -> (i32[u1, 1], i32[u4, 1]) {\n"
          "  %2 = nonzero %0 : i32[u1, 1]\n  %3 = nonzero %1 : i32[u4, 1]\n  return %2, %3\n}"),
      std::string::npos)
      << text;
}

// The value decides when a prefetch starts: a later definition, an earlier one, one in a sub-layer of a
// sub-layer.
TEST(InlineLayers, PrefetchesMoveBehindTheirTriggers) {
  EXPECT_EQ(testing::functions(after(inline_layers, R"(program
weight "w" : f32[4]
func "proj" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = exp %0 : f32[4]
  return %1
}
func "attn" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = call %0 {callee = "proj"} : f32[4] path "attn.o_proj"
  %2 = neg %1 : f32[4]
  return %2
}
func "M.decode" decode (x = %0 : f32[4]) -> (f32[4]) {
  prefetch _ {target = "w", after_path = "attn.o_proj", max_bytes = 100}
  prefetch %0 {target = "v", after_path = "", max_bytes = -1}
  %1 = call %0 {callee = "attn"} : f32[4] path "attn"
  %2 = abs %1 : f32[4]
  prefetch _ {target = "u", after_path = "attn", max_bytes = -1}
  prefetch _ {target = "t", after_path = "attn.o_proj", max_bytes = -1}
  return %2
}
)")),
            R"(func "proj" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = exp %0 : f32[4]
  return %1
}
func "attn" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = call %0 {callee = "proj"} : f32[4] path "attn.o_proj"
  %2 = neg %1 : f32[4]
  return %2
}
func "M.decode" decode (x = %0 : f32[4]) -> (f32[4]) {
  prefetch %0 {target = "v", after_path = "", max_bytes = -1}
  %1 = exp %0 : f32[4]
  prefetch %1 {target = "w", after_path = "attn.o_proj", max_bytes = 100}
  prefetch %1 {target = "t", after_path = "attn.o_proj", max_bytes = -1}
  %2 = neg %1 : f32[4]
  prefetch %2 {target = "u", after_path = "attn", max_bytes = -1}
  %3 = abs %2 : f32[4]
  return %3
}
)");
}

TEST(InlineLayers, UnresolvedPrefetchesAreReported) {
  plan::Program p = program(R"(program
file 1 "t.sk"
func "layer" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = exp %0 : f32[4]
  return %1
}
func "M.decode" decode (x = %0 : f32[4]) -> (f32[4]) {
  prefetch _ {target = "w", after_path = "nobody"} loc(1:3:5+7)
  %1 = call %0 {callee = "layer"} : f32[4] path "twice"
  %2 = call %1 {callee = "layer"} : f32[4] path "twice"
  prefetch _ {target = "w", after_path = "twice"} loc(1:9:5+7)
  return %2
}
)");
  Diags diags;
  EXPECT_FALSE(run(p, {}, diags.engine));
  EXPECT_EQ(diags.text(), R"(SK3503 3:5: `nobody` does not name a value that this phase computes once
  help: name an instance that this phase calls once, or a value that is computed before
SK3503 9:5: `twice` does not name a value that this phase computes once
  note: `twice` is called several times here
  help: name an instance that this phase calls once, or a value that is computed before
)");
}

// Calls of calls of calls, each twice, would double with every level.
TEST(InlineLayers, ExplosionIsAnError) {
  std::string text =
      "program\nfunc \"f0\" none (x = %0 : f32[]) -> (f32[]) {\n  %1 = exp %0 : f32[]\n  return %1\n}\n";
  for (int i = 1; i < 40; ++i)
    text += "func \"f" + std::to_string(i) +
            "\" none (x = %0 : f32[]) -> (f32[]) {\n  %1 = call %0 {callee = \"f" + std::to_string(i - 1) +
            "\"} : f32[]\n  %2 = call %1 {callee = \"f" + std::to_string(i - 1) +
            "\"} : f32[]\n  return %2\n}\n";
  text +=
      "func \"M.decode\" decode (x = %0 : f32[]) -> (f32[]) {\n  %1 = call %0 {callee = \"f39\"} : f32[]\n  "
      "return %1\n}\n";
  plan::Program p = program(text);
  Diags diags;
  EXPECT_FALSE(run(p, {}, diags.engine));
  EXPECT_NE(diags.text().find("SK3022"), std::string::npos) << diags.text();
}

TEST(InlineLayers, LongCallChainsAreAnError) {
  std::string text = "program\nfunc \"f0\" none (x = %0 : f32[]) -> (f32[]) {\n  return %0\n}\n";
  for (int i = 1; i < 5000; ++i)
    text += "func \"f" + std::to_string(i) +
            "\" none (x = %0 : f32[]) -> (f32[]) {\n  %1 = call %0 {callee = \"f" + std::to_string(i - 1) +
            "\"} : f32[]\n  return %1\n}\n";
  text +=
      "func \"M.decode\" decode (x = %0 : f32[]) -> (f32[]) {\n  %1 = call %0 {callee = \"f4999\"} : f32[]\n "
      " return %1\n}\n";
  plan::Program p = program(text);
  Diags diags;
  EXPECT_FALSE(run(p, {}, diags.engine));
  EXPECT_NE(diags.text().find("SK3022"), std::string::npos) << diags.text();
}

}  // namespace
}  // namespace skdsl::passes
