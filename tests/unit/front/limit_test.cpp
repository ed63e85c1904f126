// Inputs made to break a parser: each ends in a tree or in one clear error.
#include "tests/support/random_sk.h"
#include "tests/unit/front/front.h"

namespace skdsl {
namespace {

using test::Parsed;

std::string repeated(const std::string& text, int n) {
  std::string out;
  out.reserve(text.size() * static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) out += text;
  return out;
}
std::string brief(const std::string& text) { return Parsed(text).brief(); }

void expect_good(const std::string& text) {
  const Parsed p(text);
  EXPECT_EQ(p.brief(), "");
  const std::string printed = ast::print(p.tree);
  const Parsed again(printed);
  EXPECT_EQ(again.brief(), "");
  EXPECT_TRUE(ast::equal(p.tree, p.tree.root, again.tree, again.tree.root));
  EXPECT_FALSE(ast::dump(p.tree).empty());
}

TEST(Limits, BracketsNestToTheirDepth) {
  expect_good("x = " + repeated("(", 256) + "1" + repeated(")", 256));
  expect_good("fn f() {" + repeated("if a {", 255) + repeated("}", 256));
  expect_good(repeated("superkernel \"a\" <\n", 256) + "x = 1\n" + repeated(">\n", 256));
  EXPECT_EQ(brief("x = " + repeated("(", 257) + "1" + repeated(")", 257)),
            "SK1005 1:261 brackets are nested deeper than 256\n");
  EXPECT_EQ(brief("x = " + repeated("[", 10000) + repeated("]", 10000)),
            "SK1005 1:261 brackets are nested deeper than 256\n");
  EXPECT_EQ(brief("fn f() {\n" + repeated("if a {\n", 10000) + repeated("}\n", 10001)),
            "SK1005 257:6 brackets are nested deeper than 256\n");
  EXPECT_EQ(brief(repeated("{", 1000000)), "SK1005 1:257 brackets are nested deeper than 256\n");
}

TEST(Limits, ChainsOfConditions) {
  expect_good("x = " + repeated("if a then b else ", 4000) + "c");
  EXPECT_EQ(brief("x = " + repeated("if a then b else ", 10000) + "c"),
            "SK1006 1:5 expression has more than 4096 operators in a row\n");
  EXPECT_EQ(brief("x = " + repeated("if a then ", 10000) + "c" + repeated(" else d", 10000)),
            "SK1005 1:2565 conditional expressions are nested deeper than 256\n");
  EXPECT_EQ(brief("x = " + repeated("if ", 10000) + "c"),
            "SK1005 1:773 conditional expressions are nested deeper than 256\n");
  expect_good("if a { x = 1 }" + repeated(" else if b { x = 2 }", 4000));
  EXPECT_EQ(brief("if a { x = 1 }" + repeated(" else if b { x = 2 }", 10000)),
            "SK1005 1:81924 branches of `else if` are nested deeper than 4096\n");
}

TEST(Limits, ChainsOfOperators) {
  expect_good("x = 1" + repeated(" + 1", 4096));
  expect_good("x = a" + repeated(" ** b", 4000));
  expect_good("x = a" + repeated(".b", 4000));
  expect_good("x = " + repeated("not ", 4000) + "a");
  const std::string error = "SK1006 1:5 expression has more than 4096 operators in a row\n";
  EXPECT_EQ(brief("x = 1" + repeated(" + 1", 4097)), error);
  EXPECT_EQ(brief("x = a" + repeated(".b", 10000)), error);
  EXPECT_EQ(brief("x = a" + repeated("()", 10000)), error);
  EXPECT_EQ(brief("x = " + repeated("-", 1000000) + "1"), error);
}

TEST(Limits, ChainsInsideBracketsDoNotMultiply) {
  std::string spine = "1";
  for (int i = 0; i < 40; ++i) spine = "(" + spine + ")" + repeated("+1", 2000);
  const Parsed p("x = " + spine);
  ASSERT_EQ(p.diags.all().size(), 1u);
  EXPECT_EQ(p.diags.all()[0].id, diag::Id::ChainTooLong);
}

TEST(Limits, OneLineOfFiveMegabytes) {
  std::string list = "x = [0";
  while (list.size() < (5u << 20)) list += ", 1234567";
  const Parsed p(list + "]\ny = = 1");
  EXPECT_EQ(p.brief(), "SK1001 2:5 expected an expression before `=`\n");
  EXPECT_EQ(p.tree.children(p.tree.root).size(), 1u);
  const Parsed q(list + " 3]");
  ASSERT_EQ(q.diags.all().size(), 1u);
  EXPECT_LT(q.messages().size(), 800u);
  std::string statements;
  while (statements.size() < (5u << 20)) statements += "x = f(a, b); ";
  EXPECT_EQ(brief(statements), "");
}

TEST(Limits, AMillionLines) {
  const int lines = test::count(200000, 1000000);
  const Parsed p(repeated("x = add(y, 1)\n", lines));
  EXPECT_EQ(p.brief(), "");
  EXPECT_EQ(p.tree.children(p.tree.root).size(), static_cast<size_t>(lines));
  EXPECT_EQ(brief(repeated("\n", lines)), "");
  const Parsed comments(repeated("// c\n", lines));
  EXPECT_EQ(comments.tree.find_comments(comments.tree.root)->inner.size(), static_cast<size_t>(lines));
}

TEST(Limits, AMillionErrorsAreNotAllShown) {
  const int lines = test::count(200000, 1000000);
  for (const char* line : {"a b\n", "a $ b\n", "}\n", ")\n", "x = \"\n", "x = (\n"}) {
    const Parsed p(repeated(line, lines));
    EXPECT_TRUE(p.diags.has_errors()) << line;
    EXPECT_LE(p.diags.all().size(), 102u) << line;
  }
}

TEST(Limits, RandomTextNeverCrashes) {
  static constexpr std::string_view kPieces[] = {
      "(",      ")",      "[",       "]",     "{",        "}",     "<",   ">",           "\n",
      ";",      ",",      "=",       "==",    ".",        "..",    "->",  ":",           "+",
      "-",      "**",     "\"",      "\"a{",  "}\"",      "//",    "#!",  "x",           "1",
      "1.5",    "18MiB",  " ",       "\t",    "\\",       "$",     "ü",   "superkernel", "layer",
      "model",  "config", "fn",      "if",    "then",     "else",  "for", "in",          "when",
      "weight", "from",   "stream",  "cores", "prefetch", "after", "max", "let",         "return",
      "not",    "and",    "replace", "by",    "extern",   "op",    "none"};
  const int texts = test::count(2000, 50000);
  std::printf("seeds 1 to %d\n", texts);
  for (int seed = 1; seed <= texts; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    std::string text;
    for (int i = 0; i < 120; ++i) {
      text += kPieces[random() % std::size(kPieces)];
      if (random() % 2 == 0) text += ' ';
    }
    const Parsed p(text);
    ASSERT_NE(p.tree.root, 0u) << "seed " << seed;
    (void)p.messages();
    if (!p.diags.has_errors()) {
      const Parsed again(ast::print(p.tree));
      ASSERT_TRUE(ast::equal(p.tree, p.tree.root, again.tree, again.tree.root)) << "seed " << seed << "\n"
                                                                                << text;
    }
  }
}

TEST(Limits, DamagedProgramsNeverCrash) {
  const int texts = test::count(1500, 50000);
  std::printf("seeds 1 to %d\n", texts);
  for (int seed = 1; seed <= texts; ++seed) {
    test::RandomSk source(static_cast<uint64_t>(seed));
    std::string text = source.program(5);
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    for (int i = 0; i < 3 && !text.empty(); ++i) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 3);
          break;
        case 1:
          text.insert(at, 1, "(){}[]<>\"=;\n"[random() % 12]);
          break;
        default:
          text[at] = static_cast<char>(32 + random() % 95);
      }
    }
    if (!source::check_text("t", text)) continue;
    const Parsed p(text);
    (void)p.messages();
    const std::string printed = ast::print(p.tree);
    if (p.diags.has_errors()) continue;
    const Parsed again(printed);
    ASSERT_TRUE(ast::equal(p.tree, p.tree.root, again.tree, again.tree.root)) << "seed " << seed << "\n"
                                                                              << text << "\n----\n"
                                                                              << printed << again.messages();
  }
}

}  // namespace
}  // namespace skdsl
