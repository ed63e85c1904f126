// error_quality — how good are the reports about a single slip?
//
// 1,000 seeded mistakes of seven kinds in equal shares, in the examples, the standard library and golden
// programs. An edit that leaves a program without errors does not count. Of each mistake is judged:
//
//   line     the first report stands on a line of the mistake; for a two-sided one (mistakes.h) a note of it
//   may token    the same for its span, which has to touch the place; a span of more than kPrecise bytes or
//   of
//            several lines points at nothing in particular and does not count
//   reports  the number of errors
//   fix      the edits of all errors, applied, leave a program without errors; among all mistakes, and among
//            those whose reports carry edits at all
//
// SKDSL_QUALITY_SEED and SKDSL_QUALITY_COUNT change the draw; SKDSL_QUALITY_SHOW=1 prints what was judged
// badly.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/cli.h"
#include "compiler/diag/fix.h"
#include "compiler/parse/parse.h"
#include "tests/quality/corpus.h"
#include "tests/quality/mistakes.h"

namespace skdsl::quality {
namespace {

namespace fs = std::filesystem;
constexpr uint32_t kPrecise = 60;

int64_t environment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::atoll(text) : otherwise;
}
bool soak() { return environment("SKDSL_SOAK", 0) == 1; }

struct Score {
  int mistakes = 0, line = 0, token = 0, reports = 0, fixable = 0, fixed = 0;
  void operator+=(const Score& o) {
    mistakes += o.mistakes;
    line += o.line;
    token += o.token;
    reports += o.reports;
    fixable += o.fixable;
    fixed += o.fixed;
  }
  double share(int n, int of) const { return of == 0 ? 0.0 : 100.0 * n / of; }
  std::string row(std::string_view label) const {
    return fmt::format("{:<20} {:>5} {:>7.1f} {:>7.1f} {:>8.2f} {:>7.1f} {:>13.1f}\n", label, mistakes,
                       share(line, mistakes), share(token, mistakes),
                       static_cast<double>(reports) / std::max(1, mistakes), share(fixed, mistakes),
                       share(fixed, fixable));
  }
};

/// Where a report points: its own span, and for two-sided mistakes the notes that have one.
std::vector<Span> places_of(const diag::Diagnostic& d, bool two_sided) {
  std::vector<Span> out{d.span};
  for (const diag::Note& note : d.notes)
    if (two_sided && note.span) out.push_back(note.span);
  return out;
}

bool right_line(const Span& span, const Mistake& m, const source::Sources& sources, uint32_t file) {
  if (span.file != file) return false;
  const uint32_t line = sources.loc(span).line;
  for (const Range& r : m.places)
    if (line >= sources.loc({file, r.begin, r.begin}).line && line <= sources.loc({file, r.end, r.end}).line)
      return true;
  return false;
}

bool right_token(const Span& span, const Mistake& m, const source::Sources& sources, uint32_t file) {
  if (span.file != file) return false;
  const bool precise =
      span.end - span.begin <= kPrecise &&
      sources.loc({file, span.begin, span.begin}).line == sources.loc({file, span.end, span.end}).line;
  if (!precise) return false;
  for (const Range& r : m.places)
    if (span.begin <= r.end && r.begin <= span.end) return true;
  return false;
}

/// Nothing when the mistake leaves a program without errors.
std::optional<Score> judge(const Program& program, const Mistake& m, bool show) {
  const auto checked = check(program, m.text);
  if (!checked->diags.has_errors()) return {};
  Score s;
  s.mistakes = 1;
  std::vector<diag::Fix> fixes;
  const diag::Diagnostic* first = nullptr;
  for (const diag::Diagnostic& d : checked->diags.all()) {
    if (d.severity != diag::Severity::Error) continue;
    if (!first) first = &d;
    ++s.reports;
    if (!d.fix.edits.empty()) fixes.push_back(d.fix);
  }
  for (const Span& span : places_of(*first, m.two_sided)) {
    s.line |= right_line(span, m, checked->sources, checked->file);
    s.token |= right_token(span, m, checked->sources, checked->file);
  }
  if (!fixes.empty()) {
    s.fixable = 1;
    const diag::Applied applied = diag::apply_fixes(m.text, checked->file, fixes);
    s.fixed = !check(program, applied.text)->diags.has_errors();
  }
  if (show && (!s.line || !s.token || s.reports > 1 || !s.fixed)) {
    fmt::print("---- {}: {} in {} line {}:{}{}{}{}\n", name(m.kind), m.what, program.name,
               checked->sources.loc({checked->file, m.places[0].begin, m.places[0].end}).line,
               s.line ? "" : " LINE", s.token ? "" : " TOKEN", s.reports > 1 ? " REPORTS" : "",
               s.fixed     ? ""
               : s.fixable ? " FIXFAILS"
                           : " NOFIX");
    for (const diag::Diagnostic& d : checked->diags.all()) {
      fmt::print("{}", diag::to_human(d, checked->sources, false));
      for (const diag::Edit& e : d.fix.edits)
        fmt::print("   = edit: `{}` -> `{}`\n", checked->sources.text(e.span), e.text);
    }
  }
  return s;
}

const Program& draw(const Corpus& corpus, Random& random) {
  const auto pick = [&](const auto& list) -> decltype(list[0]) {
    return list[std::uniform_int_distribution<size_t>(0, list.size() - 1)(random)];
  };
  // Examples and the library are what people read and write most.
  switch (std::uniform_int_distribution<int>(0, 4)(random)) {
    case 0:
    case 1:
      return pick(corpus.examples);
    case 2:
    case 3:
      return pick(pick(corpus.library));
    default:
      return pick(corpus.goldens);
  }
}

struct Folder {
  std::string path = (fs::temp_directory_path() / ("skdsl_quality_" + std::to_string(::getpid()))).string();
  ~Folder() { fs::remove_all(path); }
};

Score run(const Corpus& corpus, uint64_t seed, int count, bool show) {
  std::map<Kind, Score> scores;
  const int kinds = static_cast<int>(kKinds.size());
  for (int k = 0; k < kinds; ++k) {
    Random random(seed * 7 + static_cast<uint64_t>(k));
    const int wanted = count / kinds + (k < count % kinds ? 1 : 0);
    int attempts = 0;
    while (scores[kKinds[static_cast<size_t>(k)]].mistakes < wanted) {
      if (++attempts > 200 * wanted) {
        ADD_FAILURE() << "no " << name(kKinds[static_cast<size_t>(k)]) << " is found any more";
        break;
      }
      const Program& program = draw(corpus, random);
      const auto mistake = make_mistake(kKinds[static_cast<size_t>(k)], program.text, random);
      if (!mistake) continue;
      if (const auto score = judge(program, *mistake, show)) scores[mistake->kind] += *score;
    }
  }
  fmt::print("seed {}\n{:<20} {:>5} {:>7} {:>7} {:>8} {:>7} {:>13}\n", seed, "kind", "n", "line %", "token %",
             "reports", "fix %", "of fixable %");
  Score all;
  for (const auto& [kind, score] : scores) {
    fmt::print("{}", score.row(name(kind)));
    all += score;
  }
  fmt::print("{}", all.row("all"));
  return all;
}

TEST(ErrorQuality, OneSlipIsReportedOnceAtItsPlaceWithAWayOut) {
  const Folder folder;
  const Corpus corpus = read_corpus(folder.path);
  ASSERT_GE(corpus.examples.size(), 5U);
  ASSERT_GE(corpus.library.size(), 6U);
  ASSERT_GE(corpus.goldens.size(), 20U);
  const auto seed = static_cast<uint64_t>(environment("SKDSL_QUALITY_SEED", 20260101));
  const auto count = static_cast<int>(environment("SKDSL_QUALITY_COUNT", 1000));
  Score all;
  for (int round = 0; round < (soak() ? 5 : 1); ++round)
    all += run(corpus, seed + static_cast<uint64_t>(round), count, environment("SKDSL_QUALITY_SHOW", 0) == 1);
  EXPECT_GE(all.share(all.line, all.mistakes), 97.0);
  EXPECT_GE(all.share(all.token, all.mistakes), 90.0);
  EXPECT_LE(static_cast<double>(all.reports) / all.mistakes, 1.2);
  EXPECT_GE(all.share(all.fixed, all.mistakes), 70.0);
}

// The formatter leaves alone what it cannot read.
TEST(ErrorQuality, FmtKeepsTextsWithMistakes) {
  const Folder folder;
  const Corpus corpus = read_corpus(folder.path);
  const auto seed = static_cast<uint64_t>(environment("SKDSL_QUALITY_SEED", 20260101));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  int refused = 0;
  for (int i = 0; i < (soak() ? 20'000 : 700); ++i) {
    const auto mistake =
        make_mistake(kKinds[static_cast<size_t>(i) % kKinds.size()], draw(corpus, random).text, random);
    if (!mistake) continue;
    source::Sources sources;
    diag::Engine diags(sources);
    (void)parse::parse(sources.add("m.sk", mistake->text), diags);
    std::istringstream in(mistake->text);
    std::ostringstream out, err;
    cli::Context context{.in = in, .out = out, .err = err};
    const int code = cli::run({"fmt", "-"}, context);
    ASSERT_EQ(code == 0, !diags.has_errors()) << mistake->text << err.str();
    if (code == 0) continue;
    ++refused;
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out.str(), "") << "half a text is worse than none";
    EXPECT_NE(err.str(), "");
  }
  EXPECT_GE(refused, 100);
}

// A judge that likes everything would be worth nothing.
TEST(ErrorQuality, TheJudgeTellsGoodFromBad) {
  Program p{"p", "p.sk", "x = 1\nprint(x)\n", "p.sk", "x = 1\nprint(x)\n", {}};
  Mistake m;
  m.text = "xylo = 1\n\nprint(xyla)\n";
  m.places = {{16, 20}};
  const auto good = judge(p, m, false);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->line, 1);
  EXPECT_EQ(good->token, 1);
  EXPECT_EQ(good->reports, 1);
  EXPECT_EQ(good->fixed, 1);
  m.places = {{0, 4}};
  const auto elsewhere = judge(p, m, false);
  EXPECT_EQ(elsewhere->line, 0);
  EXPECT_EQ(elsewhere->token, 0);
  m.text = p.text;
  EXPECT_FALSE(judge(p, m, false)) << "a program without errors is no mistake";
}

}  // namespace
}  // namespace skdsl::quality
