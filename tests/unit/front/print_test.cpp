#include <regex>

#include "tests/support/random_sk.h"
#include "tests/unit/front/front.h"

namespace skdsl {
namespace {

using test::Parsed;

std::string formatted(const std::string& text) {
  const Parsed p(text);
  EXPECT_EQ(p.messages(), "") << text;
  return ast::print(p.tree);
}

TEST(Print, OneStatementALine) {
  EXPECT_EQ(formatted("import \"a.sk\";import \"b.sk\"\nlayer L( n:int ){weight w:[n] from "
                      "\"w\";forward(x:act[T,n])->act[T,n]{return x+1}}"),
            "import \"a.sk\"\n"
            "import \"b.sk\"\n"
            "layer L(n: int) {\n"
            "  weight w: [n] from \"w\"\n"
            "  forward(x: act[T, n]) -> act[T, n] {\n"
            "    return x + 1\n"
            "  }\n"
            "}\n");
}

TEST(Print, SuperKernelsStandOnSeveralLines) {
  EXPECT_EQ(formatted("stream \"1\" when m { superkernel \"a\" (opt = 1) when c < y = f(x) > }"),
            "stream \"1\" when m {\n"
            "  superkernel \"a\" (opt = 1) when c <\n"
            "    y = f(x)\n"
            "  >\n"
            "}\n");
  EXPECT_EQ(formatted("superkernel none < >"), "superkernel none <\n>\n");
}

TEST(Print, BlocksAndElse) {
  EXPECT_EQ(formatted("if a {x=1}\nelse if b {}\nelse {y=2}"),
            "if a {\n  x = 1\n} else if b {} else {\n  y = 2\n}\n");
  EXPECT_EQ(formatted("fn f() { }"), "fn f() {}\n");
}

TEST(Print, BreaksLongLinesAtOuterCommas) {
  EXPECT_EQ(formatted("o = fused_infer_attention_score(q, k_cache, v_cache, block_table = step.block_table, "
                      "block_size = block_size, "
                      "actual_seq_lengths = step.cu_q, num_heads = H)"),
            "o = fused_infer_attention_score(q, k_cache, v_cache, block_table = step.block_table, block_size "
            "= block_size,\n"
            "    actual_seq_lengths = step.cu_q, num_heads = H)\n");
  std::string sum = "x = a";
  for (int i = 0; i < 60; ++i) sum += " + abc";
  const std::string text = formatted(sum);
  for (std::istringstream lines(text); std::getline(lines, sum);) EXPECT_LE(sum.size(), 110u);
}

TEST(Print, KeepsComments) {
  const std::string text =
      "// file\n"
      "\n"
      "// about a\n"
      "a = 1  // after a\n"
      "\n"
      "fn f() {  // opening\n"
      "  // first\n"
      "  b = 2\n"
      "\n"
      "  #! allow(SK418): measured faster\n"
      "  c = 3  // last\n"
      "\n"
      "  // inner\n"
      "}  // after f\n"
      "// end\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(Print, MovesCommentsOfAStatementBeforeIt) {
  EXPECT_EQ(formatted("x = f(a,  // one\n      b)  // two\n"), "// one\nx = f(a, b)  // two\n");
  EXPECT_EQ(formatted("if a {\n  x = 1\n}  // between\nelse {\n}\n"),
            "if a {\n  x = 1\n  // between\n} else {}\n");
  EXPECT_EQ(formatted("superkernel \"a\" <  // why\n  x = 1 > // done\n"),
            "superkernel \"a\" <  // why\n  x = 1\n>  // done\n");
}

TEST(Print, KeepsOneBlankLineAtMost) {
  EXPECT_EQ(formatted("\n\n\na = 1\n\n\n\nb = 2\n\n"), "a = 1\n\nb = 2\n");
  EXPECT_EQ(formatted("fn f() {\n\n  a = 1\n\n\n  b = 2\n\n}\n"), "fn f() {\n  a = 1\n\n  b = 2\n}\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n\n// only\n\n\n// comments"), "// only\n\n// comments\n");
}

TEST(Print, KeepsSpellings) {
  EXPECT_EQ(formatted("x = ((1_000)) + 0x1F - 1e-5 * 18MiB + \"a{i}{{}}\\n\""),
            "x = ((1_000)) + 0x1F - 1e-5 * 18MiB + \"a{i}{{}}\\n\"\n");
  EXPECT_EQ(formatted("import \"a\\\"{{b\""), "import \"a\\\"{{b\"\n");
}

// Every comment of the source is in the output, once.
void expect_comments(const std::string& printed, int n) {
  std::vector<int> seen(static_cast<size_t>(n), 0);
  static const std::regex pattern("// note ([0-9]+)");
  for (std::sregex_iterator it(printed.begin(), printed.end(), pattern), end; it != end; ++it) {
    const size_t k = std::stoul((*it)[1].str());
    ASSERT_LT(k, seen.size());
    ++seen[k];
  }
  for (size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], 1) << "// note " << k;
}

TEST(Print, RandomProgramsComeBackTheSame) {
  const int programs = test::count(1000, 20000);
  const char* const chosen = std::getenv("SKDSL_SEED");
  const uint64_t base = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(base),
              static_cast<unsigned long long>(base) + static_cast<unsigned long long>(programs) - 1);
  for (int i = 0; i < programs; ++i) {
    const uint64_t seed = base + static_cast<uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomSk random(seed);
    const std::string text = random.program(6);
    const Parsed p(text);
    ASSERT_EQ(p.messages(), "") << text;
    const std::string printed = ast::print(p.tree);
    const Parsed again(printed);
    ASSERT_EQ(again.messages(), "") << printed;
    ASSERT_TRUE(ast::equal(p.tree, p.tree.root, again.tree, again.tree.root)) << text << "\n----\n"
                                                                              << printed;
    ASSERT_EQ(ast::print(again.tree), printed);
    expect_comments(printed, random.comments());
    if (testing::Test::HasFailure()) {
      std::printf("%s\n----\n%s\n", text.c_str(), printed.c_str());
      return;
    }
  }
}

TEST(Equal, SeesEveryDifference) {
  const auto same = [](const std::string& a, const std::string& b) {
    const Parsed x(a), y(b);
    return ast::equal(x.tree, x.tree.root, y.tree, y.tree.root);
  };
  EXPECT_TRUE(same("a=1;b=2", "a = 1\n\n// c\nb = 2"));
  EXPECT_FALSE(same("a = 1", "a = 2"));
  EXPECT_FALSE(same("a = 1", "a = (1)"));
  EXPECT_FALSE(same("a = 1", "a = 1\nb = 2"));
  EXPECT_FALSE(same("a = x - y", "a = x + y"));
  EXPECT_FALSE(same("layer L() { state s: act[2] }", "layer L() { state s: act[2] uninitialized }"));
}

TEST(Dump, OneLineANode) {
  const Parsed p("x = -1");
  EXPECT_EQ(ast::dump(p.tree),
            "File @0..6\n  Assign @0..6\n    Name `x` @0..1\n    Unary `-` @4..6\n      Int `1` @5..6\n");
}

}  // namespace
}  // namespace skdsl
