#include "tests/unit/front/front.h"

namespace skdsl {
namespace {

using test::Parsed;

std::string tree(const std::string& text) {
  const Parsed p(text);
  EXPECT_EQ(p.messages(), "") << text;
  return p.tree_text();
}
/// The tree of `x = <expression>`.
std::string expression(const std::string& text) {
  const std::string all = tree("x = " + text);
  const std::string head = "(Assign (Name x) ";
  return all.starts_with(head) ? all.substr(head.size(), all.size() - head.size() - 1) : all;
}

class Sketch : public testing::TestWithParam<const char*> {};
TEST_P(Sketch, ParsesAndPrintsToTheSameTree) {
  const Parsed p(test::data(std::string("sketch/") + GetParam() + ".sk"));
  EXPECT_EQ(p.messages(), "");
  const std::string printed = ast::print(p.tree);
  const Parsed again(printed);
  EXPECT_EQ(again.messages(), "");
  EXPECT_TRUE(ast::equal(p.tree, p.tree.root, again.tree, again.tree.root));
  EXPECT_EQ(ast::print(again.tree), printed);
}
INSTANTIATE_TEST_SUITE_P(All, Sketch,
                         testing::Values("base", "mlp", "moe", "attention", "longcat", "llama", "language"));

TEST(Tree, SketchHasItsDeclarations) {
  const Parsed p(test::data("sketch/longcat.sk"));
  std::string kinds;
  for (const ast::NodeId id : p.tree.children(p.tree.root))
    kinds += std::string(ast::name(p.tree.kind(id))) + " ";
  EXPECT_EQ(kinds, "Import Import Import Import Config Layer Model ");
}

TEST(Tree, Precedence) {
  EXPECT_EQ(expression("a or b and not c == d + e * f"),
            "(Binary or (Name a) (Binary and (Name b) (Unary not (Binary == (Name c) (Binary + (Name d) "
            "(Binary * (Name e) (Name f)))))))");
  EXPECT_EQ(expression("a - b - c"), "(Binary - (Binary - (Name a) (Name b)) (Name c))");
  EXPECT_EQ(expression("a ** b ** c"), "(Binary ** (Name a) (Binary ** (Name b) (Name c)))");
  EXPECT_EQ(expression("-a ** -b"), "(Unary - (Binary ** (Name a) (Unary - (Name b))))");
  EXPECT_EQ(expression("a * -b + c"), "(Binary + (Binary * (Name a) (Unary - (Name b))) (Name c))");
  EXPECT_EQ(expression("D ** -0.5"), "(Binary ** (Name D) (Unary - (Float 0.5)))");
  EXPECT_EQ(expression("(a + b) * c"), "(Binary * (Paren (Binary + (Name a) (Name b))) (Name c))");
  EXPECT_EQ(expression("not not a"), "(Unary not (Unary not (Name a)))");
  EXPECT_EQ(expression("if a then b else if c then d else e + 1"),
            "(IfExpr (Name a) (Name b) (IfExpr (Name c) (Name d) (Binary + (Name e) (Int 1))))");
}

TEST(Tree, CallsIndicesMembers) {
  EXPECT_EQ(expression("attn[0].o_proj(x, eps = 1e-6).decode[:, ..2, 1.., a..b]"),
            "(Index (Member decode (Call (Member o_proj (Index (Name attn) (Int 0))) (Arg (Name x)) (Arg eps "
            "(Float 1e-6)))) "
            "(Range - -) (Range - (Int 2)) (Range (Int 1) -) (Range (Name a) (Name b)))");
  EXPECT_EQ(expression("[D(i) for i in 0..n]"),
            "(Comprehension i (Call (Name D) (Arg (Name i))) (Range (Int 0) (Name n)))");
  EXPECT_EQ(expression("[1, 2,]"), "(List (Int 1) (Int 2))");
  EXPECT_EQ(expression("[]"), "(List)");
  EXPECT_EQ(expression("18MiB"), "(Bytes 18MiB)");
  EXPECT_EQ(expression("0x1f + 1_000"), "(Binary + (Int 0x1f) (Int 1_000))");
  EXPECT_EQ(expression("x\n"), "(Name x)");
}

TEST(Tree, Strings) {
  EXPECT_EQ(
      expression(R"("scope_{i}_part{j + 1}")"),
      "(Str scope_{i}_part{j + 1} (StrPart scope_) (Name i) (StrPart _part) (Binary + (Name j) (Int 1)))");
  EXPECT_EQ(expression(R"("a{{b}}\"\n\\")"), "(Str a{{b}}\\\"\\n\\\\ (StrPart a{b}\"\n\\))");
  EXPECT_EQ(expression(R"("")"), "(Str)");
  EXPECT_EQ(expression(R"("// no comment")"), "(Str // no comment (StrPart // no comment))");
  EXPECT_EQ(expression(R"("{cfg.n[0](a, b = 2)}")"),
            "(Str {cfg.n[0](a, b = 2)} (Call (Index (Member n (Name cfg)) (Int 0)) (Arg (Name a)) (Arg b "
            "(Int 2))))");
}

TEST(Tree, InterpolationsKnowTheirPlace) {
  const Parsed p("y = \"ab{ i + 1 }\"");
  const ast::NodeId str = p.tree.child(p.tree.child(p.tree.root, 0), 1);
  const ast::NodeId sum = p.tree.child(str, 1);
  EXPECT_EQ(p.sources.text(p.tree.span(sum)), "i + 1");
  EXPECT_EQ(p.sources.text(p.tree.span(p.tree.child(str, 0))), "ab");
}

TEST(Tree, Statements) {
  EXPECT_EQ(tree("a, b = f(x)\nreturn a, b; return\nlet c = 1, d = 2"),
            "(Assign (Tuple (Name a) (Name b)) (Call (Name f) (Arg (Name x)))) (Return (Tuple (Name a) (Name "
            "b))) (Return -) "
            "(Let (Binding c (Int 1)) (Binding d (Int 2)))");
  EXPECT_EQ(tree("if a { x = 1 } else if b { } else { f() }"),
            "(If (Name a) (Block (Assign (Name x) (Int 1))) (If (Name b) (Block) (Block (ExprStmt (Call "
            "(Name f))))))");
  EXPECT_EQ(tree("if a { }\n\nelse { }"), "(If (Name a) (Block) (Block))");
  EXPECT_EQ(tree("if a then b else c"), "(ExprStmt (IfExpr (Name a) (Name b) (Name c)))");
  EXPECT_EQ(tree("while c > 0 { c = c - 1 }"),
            "(While (Binary > (Name c) (Int 0)) (Block (Assign (Name c) (Binary - (Name c) (Int 1)))))");
  EXPECT_EQ(tree("for i in 0..n { }\nfor x in xs { }"),
            "(For i (Range (Int 0) (Name n)) (Block)) (For x (Name xs) (Block))");
  EXPECT_EQ(tree("event e; record e; wait e\ngears [2, 4]\ndump x; tap (y)"),
            "(Event e) (Record (Name e)) (Wait (Name e)) (Gears (List (Int 2) (Int 4))) (Dump dump (Name x)) "
            "(Dump tap (Paren (Name y)))");
  EXPECT_EQ(tree("scope_begin \"x\"; scope_end \"x\""),
            "(ScopeBegin (Str x (StrPart x))) (ScopeEnd (Str x (StrPart x)))");
  EXPECT_EQ(tree("prefetch a.w after b[0].out max 18MiB when c"),
            "(Prefetch (Member w (Name a)) (Member out (Index (Name b) (Int 0))) (Bytes 18MiB) (Name c))");
  EXPECT_EQ(tree("prefetch a after b"), "(Prefetch (Name a) (Name b) - -)");
}

TEST(Tree, ScheduleBlocks) {
  EXPECT_EQ(tree("stream \"moe\" (priority = 0) when c { f() }"),
            "(Stream (Str moe (StrPart moe)) (Options (Option priority (Int 0))) (Name c) (Block (ExprStmt "
            "(Call (Name f)))))");
  EXPECT_EQ(tree("cores(aic = 8, aiv = 16) { }"),
            "(Cores (Options (Option aic (Int 8)) (Option aiv (Int 16))) - (Block))");
  EXPECT_EQ(tree("superkernel \"s\" (stream-fusion = 1) when a and (b < 3) < x = a > b; y = x < 2 >"),
            "(SuperKernel (Str s (StrPart s)) (Options (Option stream-fusion (Int 1))) (Binary and (Name a) "
            "(Paren (Binary < (Name b) (Int 3)))) "
            "(Block (Assign (Name x) (Binary > (Name a) (Name b))) (Assign (Name y) (Binary < (Name x) (Int "
            "2)))))");
  EXPECT_EQ(tree("superkernel none <\n  x = a\n>"),
            "(SuperKernel none - (Options) - (Block (Assign (Name x) (Name a))))");
  EXPECT_EQ(tree("superkernel \"a\" < superkernel \"b\" < x = 1 > >\ny = 2"),
            "(SuperKernel (Str a (StrPart a)) (Options) - (Block (SuperKernel (Str b (StrPart b)) (Options) "
            "- (Block (Assign (Name x) (Int 1)))))) "
            "(Assign (Name y) (Int 2))");
  EXPECT_EQ(tree("stream \"1\" { superkernel \"a\" < x = f(a > b,\n c) > }"),
            "(Stream (Str 1 (StrPart 1)) (Options) - (Block (SuperKernel (Str a (StrPart a)) (Options) - "
            "(Block (Assign (Name x) (Call (Name f) (Arg (Binary > (Name a) (Name b))) (Arg (Name c))))))))");
}

TEST(Tree, Declarations) {
  EXPECT_EQ(tree("config { a: int = 1; b: str\n g { c: bool = true }\n require a > 0, \"m\" }"),
            "(Config (ConfigEntry a (TypeName int) (Int 1)) (ConfigEntry b (TypeName str) -) "
            "(ConfigGroup g (ConfigEntry c (TypeName bool) (Bool true))) (Require (Binary > (Name a) (Int "
            "0)) (Str m (StrPart m))))");
  EXPECT_EQ(tree("layer L(n: int, d: dtype = act) { weight w: [n, 2 * n] from [\"a\", \"b\"] for e in 0..n "
                 "when n\n state s: act[n] uninitialized }"),
            "(Layer L (Params (Param n (TypeName int) -) (Param d (TypeName dtype) (Name act))) "
            "(Weight w (TypeTensor (Name n) (Binary * (Int 2) (Name n))) (From (List (Str a (StrPart a)) "
            "(Str b (StrPart b))) (ForClause e (Range (Int 0) (Name n)))) (Name n)) "
            "(State s !1 (TypeTensor act (Name n))))");
  EXPECT_EQ(
      tree("model M { default_weights \"d\"; unused \"m.*\"; const a, b: f32[2] = t(1); x = L(2)[3] from "
           "\"x.{k}\" }"),
      "(Model M (DefaultWeights d) (Unused (Str m.* (StrPart m.*))) (Const (ConstName a -) (ConstName b "
      "(TypeTensor f32 (Int 2))) (Call (Name t) (Arg (Int 1)))) "
      "(Instance x (Index (Call (Name L) (Arg (Int 2))) (Int 3)) (From (Str x.{k} (StrPart x.) (Name k))) "
      "-))");
  EXPECT_EQ(tree("fn f(x: list[int]) -> (act[T], i32[]) { return x, x }"),
            "(Fn f (Params (Param x (TypeList (TypeName int)) -)) (TypeTuple (TypeTensor act (Name T)) "
            "(TypeTensor i32)) (Block (Return (Tuple (Name x) (Name x)))))");
  EXPECT_EQ(tree("import \"std/a.sk\"\nextern op foo(x: act[T]) -> act[T]\nreplace p(x: act[T]) { return "
                 "f(x) } by { return g(x) }"),
            "(Import std/a.sk) (Extern foo (Params (Param x (TypeTensor act (Name T)) -)) (TypeTensor act "
            "(Name T))) "
            "(Replace p (Params (Param x (TypeTensor act (Name T)) -)) (Block (Return (Call (Name f) (Arg "
            "(Name x))))) (Block (Return (Call (Name g) (Arg (Name x))))))");
  EXPECT_EQ(tree("draft D { prefill(x: act[T]) { } }"),
            "(Draft D (PhaseDecl prefill (Params (Param x (TypeTensor act (Name T)) -)) - (Block)))");
}

TEST(Tree, WordsAreKeywordsOnlyInTheirPlace) {
  EXPECT_EQ(tree("stream = 1; event = max(from, by); cores = model.config"),
            "(Assign (Name stream) (Int 1)) (Assign (Name event) (Call (Name max) (Arg (Name from)) (Arg "
            "(Name by)))) (Assign (Name cores) (Member config (Name model)))");
  EXPECT_EQ(tree("m.decode(x); y.for.while = 2; wait(e); f(in = 1, for = 2)"),
            "(ExprStmt (Call (Member decode (Name m)) (Arg (Name x)))) (Assign (Member while (Member for "
            "(Name y))) (Int 2)) "
            "(ExprStmt (Call (Name wait) (Arg (Name e)))) (ExprStmt (Call (Name f) (Arg in (Int 1)) (Arg for "
            "(Int 2))))");
  EXPECT_EQ(tree("prefetch max after after max max"), "(Prefetch (Name max) (Name after) (Name max) -)");
  EXPECT_EQ(tree("layer L() { weight from: [1] from \"from\"\n op = max() from \"x\" }"),
            "(Layer L (Params) (Weight from (TypeTensor (Int 1)) (From (Str from (StrPart from))) -) "
            "(Instance op (Call (Name max)) (From (Str x (StrPart x))) -))");
}

TEST(Tree, NewlinesEndStatementsOnlyWhereTheyShould) {
  EXPECT_EQ(tree("x = f(a,\n  b\n)\n\n;;\ny = a +\n  b\nz =\n  c\nw = if a then\n b else\n c"),
            "(Assign (Name x) (Call (Name f) (Arg (Name a)) (Arg (Name b)))) (Assign (Name y) (Binary + "
            "(Name a) (Name b))) (Assign (Name z) (Name c)) "
            "(Assign (Name w) (IfExpr (Name a) (Name b) (Name c)))");
  EXPECT_EQ(tree("x = a.or\ny = b"), "(Assign (Name x) (Member or (Name a))) (Assign (Name y) (Name b))");
  EXPECT_EQ(tree("x = 1\r\ny = 2\r\n"), "(Assign (Name x) (Int 1)) (Assign (Name y) (Int 2))");
  EXPECT_EQ(tree("\xef\xbb\xbfx = 1"), "(Assign (Name x) (Int 1))");
}

TEST(Tree, SpansCoverTheirText) {
  const std::string text =
      "layer L(n: int) {\n  forward(x: act[T, n]) -> act[T, n] { return add(x, -x) }\n}\n";
  const Parsed p(text);
  for (ast::NodeId id = 1; id < p.tree.size(); ++id) {
    const Span span = p.tree.span(id);
    EXPECT_TRUE(span) << id;
    EXPECT_LE(span.begin, span.end);
    for (const ast::NodeId child : p.tree.children(id)) {
      if (child == 0) continue;
      EXPECT_GE(p.tree.span(child).begin, span.begin) << ast::name(p.tree.kind(id));
      EXPECT_LE(p.tree.span(child).end, span.end) << ast::name(p.tree.kind(id));
    }
  }
  const ast::NodeId layer = p.tree.child(p.tree.root, 0);
  EXPECT_EQ(p.sources.text(p.tree.name_span(layer)), "L");
  EXPECT_EQ(p.sources.text(p.tree.span(layer)), text.substr(0, text.size() - 1));
  const ast::NodeId phase = p.tree.child(layer, 1);
  const ast::NodeId call = p.tree.child(p.tree.child(p.tree.child(phase, 2), 0), 0);
  EXPECT_EQ(p.sources.text(p.tree.span(call)), "add(x, -x)");
}

}  // namespace
}  // namespace skdsl
