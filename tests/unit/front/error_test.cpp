#include "tests/unit/front/front.h"

namespace skdsl {
namespace {

using test::Parsed;

std::string brief(const std::string& text) { return Parsed(text).brief(); }

TEST(SyntaxErrors, PointAtTheWrongText) {
  EXPECT_EQ(Parsed("fn f(x: act[T]) {\n  y = add(x, * 2)\n}\n").messages(),
            "error[SK1001]: expected an expression before `*`\n"
            "  --> t.sk:2:14\n"
            "   |\n"
            " 2 |   y = add(x, * 2)\n"
            "   |              ^\n"
            "   = help: write the operand, or leave `*` out\n");
}

TEST(SyntaxErrors, SeveralInOneRunEachOnce) {
  EXPECT_EQ(brief("layer Bar(dim int) {\n"
                  "  weight w [dim]\n"
                  "  forward(x: act[T]) -> act[T] {\n"
                  "    y = = x\n"
                  "    let z 3\n"
                  "    ok = 1\n"
                  "    x = 3 4\n"
                  "    if x = 3 { y = x y }\n"
                  "  }\n"
                  "}\n"
                  "x = f(a b)\n"
                  "cores(aic 8) { }\n"),
            "SK1001 1:15 expected `:` before `int`\n"
            "SK1001 2:12 expected `:` before `[`\n"
            "SK1001 4:9 expected an expression before `=`\n"
            "SK1001 5:11 expected `=` before `3`\n"
            "SK1001 7:11 expected newline or `;` before `4`\n"
            "SK1001 8:10 expected `{` before `=`\n"
            "SK1001 8:22 expected newline or `;` before `y`\n"
            "SK1001 11:9 expected `)` before `b`\n"
            "SK1001 12:11 expected `=` before `8`\n");
}

TEST(SyntaxErrors, WhatIsRightIsInTheTree) {
  const Parsed p("fn f() {\n  a = 1\n  b = = 2\n  c = 3\n}\nx = )\ny = 4\n");
  EXPECT_EQ(p.diags.errors(), 2u);
  EXPECT_EQ(p.tree_text(),
            "(Fn f (Params) - (Block (Assign (Name a) (Int 1)) (Assign (Name c) (Int 3)))) (Assign (Name y) "
            "(Int 4))");
}

TEST(SyntaxErrors, EndsOfLinesAndFiles) {
  EXPECT_EQ(brief("x = f."), "SK1001 1:7 expected a name before the end of the file\n");
  EXPECT_EQ(brief("let x\ny = 1"), "SK1001 1:6 expected `=` before the end of the line\n");
  EXPECT_EQ(brief("let x; y = 1"), "SK1001 1:6 expected `=` before `;`\n");
  EXPECT_EQ(brief("fn f() { let x }"), "SK1001 1:16 expected `=` before `}`\n");
  EXPECT_EQ(brief("x = f(a; b)"), "SK1001 1:8 expected `)` before `;`\n");
}

TEST(SyntaxErrors, SayWhereALineWasContinued) {
  const Parsed p("config {\n  a: int =\n  b: int = 2\n}\n");
  ASSERT_EQ(p.diags.all().size(), 1u);
  EXPECT_EQ(p.brief(), "SK1001 3:4 expected newline or `;` before `:`\n");
  ASSERT_EQ(p.diags.all()[0].helps.size(), 1u);
  EXPECT_EQ(p.diags.all()[0].helps[0], "the line before ends in `=`, so the statement goes on in this one");
}

TEST(SyntaxErrors, DidYouMeanKeywords) {
  const auto help = [](const std::string& text) {
    const Parsed p(text);
    EXPECT_EQ(p.diags.all().size(), 1u) << p.messages();
    return p.diags.all().empty() || p.diags.all()[0].helps.empty() ? std::string()
                                                                   : p.diags.all()[0].helps[0];
  };
  EXPECT_EQ(help("layr Foo(dim: int) {\n weight w: [dim]\n forward(x: act[T]) { return x }\n}"),
            "did you mean `layer`?");
  EXPECT_EQ(help("modl Foo {\n unused \"x\"\n}"), "did you mean `model`?");
  EXPECT_EQ(help("layer L() {\n forwrd(x: act[T]) -> act[T] { return x }\n}"), "did you mean `forward`?");
  EXPECT_EQ(help("layer L() {\n wieght w: [2]\n}"), "did you mean `weight`?");
  EXPECT_EQ(help("imprt \"a.sk\""), "did you mean `import`?");
  EXPECT_EQ(help("fn f() {\n retrun x\n}"), "did you mean `return`?");
  EXPECT_EQ(help("cores(aic = 8) wehn multi { }"), "did you mean `when`?");
  EXPECT_EQ(help("superkernal \"a\" <\n x = 1\n>"), "did you mean `superkernel`?");
}

TEST(SyntaxErrors, KnowWhereThingsBelong) {
  EXPECT_EQ(brief("weight w: [2]"), "SK1001 1:1 `weight` stands in a layer or model, not here\n");
  EXPECT_EQ(brief("model M {\n  return 3\n}"),
            "SK1001 2:3 `return` stands in a function or phase body, not here\n");
  EXPECT_EQ(brief("config {\n  layer L() { }\n}"),
            "SK1001 2:3 `layer` stands in the top level of a file, not here\n");
  EXPECT_EQ(brief("require a > 1"), "SK1001 1:1 `require` stands in `config { … }`, not here\n");
  EXPECT_EQ(brief("* 3"), "SK1001 1:1 expected a declaration or statement before `*`\n");
  EXPECT_EQ(brief("layer L() {\n  3\n}"),
            "SK1001 2:3 expected a member such as `weight`, `state` or `name = Layer(…)` before `3`\n");
}

TEST(SyntaxErrors, OfTheTreeItself) {
  EXPECT_EQ(brief("f(x) = 3"), "SK1001 1:1 expected a name, an element or a member on the left of `=`\n");
  EXPECT_EQ(brief("a, b[0] = f()"), "SK1001 1:4 expected a name on the left of `=`\n");
  EXPECT_EQ(brief("a, b"), "SK1001 1:1 a list of values alone does nothing\n");
  EXPECT_EQ(brief("x = 1 < 2 < 3"), "SK1001 1:11 comparisons do not chain\n");
  EXPECT_EQ(brief("x = a == not b"), "SK1001 1:10 `not` cannot follow `==`\n");
  EXPECT_EQ(brief("if a { } else { } else { }"), "SK1001 1:19 `else` follows an `else` without `if`\n");
  EXPECT_EQ(brief("if a { } else { } else if b { }"), "SK1001 1:19 `else` follows an `else` without `if`\n");
  EXPECT_EQ(brief("fn f(x: list[1]) { }"), "SK1001 1:14 expected a type as the element of `list[…]`\n");
  EXPECT_EQ(brief("prefetch -a after b"), "SK1001 1:13 expected newline or `;` before `after`\n");
}

TEST(Numbers, MustFit) {
  EXPECT_EQ(brief("x = 9223372036854775807"), "");
  EXPECT_EQ(brief("x = 9223372036854775808"),
            "SK1010 1:5 number `9223372036854775808` does not fit 64 bits\n");
  EXPECT_EQ(brief("x = 0xffffffffffffffff"), "SK1010 1:5 number `0xffffffffffffffff` does not fit 64 bits\n");
  EXPECT_EQ(brief("x = 1e308; y = 1e309"), "SK1010 1:16 number `1e309` does not fit a 64-bit float\n");
  EXPECT_EQ(brief("prefetch a after b max 99999999999GiB"),
            "SK1010 1:24 number `99999999999GiB` does not fit 64 bits\n");
}

TEST(Brackets, AreReportedWhereTheyAre) {
  EXPECT_EQ(brief("x = f(a, b\ny = 3\n"), "SK1004 1:6 `(` is never closed\n");
  EXPECT_EQ(brief("x = f(a))\ny = = 3\n"),
            "SK1004 1:9 `)` closes nothing\nSK1001 2:5 expected an expression before `=`\n");
  EXPECT_EQ(brief("x = [1, 2)\n"), "SK1004 1:10 `)` closes `[`\n");
  EXPECT_EQ(brief("fn f() {\n  y = add(x,\n  return x\n}\nfn g() { z = = 1 }"),
            "SK1004 2:10 `(` is never closed\nSK1001 5:14 expected an expression before `=`\n");
  EXPECT_EQ(brief("fn f() {\n  y = 1\n"), "SK1004 1:8 `{` is never closed\n");
  EXPECT_EQ(brief("fn f() { }\n}\nx = 1"), "SK1004 2:1 `}` closes nothing\n");
}

TEST(Brackets, IndentationTellsWhichOneIsMissing) {
  EXPECT_EQ(brief("layer A() {\n  forward(x: act[T]) {\n    if c {\n      x = 1\n  }\n}\nlayer B() {\n  "
                  "state s: act[2]\n}\n"),
            "SK1004 3:10 `{` is never closed\n");
  EXPECT_EQ(brief("layer A() {\n  forward(x: act[T]) {\n    x = 1\n\nlayer B() {\n  state s: act[2]\n}\n"),
            "SK1004 1:11 `{` is never closed\nSK1004 2:22 `{` is never closed\n");
}

TEST(Brackets, OfSuperKernels) {
  EXPECT_EQ(brief("fn f() {\n  superkernel \"a\" <\n    x = 1\n}\n"),
            "SK305 2:19 this `<` of a super kernel is never closed by `>`\n");
  EXPECT_EQ(brief("fn f() {\n  superkernel \"a\"\n  x = 1\n}\n"),
            "SK1001 2:18 expected `<` before the end of the line\n");
  EXPECT_EQ(brief("superkernel \"a\" { x = 1 }\n"), "SK1001 1:17 expected `<` before `{`\n");
}

TEST(Characters, WithoutMeaning) {
  EXPECT_EQ(
      Parsed("x = a && b\ny = 'c'\nz = “d”\n").messages(),
      "error[SK1002]: character `&` has no meaning here\n"
      "  --> t.sk:1:7\n   |\n 1 | x = a && b\n   |       ^\n   = help: write `and`\n"
      "error[SK1002]: character `'` has no meaning here\n"
      "  --> t.sk:2:5\n   |\n 2 | y = 'c'\n   |     ^\n   = help: strings stand in double quotes: \"…\"\n"
      "error[SK1002]: character `“` has no meaning here\n"
      "  --> t.sk:3:5\n   |\n 3 | z = “d”\n   |     ^\n   = help: strings stand in plain double quotes: "
      "\"…\"\n");
  EXPECT_EQ(brief("x = 1 \x01 2"), "SK1002 1:7 character 0x01 has no meaning here\n");
  EXPECT_EQ(brief("x = \x7f"), "SK1002 1:5 character 0x7f has no meaning here\n");
}

TEST(StringErrors, NameThePlace) {
  EXPECT_EQ(brief("x = \"abc\ny = 1"), "SK1003 1:5 string is not closed on its line\n");
  EXPECT_EQ(brief("x = \"a\\q\""), "SK1001 1:7 unknown escape `\\q` in a string\n");
  EXPECT_EQ(brief("x = \"{a\""), "SK1001 1:6 `{` in a string begins an expression, which no `}` ends\n");
  EXPECT_EQ(brief("x = \"a}\""), "SK1001 1:7 `}` in a string closes nothing\n");
  EXPECT_EQ(brief("x = \"{}\""), "SK1001 1:6 `{}` in a string holds no expression\n");
  EXPECT_EQ(brief("x = \"{a +}\""), "SK1001 1:10 expected an expression before `}`\n");
  EXPECT_EQ(brief("x = \"{f(a}\""), "SK1004 1:8 `(` is never closed\n");
  EXPECT_EQ(brief("x = \"{a b}\""), "SK1001 1:9 expected `}` before `b`\n");
}

}  // namespace
}  // namespace skdsl
