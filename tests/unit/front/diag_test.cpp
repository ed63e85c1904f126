#include "compiler/diag/fix.h"
#include "tests/unit/front/front.h"

namespace skdsl::diag {
namespace {

struct Fixture : testing::Test {
  source::Sources sources;
  Engine engine{sources};
  uint32_t add(std::string text) { return sources.add("m.sk", std::move(text)); }
};
using Diag = Fixture;

TEST_F(Diag, ShowsThePlaceWithCarets) {
  const uint32_t file = add("fn m(x: f32[2, 3]) {\n  return add(x, bias)\n}\n");
  engine.report({file, 30, 42}, Id::ShapeMismatch, "add", "[2, 3]", "[4]")
      .note({file, 5, 6}, "`x` comes from here")
      .note("a fact")
      .help("use `sum`");
  EXPECT_EQ(to_human(engine.all()[0], sources, false),
            "error[SK3004]: operands of `add` have shapes [2, 3] and [4]\n"
            "  --> m.sk:2:10\n"
            "   |\n"
            " 2 |   return add(x, bias)\n"
            "   |          ^^^^^^^^^^^^\n"
            "note: `x` comes from here\n"
            "  --> m.sk:1:6\n"
            "   |\n"
            " 1 | fn m(x: f32[2, 3]) {\n"
            "   |      ^\n"
            "   = note: a fact\n"
            "   = help: use `sum`\n");
}

TEST_F(Diag, CaretsStandRightBesideTabsAndWideCharacters) {
  const uint32_t file = add("\tx = \"ü漢\" + bad\n");
  // tab, x = "ü漢" + : 1 + 4 + 1 + 2 + 3 + 1 + 3 bytes before `bad`
  engine.report({file, 15, 18}, Id::UnknownName, "bad");
  EXPECT_EQ(to_human(engine.all()[0], sources, false),
            "error[SK2001]: unknown name `bad`\n"
            "  --> m.sk:1:16\n"
            "   |\n"
            " 1 |     x = \"ü漢\" + bad\n"
            "   |                 ^^^\n");
}

TEST_F(Diag, CutsLongLinesAroundTheSpan) {
  const uint32_t file = add(std::string(5 << 20, 'a') + "BAD" + std::string(5 << 20, 'z') + "\n");
  engine.report({file, 5 << 20, (5 << 20) + 3}, Id::UnknownName, "BAD");
  const std::string text = to_human(engine.all()[0], sources, false);
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("| …" + std::string(40, 'a') + "BADzzz"), std::string::npos) << text;
  EXPECT_NE(text.find("| " + std::string(41, ' ') + "^^^\n"), std::string::npos) << text;
}

TEST_F(Diag, UnderlinesTheFirstLineOfALongSpanAndTheEndOfAFile) {
  const uint32_t file = add("ab (\ncd\n)");
  engine.report({file, 3, 9}, Id::SyntaxError, "one");
  engine.report({file, 9, 9}, Id::SyntaxError, "two");
  EXPECT_NE(to_human(engine.all()[0], sources, false).find("1 | ab (\n   |    ^\n"), std::string::npos);
  EXPECT_NE(to_human(engine.all()[1], sources, false).find(":3:2\n   |\n 3 | )\n   |  ^\n"),
            std::string::npos);
}

TEST_F(Diag, WithoutAPlaceThereIsOnlyTheMessage) {
  engine.report({}, Id::RecordedOnly, "`stream` is recorded");
  EXPECT_EQ(to_human(engine.all()[0], sources, false), "info[SK3504]: `stream` is recorded\n");
}

TEST_F(Diag, ColourOnlyWhenAsked) {
  const uint32_t file = add("x\n");
  engine.report({file, 0, 1}, Id::UnknownName, "x");
  EXPECT_EQ(to_human(engine.all()[0], sources, false).find('\x1b'), std::string::npos);
  EXPECT_NE(to_human(engine.all()[0], sources, true).find("\x1b[1;31merror"), std::string::npos);
}

TEST_F(Diag, ReportsEachPlaceOnceAndCountsTheRest) {
  const uint32_t file = add(std::string(1000, 'x'));
  engine.report({file, 0, 1}, Id::UnknownName, "x").note("first");
  engine.report({file, 0, 1}, Id::UnknownName, "x").note("second");
  engine.report({file, 0, 1}, Id::UnknownName, "y");
  ASSERT_EQ(engine.all().size(), 2u);
  EXPECT_EQ(engine.all()[0].notes.size(), 1u);
  for (uint32_t i = 2; i < 900; ++i) engine.report({file, i, i + 1}, Id::UnknownName, "x");
  EXPECT_EQ(engine.all().size(), Engine::kMaxPerId);
  EXPECT_EQ(engine.errors(), 900u);
  EXPECT_EQ(engine.omitted(), 700u);
}

TEST_F(Diag, StrictMakesWarningsErrors) {
  engine.report({}, Id::UnknownConfigWarning, "config.json", "a");
  EXPECT_FALSE(engine.has_errors());
  engine.strict = true;
  engine.report({}, Id::UnknownConfigWarning, "config.json", "b");
  EXPECT_TRUE(engine.has_errors());
  engine.report({}, Id::RecordedOnly, "c");
  EXPECT_EQ(engine.errors(), 1u);
}

TEST_F(Diag, JsonCarriesPlacesNotesAndHelp) {
  const uint32_t file = add("a\n\"b\"\n");
  engine.report({file, 2, 5}, Id::UnknownName, "b\"\\\n\x01\xff").note({file, 0, 1}, "n").help("h");
  EXPECT_EQ(
      to_json(engine.all()[0], sources),
      R"({"id":"SK2001","name":"unknown-name","severity":"error","message":"unknown name `b\"\\\n\u0001\ufffd`","file":"m.sk",)"
      R"("start":{"line":2,"column":1,"byte":2},"end":{"line":2,"column":4,"byte":5},)"
      R"("notes":[{"kind":"note","message":"n","file":"m.sk","start":{"line":1,"column":1,"byte":0},"end":{"line":1,"column":2,"byte":1}},)"
      R"({"kind":"help","message":"h","file":null,"start":null,"end":null}],"fix":null,"url":"docs/diagnostics/SK2001.md"})");
  engine.report({}, Id::RecordedOnly, "x");
  EXPECT_NE(to_json(engine.all()[1], sources).find(R"("file":null,"start":null,"end":null,"notes":[])"),
            std::string::npos);
}

TEST(DiagTable, IdsAndNamesAreUnique) {
  std::set<std::string_view> ids, names;
  for (size_t i = 0; i < static_cast<size_t>(Id::kCount); ++i) {
    const Rule& row = rule(static_cast<Id>(i));
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find(row.id), static_cast<Id>(i));
    EXPECT_EQ(find(row.name), static_cast<Id>(i));
    EXPECT_FALSE(row.message.empty() || row.message.back() == '.') << row.id;
  }
  EXPECT_EQ(find("SK9999"), Id::kCount);
}

