// Edits of scopes as texts: before and after, comments kept, and what is refused.
#include "cli/repl/edits.h"

#include <gtest/gtest.h>

#include "cli/repl/calls.h"
#include "cli/repl/document.h"
#include "cli/repl/input.h"
#include "cli/repl/scopes.h"

namespace skdsl::cli::repl {
namespace {

/// A layer with this body.
std::string layer(const std::string& body) {
  return "layer Block(i: int) {\n  norm = RmsNorm(8)[2]\n\n  forward(h: act[T, 8]) -> act[T, 8] {\n" + body +
         "    return h\n  }\n}\n";
}

const std::string kTwo = layer(
    "    // first\n"
    "    superkernel \"a_{i}\" when on <\n"
    "      x = norm[0](h)  // kept\n"
    "      // above the sigmoid\n"
    "      y = sigmoid(x)\n"
    "    >\n"
    "    // second\n"
    "    superkernel \"b_{i}\" (feed-sync-all = 1) when on <\n"
    "      h = norm[1](y)\n"
    "    >\n"
    "    z = relu(h)  // outside\n");

std::string body_of(const std::string& text) {
  const size_t begin = text.find("act[T, 8] {\n") + 12;
  return text.substr(begin, text.find("    return h\n") - begin);
}

void expect_text(const Expected<std::string>& got, const std::string& body) {
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(body_of(*got), body);
  EXPECT_FALSE(Document(*got).broken());
  EXPECT_EQ(*formatted(*got), *got) << "an edit leaves the layout of fmt";
}

TEST(Edits, NamesOfScopesArePatterns) {
  EXPECT_TRUE(0 < names_scope("scope_{i}_part1", "scope_0_part1"));
  EXPECT_TRUE(0 < names_scope("scope_{i}_part1", "scope_27_part1"));
  EXPECT_TRUE(0 < names_scope("scope_{i}_part1", "scope_{i}_part1"));
  EXPECT_TRUE(0 == names_scope("scope_{i}_part1", "scope__part1"));
  EXPECT_TRUE(0 == names_scope("scope_{i}_part1", "scope_0_part11"));
  EXPECT_TRUE(0 < names_scope("{a}_{b}", "x_y_z"));
  EXPECT_TRUE(0 == names_scope("plain", "plainer"));
  EXPECT_LT(names_scope("a_{i}", "a_0_2"), names_scope("a_{i}_2", "a_0_2"));
  EXPECT_LT(names_scope("{i}", "a_0"), names_scope("a_0", "a_0"));
}

TEST(Edits, MergeJoinsNeighbours) {
  expect_text(merge(kTwo, "a_0", "b_3"),
              "    // first\n"
              "    superkernel \"a_{i}\" (feed-sync-all = 1) when on <\n"
              "      x = norm[0](h)  // kept\n"
              "      // above the sigmoid\n"
              "      y = sigmoid(x)\n"
              "      // second\n"
              "      h = norm[1](y)\n"
              "    >\n"
              "    z = relu(h)  // outside\n");
}

TEST(Edits, MergeInTheOtherOrderTakesTheFirstName) {
  const auto got = merge(kTwo, "b_{i}", "a_{i}");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_NE(got->find("superkernel \"b_{i}\" (feed-sync-all = 1) when on <\n      x = norm[0](h)  // kept"),
            std::string::npos)
      << *got;
  EXPECT_EQ(got->find("a_{i}"), std::string::npos);
}

TEST(Edits, MergeRenamesWhereSomethingStandsBetween) {
  const auto got = merge(layer("    superkernel \"a\" <\n      x = relu(h)\n    >\n    k = abs(x)\n    "
                               "superkernel \"b\" (stream-fusion = 1) <\n      h = relu(k)\n    >\n"),
                         "a", "b");
  expect_text(got,
              "    superkernel \"a\" (stream-fusion = 1) <\n      x = relu(h)\n    >\n    k = abs(x)\n    "
              "superkernel \"a\" (stream-fusion = 1) <\n      h = relu(k)\n    >\n");
}

TEST(Edits, MergeRefusesOptionsThatDisagree) {
  const auto got = merge(layer("    superkernel \"a\" (stream-fusion = 0) <\n      x = relu(h)\n    >\n    "
                               "superkernel \"b\" (stream-fusion = 1) <\n      h = relu(x)\n    >\n"),
                         "a", "b");
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("stream-fusion"), std::string::npos);
  EXPECT_FALSE(merge(kTwo, "a_0", "a_1"));
  EXPECT_FALSE(merge(kTwo, "a_0", "nothing"));
}

TEST(Edits, SplitStandsBeforeTheStatement) {
  expect_text(split(kTwo, "a_0", "sigmoid", {}),
              "    // first\n"
              "    superkernel \"a_{i}\" when on <\n"
              "      x = norm[0](h)  // kept\n"
              "    >\n"
              "    superkernel \"a_{i}_2\" when on <\n"
              "      // above the sigmoid\n"
              "      y = sigmoid(x)\n"
              "    >\n"
              "    // second\n"
              "    superkernel \"b_{i}\" (feed-sync-all = 1) when on <\n"
              "      h = norm[1](y)\n"
              "    >\n"
              "    z = relu(h)  // outside\n");
}

TEST(Edits, SplitTakesNamesAsReportsTellThem) {
  const std::string three = layer(
      "    superkernel \"a\" <\n      x = norm[0](h)\n      y = norm[1](x)\n      h = relu(y)\n    >\n");
  const auto by_path = split(three, "a", "layers.3.norm.1.rms_norm", {});
  const auto by_source = split(three, "a", "norm[1]", {});
  const auto by_line = split(three, "a", ":7", {});
  const auto by_operator = split(three, "a", "rms_norm", {"layers.0.norm.1.rms_norm"});
  ASSERT_TRUE(by_path && by_source && by_line && by_operator);
  EXPECT_EQ(*by_path, *by_source);
  EXPECT_EQ(*by_path, *by_line);
  EXPECT_EQ(*by_path, *by_operator);
  EXPECT_NE(by_path->find("      x = norm[0](h)\n    >\n    superkernel \"a_2\" <\n      y = norm[1](x)\n"),
            std::string::npos)
      << *by_path;
}

TEST(Edits, SplitRefuses) {
  const auto first = split(kTwo, "a_0", "norm[0]", {});
  ASSERT_FALSE(first);
  EXPECT_NE(first.error().message.find("first statement"), std::string::npos);
  const auto none = split(kTwo, "a_0", "sigmoi", {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().notes.at(0).find("sigmoid"), std::string::npos);
}

TEST(Edits, SplitTwiceThenMergeBack) {
  auto once = split(kTwo, "a_0", "sigmoid", {});
  ASSERT_TRUE(once);
  auto back = merge(*once, "a_0", "a_0_2");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, *formatted(kTwo));
}

TEST(Edits, MoveToTheEndOfAScopeBefore) {
  const auto got = move(kTwo, "relu", "b_0", {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_NE(got->find("      h = norm[1](y)\n      z = relu(h)  // outside\n    >\n    return h\n"),
            std::string::npos)
      << *got;
}

TEST(Edits, MoveToTheBeginningOfAScopeBehind) {
  const auto got = move(kTwo, "sigmoid", "b_0", {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_NE(got->find("when on <\n      // above the sigmoid\n      y = sigmoid(x)\n      h = norm[1](y)\n"),
            std::string::npos)
      << *got;
}

TEST(Edits, MoveRefusesWhatIsThereAlready) {
  EXPECT_FALSE(move(kTwo, "sigmoid", "a_0", {}));
  EXPECT_FALSE(move(kTwo, "gelu", "a_0", {}));
}

TEST(Edits, DropLeavesStatementsAndComments) {
  expect_text(drop(kTwo, "a_0"),
              "    // first\n"
              "    x = norm[0](h)  // kept\n"
              "    // above the sigmoid\n"
              "    y = sigmoid(x)\n"
              "    // second\n"
              "    superkernel \"b_{i}\" (feed-sync-all = 1) when on <\n"
              "      h = norm[1](y)\n"
              "    >\n"
              "    z = relu(h)  // outside\n");
}

TEST(Edits, OptionsAreSetChangedAndTakenAway) {
  const auto header = [](const Expected<std::string>& text, char name) {
    if (!text) return text.error().message;
    const size_t at = text->find(std::string("superkernel \"") + name);
    return text->substr(at, text->find('\n', at) - at);
  };
  EXPECT_EQ(header(set_option(kTwo, "a_0", "stream-fusion", "1"), 'a'),
            "superkernel \"a_{i}\" (stream-fusion = 1) when on <");
  EXPECT_EQ(header(set_option(kTwo, "b_0", "feed-sync-all", "0"), 'b'),
            "superkernel \"b_{i}\" (feed-sync-all = 0) when on <");
  EXPECT_EQ(header(set_option(kTwo, "b_0", "strict-scope-check", "bypass"), 'b'),
            "superkernel \"b_{i}\" (feed-sync-all = 1, strict-scope-check = \"bypass\") when on <");
  EXPECT_EQ(header(set_option(kTwo, "b_0", "feed-sync-all", ""), 'b'), "superkernel \"b_{i}\" when on <");
  EXPECT_FALSE(set_option(kTwo, "a_0", "feed-sync-all", ""));
}

TEST(Edits, StreamsAndCoresWrapChangeAndUnwrap) {
  auto wrapped = set_stream(kTwo, "b_0", "side");
  ASSERT_TRUE(wrapped);
  EXPECT_NE(wrapped->find("    stream \"side\" when on {\n      superkernel \"b_{i}\""), std::string::npos)
      << *wrapped;
  auto other = set_stream(*wrapped, "b_0", "aside");
  ASSERT_TRUE(other);
  EXPECT_NE(other->find("stream \"aside\" when on {"), std::string::npos);
  EXPECT_EQ(other->find("\"side\""), std::string::npos);
  auto cores = set_cores(*other, "b_0", {{"aic", "8"}});
  ASSERT_TRUE(cores);
  auto more = set_cores(*cores, "b_0", {{"aiv", "n"}, {"aic", "4"}});
  ASSERT_TRUE(more);
  EXPECT_NE(more->find("cores(aic = 4, aiv = n) when on {"), std::string::npos) << *more;
  auto without = set_cores(*more, "b_0", {});
  ASSERT_TRUE(without);
  auto back = set_stream(*without, "b_0", "");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, *formatted(kTwo));
  EXPECT_FALSE(set_stream(kTwo, "b_0", ""));
  EXPECT_FALSE(set_cores(kTwo, "b_0", {}));
}

TEST(Edits, PrefetchesComeAndGo) {
  auto with = set_prefetch(kTwo, "b_0", "norm[1].gamma", "x", "4KiB");
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_NE(
      with->find("when on <\n      prefetch norm[1].gamma after x max 4KiB when on\n      h = norm[1](y)\n"),
      std::string::npos)
      << *with;
  auto without = set_prefetch(*with, "b_0", "norm[1].gamma", "", "");
  ASSERT_TRUE(without);
  EXPECT_EQ(*without, *formatted(kTwo));
  EXPECT_FALSE(set_prefetch(kTwo, "b_0", "norm[1].gamma", "", ""));
}

TEST(Edits, UnknownNamesGetANearOne) {
  const auto got = drop(kTwo, "a_{j}");
  ASSERT_FALSE(got);
  EXPECT_FALSE(got.error().notes.empty());
}

TEST(Edits, BrokenFilesAreNotEdited) { EXPECT_FALSE(drop("layer X( {", "a")); }

TEST(Input, BracketsAndBlocksAskForMore) {
  for (const char* whole :
       {"x = 1", ":merge a b", ":split a at attn[", "f(1)", "superkernel \"a\" < x = 1 >",
        "superkernel \"a\" when (n > 2) <\n  x = 1\n>", "x = a < b", "x = \"(\"", "// (", ")"})
    EXPECT_FALSE(needs_more(whole)) << whole;
  for (const char* part :
       {"f(", "fn f(x: int) {", "x = [1,", "superkernel \"a\" <", "superkernel \"a\" when c <\n y = a\n",
        "layer L() {\n superkernel \"a\" <\n x = 1\n >\n", "superkernel \"a\""})
    EXPECT_TRUE(needs_more(part)) << part;
}

TEST(Input, BracketsMatch) {
  const std::string text = "f(x[1], \")\", {y})";
  EXPECT_EQ(matching_bracket(text, 1), text.size() - 1);
  EXPECT_EQ(matching_bracket(text, text.size() - 1), 1u);
  EXPECT_EQ(matching_bracket(text, 3), 5u);
  EXPECT_EQ(matching_bracket("f(]", 1), std::string::npos);
}

}  // namespace
}  // namespace skdsl::cli::repl
