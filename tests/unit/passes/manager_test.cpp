// The pass manager: order, skipping, stopping, printing, and catching a pass that breaks a program.
#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::Diags;
using testing::program;

constexpr std::string_view kText = R"(program
func "layer" none (x = %0 : f32[4]) -> (f32[4]) {
  %1 = reshape %0 {shape = [4]} : f32[4]
  %2 = exp %1 : f32[4]
  return %1
}
func "f" decode (x = %0 : f32[4]) -> (f32[4]) {
  %1 = call %0 {callee = "layer"} : f32[4]
  return %1
}
)";

TEST(PassManager, RunsTheTableInOrder) {
  plan::Program p = program(kText);
  Diags diags;
  std::string seen;
  PassOptions options;
  options.print_after = {"all"};
  options.print = [&](const Pass& pass, const plan::Program&) { seen += std::string(pass.name) + " "; };
  EXPECT_TRUE(run(p, options, diags.engine));
  EXPECT_EQ(seen, "inline-layers fold-constants remove-noops dead-code ");
  EXPECT_EQ(testing::functions(print(p)),
            "func \"f\" decode (x = %0 : f32[4]) -> (f32[4]) {\n  return %0\n}\n");
}

TEST(PassManager, PrintsAfterNamedPassesOnly) {
  plan::Program p = program(kText);
  Diags diags;
  std::string seen;
  PassOptions options;
  options.print_after = {"remove-noops"};
  options.print = [&](const Pass&, const plan::Program& now) { seen += testing::functions(print(now)); };
  EXPECT_TRUE(run(p, options, diags.engine));
  EXPECT_NE(
      seen.find("func \"f\" decode (x = %0 : f32[4]) -> (f32[4]) {\n  %1 = exp %0 : f32[4]\n  return %0\n}"),
      std::string::npos)
      << seen;
}

TEST(PassManager, SkipsAndStops) {
  Diags diags;
  plan::Program p = program(kText);
  PassOptions options;
  options.skip = {"inline-layers", "dead-code", "remove-noops"};
  EXPECT_TRUE(run(p, options, diags.engine));
  EXPECT_EQ(print(p), kText);
  options.skip = {};
  options.stop_after = 1;
  EXPECT_TRUE(run(p, options, diags.engine));
  EXPECT_NE(print(p).find("%1 = reshape %0 {shape = [4]} : f32[4]\n  %2 = exp %1 : f32[4]\n  return %1"),
            std::string::npos)
      << print(p);
  EXPECT_NE(p.find("layer"), nullptr);
}

TEST(PassManager, RefusesWhatDoesNotVerify) {
  plan::Program p = program(kText);
  p.functions[0].ops[0].operands[0] = 99;
  Diags diags;
  EXPECT_FALSE(run(p, {}, diags.engine));
  EXPECT_NE(
      diags.text().find(
          "SK3090 0:0: the plan does not verify after elaboration: function `layer`: op 0 reads value 99"),
      std::string::npos)
      << diags.text();
}

TEST(PassManager, NamesThePassThatBrokeTheProgram) {
  plan::Program p = program(kText);
  Diags diags;
  PassOptions options;
  options.print_after = {"fold-constants"};
  // The printer stands between a pass and its verification, so it can play a broken pass.
  options.print = [](const Pass&, const plan::Program& now) {
    const_cast<plan::Program&>(now).functions[1].results.clear();
  };
  EXPECT_FALSE(run(p, options, diags.engine));
  EXPECT_NE(diags.text().find("SK3090 0:0: the plan does not verify after fold-constants"), std::string::npos)
      << diags.text();
}

TEST(PassManager, TableIsComplete) {
  EXPECT_EQ(all().size(), 4u);
  for (const Pass& p : all()) {
    EXPECT_EQ(find(p.name), &p);
    EXPECT_FALSE(p.summary.empty());
  }
  EXPECT_EQ(find("no-such-pass"), nullptr);
  EXPECT_EQ(name(PassKind::Canonicalise), "canonicalise");
}

}  // namespace
}  // namespace skdsl::passes