TEST(Nearest, FindsTheSmallestEdit) {
  const std::vector<std::string> words = {"layer", "model", "hidden_size", "num_layers", "superkernel"};
  EXPECT_EQ(nearest("layr", words), "layer");
  EXPECT_EQ(nearest("laeyr", words), "layer");  // letters change places: one edit
  EXPECT_EQ(nearest("hiden_sise", words), "hidden_size");
  EXPECT_EQ(nearest("superkernl", words), "superkernel");
  EXPECT_EQ(nearest("xyz", words), "");
  EXPECT_EQ(nearest("la", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("model", words), "") << "the word itself is no suggestion";
  EXPECT_EQ(nearest(std::string(100000, 'x'), words), "");
}

TEST(Apply, EditsInAnyOrderOverlapsAndRepeats) {
  const std::string text = "abcdef";
  const auto edit = [](uint32_t begin, uint32_t end, std::string by) {
    return Edit{{1, begin, end}, std::move(by)};
  };
  EXPECT_EQ(apply_edits(text, std::vector{edit(4, 5, "E"), edit(0, 1, "A")}), "AbcdEf");
  EXPECT_EQ(apply_edits(text, std::vector{edit(1, 3, "X"), edit(2, 4, "Y")}), "aXdef")
      << "the earlier one wins";
  EXPECT_EQ(apply_edits(text, std::vector{edit(2, 2, "1"), edit(2, 2, "2"), edit(2, 2, "1")}), "ab12cdef");
  EXPECT_EQ(apply_edits(text, std::vector{edit(2, 4, "X"), edit(2, 2, "<"), edit(4, 4, ">")}), "ab<X>ef");
  EXPECT_EQ(apply_edits(text, std::vector{edit(2, 4, "X"), edit(3, 3, "|")}), "abXef");
  EXPECT_EQ(apply_edits(text, std::vector{edit(5, 9, "X")}), "abcdef") << "beyond the text";
  EXPECT_EQ(apply_edits(text, std::vector{edit(6, 6, "!")}), "abcdef!");
}

TEST(Apply, AFixIsAppliedAsAWholeOrNotAtAll) {
  const std::vector<Fix> fixes = {
      {Applicability::Safe, {{{1, 0, 1}, "A"}}},
      {Applicability::Safe, {{{1, 4, 5}, "E"}, {{1, 0, 2}, "x"}}},  // overlaps the first
      {Applicability::Safe, {{{2, 0, 1}, "B"}}},                    // another file
      {Applicability::Safe, {{{1, 0, 1}, "A"}, {{1, 5, 6}, "F"}}},  // shares an edit with the first
      {}};
  const Applied got = apply_fixes("abcdef", 1, fixes);
  EXPECT_EQ(got.text, "AbcdeF");
  EXPECT_EQ(got.applied, 2U);
  EXPECT_EQ(got.left_out, 2U);
}

}  // namespace
}  // namespace skdsl::diag
