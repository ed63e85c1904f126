// `skdsl lint` as scripts use it: formats, exit codes, settings, baselines, fixes, the cache, and bad input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/lint/cache.h"
#include "compiler/lint/fix.h"
#include "compiler/lint/settings.h"
#include "runtime/base/json.h"
#include "tests/lint/cases.h"
#include "tests/support/cli_run.h"
#include "tests/support/random_sk.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSide = R"(#! modes(ge_graph): it has no events
layer L() {
  weight w: f32[8, 8]
  decode(x: f32[2, 8], step: Step) -> f32[2, 8] {
    a = matmul(x, w)
    stream "side" { b = sigmoid(x) }
    return a + b
  }
}
print(L().decode(random_normal([2, 8], seed = 1), Step(kv_len = [5, 3])))
)";
constexpr const char* kBroken = "print(1 +)\n";

class LintCommand : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  CommandResult lint(std::vector<std::string> args) {
    args.insert(args.begin(), "lint");
    return run_command(args);
  }
  static Json json(const std::string& text) {
    auto j = parse_json(text, "output");
    EXPECT_TRUE(j.has_value()) << (j ? "" : j.error().message) << "\n" << text;
    return j ? *j : Json();
  }
  TemporaryFolder folder_;
};

TEST_F(LintCommand, ExitCodes) {
  EXPECT_EQ(lint({write("clean.sk", "print(1)\n")}).exit, 0);
  EXPECT_EQ(lint({write("side.sk", kSide)}).exit, 0) << "no error, only what costs time";
  EXPECT_EQ(lint({write("broken.sk", kBroken)}).exit, 1);
  EXPECT_EQ(lint({}).exit, 2);
  EXPECT_EQ(lint({"--format", "xml", folder_ / "clean.sk"}).exit, 2);
  EXPECT_EQ(lint({"--select", "SK9999", folder_ / "clean.sk"}).exit, 2);
  EXPECT_EQ(lint({"--ignore", "SK401", folder_ / "clean.sk"}).exit, 2) << "what hangs cannot be ignored";
  EXPECT_EQ(lint({folder_ / "absent.sk"}).exit, 3);
}

TEST_F(LintCommand, SelectAndIgnore) {
  const std::string path = write("side.sk", kSide);
  EXPECT_NE(lint({path}).out.find("SK418"), std::string::npos);
  for (const char* word : {"SK418", "SK4", "cheap-side-stream", "stream/event"}) {
    EXPECT_EQ(lint({"--ignore", word, path}).out, "1 file: nothing found\n") << word;
    EXPECT_NE(lint({"--select", word, path}).out.find("SK418"), std::string::npos) << word;
  }
  EXPECT_EQ(lint({"--select", "SK3,SK9", path}).out, "1 file: nothing found\n");
  EXPECT_NE(lint({"--ignore", "cheap-side-straem", path}).err.find("did you mean `cheap-side-stream`"),
            std::string::npos);
}

TEST_F(LintCommand, ARunConfigPinsTheMode) {
  const std::string path = write("side.sk", kSide);
  const std::string yaml =
      write("run.yaml", "model_config:\n  exe_mode: ge_graph\nscheduler_config:\n  batch_size: 2\n");
  EXPECT_NE(lint({"--config", yaml, path}).out.find("SK418"), std::string::npos);
  EXPECT_EQ(lint({"--config", yaml, path}).out.find("in npugraph_ex and ge_graph"), std::string::npos)
      << "one mode is looked at";
  EXPECT_EQ(lint({"--set", "exe_mode=eager", path}).out, "1 file: nothing found\n");
}

TEST_F(LintCommand, JsonAndLines) {
  const std::string path = write("side.sk", kSide);
  const Json j = json(lint({"--json", path}).out);
  EXPECT_EQ(j.as_object()[0].first, "format_version");
  ASSERT_EQ(j.find("findings")->as_array().size(), 1U);
  const Json& f = j.find("findings")->as_array()[0];
  EXPECT_EQ(f.find("id")->as_string(), "SK418");
  EXPECT_EQ(f.find("start")->find("line")->as_int(), 6);
  EXPECT_EQ(f.find("fix")->find("applicability")->as_string(), "safe");
  EXPECT_EQ(j.find("summary")->find("perf")->as_int(), 1);
  EXPECT_EQ(to_json(json(lint({"--format", "jsonl", path}).out)), to_json(f));
  const Json rules = json(lint({"--list", "--json"}).out);
  for (const Json& r : rules.find("rules")->as_array())
    for (const char* key : {"id", "name", "severity", "category", "fix", "page"})
      EXPECT_TRUE(r.find(key)->is_string()) << key;
}

/// The parts of the SARIF 2.1.0 schema that a log of ours uses: required members, types, values of
/// enumerations, and no member that the schema does not have (`additionalProperties` is false everywhere).
class Sarif {
 public:
  void log(const Json& j) {
    members(j, {"version", "runs"}, {"$schema", "version", "runs"}, "log");
    EXPECT_EQ(j.find("version")->as_string(), "2.1.0");
    for (const Json& run : j.find("runs")->as_array()) {
      members(run, {"tool"}, {"tool", "columnKind", "invocations", "results"}, "run");
      one_of(*run.find("columnKind"), {"utf16CodeUnits", "unicodeCodePoints"});
      const Json& driver = *run.find("tool")->find("driver");
      members(*run.find("tool"), {"driver"}, {"driver"}, "tool");
      members(driver, {"name"}, {"name", "version", "rules"}, "driver");
      rules_ = driver.find("rules")->as_array().size();
      for (const Json& r : driver.find("rules")->as_array()) {
        members(r, {"id"}, {"id", "name", "shortDescription", "help", "defaultConfiguration", "properties"},
                "rule");
        message(*r.find("shortDescription"));
        one_of(*r.find("defaultConfiguration")->find("level"), {"none", "note", "warning", "error"});
      }
      for (const Json& i : run.find("invocations")->as_array()) {
        members(i, {"executionSuccessful"}, {"executionSuccessful", "toolExecutionNotifications"},
                "invocation");
        EXPECT_TRUE(i.find("executionSuccessful")->is_bool());
      }
      for (const Json& r : run.find("results")->as_array()) result(r);
    }
  }

 private:
  static void members(const Json& j, std::initializer_list<const char*> required,
                      std::vector<std::string> known, const char* what) {
    ASSERT_TRUE(j.is_object()) << what;
    for (const char* r : required) EXPECT_NE(j.find(r), nullptr) << what << " needs " << r;
    for (const auto& [key, value] : j.as_object())
      EXPECT_NE(std::find(known.begin(), known.end(), key), known.end()) << what << " has no " << key;
  }
  static void one_of(const Json& j, std::vector<std::string> values) {
    ASSERT_TRUE(j.is_string());
    EXPECT_NE(std::find(values.begin(), values.end(), j.as_string()), values.end()) << j.as_string();
  }
  static void message(const Json& j) {
    members(j, {"text"}, {"text"}, "message");
    EXPECT_TRUE(j.find("text")->is_string());
  }
  static void region(const Json& j) {
    members(j, {"startLine"},
            {"startLine", "startColumn", "endLine", "endColumn", "byteOffset", "byteLength"}, "region");
    for (const char* key : {"startLine", "startColumn", "endLine", "endColumn"})
      EXPECT_GE(j.find(key)->as_int(), 1) << key;
    for (const char* key : {"byteOffset", "byteLength"}) EXPECT_GE(j.find(key)->as_int(), 0) << key;
  }
  static void location(const Json& j) {
    members(j, {"physicalLocation"}, {"physicalLocation", "message"}, "location");
    const Json& p = *j.find("physicalLocation");
    members(p, {"artifactLocation"}, {"artifactLocation", "region"}, "physicalLocation");
    const std::string& uri = p.find("artifactLocation")->find("uri")->as_string();
    for (const char c : uri)
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("/-_.~%:").find(c) != std::string_view::npos)
          << uri;
    if (const Json* r = p.find("region")) region(*r);
    if (const Json* m = j.find("message")) message(*m);
  }
  void result(const Json& j) const {
    members(j, {"message"},
            {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "fixes"}, "result");
    one_of(*j.find("level"), {"none", "note", "warning", "error"});
    message(*j.find("message"));
    EXPECT_LT(static_cast<size_t>(j.find("ruleIndex")->as_int()), rules_);
    for (const char* list : {"locations", "relatedLocations"})
      if (const Json* l = j.find(list))
        for (const Json& at : l->as_array()) location(at);
    if (const Json* fixes = j.find("fixes"))
      for (const Json& f : fixes->as_array()) {
        members(f, {"artifactChanges"}, {"description", "artifactChanges"}, "fix");
        for (const Json& c : f.find("artifactChanges")->as_array()) {
          members(c, {"artifactLocation", "replacements"}, {"artifactLocation", "replacements"},
                  "artifactChange");
          EXPECT_FALSE(c.find("replacements")->as_array().empty());
          for (const Json& r : c.find("replacements")->as_array()) {
            members(r, {"deletedRegion"}, {"deletedRegion", "insertedContent"}, "replacement");
            region(*r.find("deletedRegion"));
          }
        }
      }
  }
  size_t rules_ = 0;
};

TEST_F(LintCommand, SarifHasTheFormOfItsSchema) {
  write("side é.sk", kSide);
  write("broken.sk", kBroken);
  write("wide.sk", "print(\"日本😀\", missing)\n");
  write("run.yaml", "model_config:\n  exe_mode: ge_grap\n");
  write("invalid.sk", "print(\"\xff\")\n");
  const Json log = json(lint({"--format", "sarif", folder_ / "."}).out);
  Sarif().log(log);
  const auto& results = log.find("runs")->as_array()[0].find("results")->as_array();
  ASSERT_EQ(results.size(), 4U);
  // Columns count UTF-16 units: the emoji is two.
  bool wide = false;
  for (const Json& r : results)
    if (r.find("ruleId")->as_string() == "SK2001") {
      wide = true;
      EXPECT_EQ(r.find("locations")
                    ->as_array()[0]
                    .find("physicalLocation")
                    ->find("region")
                    ->find("startColumn")
                    ->as_int(),
                15);
    }
  EXPECT_TRUE(wide);
}

TEST_F(LintCommand, GithubAndJunit) {
  write("a/side.sk", kSide);
  write("a/broken.sk", kBroken);
  const std::string github = lint({"--format", "github", folder_ / "a"}).out;
  EXPECT_NE(github.find("::error file="), std::string::npos) << github;
  EXPECT_NE(github.find("::notice file="), std::string::npos) << github;
  EXPECT_NE(github.find(",line=6,"), std::string::npos) << github;
  EXPECT_EQ(std::count(github.begin(), github.end(), '\n'), 2) << github;
  const std::string junit = lint({"--format", "junit", folder_ / "a"}).out;
  EXPECT_TRUE(
      junit.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"skdsl lint\" "
                        "tests=\"2\" failures=\"1\" errors=\"0\">"))
      << junit;
  EXPECT_TRUE(junit.ends_with("</testsuite>\n"));
  size_t opened = 0, closed = 0;
  for (size_t at = 0; (at = junit.find("<failure ", at)) != std::string::npos; ++at) ++opened;
  for (size_t at = 0; (at = junit.find("</failure>", at)) != std::string::npos; ++at) ++closed;
  EXPECT_EQ(opened, closed);
}

TEST_F(LintCommand, FixAndDiff) {
  const std::string path = write("side.sk", kSide);
  const CommandResult diff = lint({"--diff", path});
  EXPECT_EQ(diff.exit, 0);
  EXPECT_NE(diff.out.find("-    stream \"side\" { b = sigmoid(x) }\n+    b = sigmoid(x)\n"),
            std::string::npos)
      << diff.out;
  EXPECT_EQ(read_text(path), kSide) << "--diff changes nothing";
  EXPECT_EQ(lint({"--fix", path}).out, "1 file: nothing found\n");
  const std::string after = read_text(path);
  EXPECT_EQ(after.find("stream"), std::string::npos);
  EXPECT_EQ(lint({"--fix", path}).err, "");
  EXPECT_EQ(read_text(path), after);
}

TEST_F(LintCommand, SettingsOfAFolder) {
  write("p/side.sk", kSide);
  write("p/deep/side.sk", kSide);
  write("p/.skdsl-lint.yaml", "paths:\n  - match: \"deep/**\"\n    allow: {SK418: \"measured\"}\n");
  const Json j = json(lint({"--json", folder_ / "p"}).out);
  ASSERT_EQ(j.find("findings")->as_array().size(), 1U);
  EXPECT_EQ(j.find("findings")->as_array()[0].find("file")->as_string(), folder_ / "p/side.sk");
  // Mistakes in it are findings.
  write("p/.skdsl-lint.yaml", "alow: {}\nallow: {SK401: no, SK418: \"\", SK4180: x}\nmodes: [eagre]\n");
  const std::string out = lint({folder_ / "p"}).out;
  for (const char* part : {"did you mean `allow`", "SK401 cannot be allowed", "SK960",
                           "`SK4180` is no lint rule", "`eagre` is no mode"})
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
}

TEST(LintSettings, Globs) {
  EXPECT_TRUE(lint::matches("**", "a/b/c.sk"));
  EXPECT_TRUE(lint::matches("a/**", "a/b/c.sk"));
  EXPECT_TRUE(lint::matches("**/c.sk", "c.sk"));
  EXPECT_TRUE(lint::matches("**/c.sk", "a/b/c.sk"));
  EXPECT_TRUE(lint::matches("a/*.sk", "a/c.sk"));
  EXPECT_TRUE(lint::matches("a/**/c?.sk", "a/x/y/c1.sk"));
  EXPECT_FALSE(lint::matches("a/*.sk", "a/b/c.sk"));
  EXPECT_FALSE(lint::matches("*", "a/b"));
  EXPECT_FALSE(lint::matches("**/c.sk", "a/xc.sk"));
  EXPECT_FALSE(lint::matches("a", "ab"));
  EXPECT_FALSE(lint::matches("", "a"));
}

TEST_F(LintCommand, Baseline) {
  const std::string path = write("side.sk", kSide), base = folder_ / "base.json";
  EXPECT_EQ(lint({"--baseline", base, path}).exit, 3) << "a baseline that is not there hides nothing";
  EXPECT_EQ(lint({"--baseline", base, "--update-baseline", path}).exit, 0);
  EXPECT_NE(lint({"--baseline", base, path}).out.find("1 known from"), std::string::npos);
  // The same line elsewhere in the file is still known; a second one is new.
  write("side.sk", "// moved\n" + std::string(kSide));
  EXPECT_EQ(lint({"--baseline", base, path}).out.find("SK418"), std::string::npos);
  std::string twice = kSide;
  twice.insert(twice.find("    return"), "    stream \"side\" { b = sigmoid(x) }\n");
  write("side.sk", twice);
  EXPECT_NE(lint({"--baseline", base, path}).out.find("SK418"), std::string::npos);
  write("base.json", "{\"format_version\": 2}");
  EXPECT_EQ(lint({"--baseline", base, path}).exit, 1);
}

TEST_F(LintCommand, TheCacheKnowsWhatAResultDependsOn) {
  write("part.sk", "layer P() {\n  forward(x: f32[T, 8]) -> f32[T, 8] { return x }\n}\n");
  const std::string path =
      write("main.sk",
            "import \"part.sk\"\nlayer L() {\n  p = P()\n  decode(x: f32[2, 8], step: Step) -> f32[2, 8] { "
            "return p(x) }\n}\n"
            "print(L().decode(random_normal([2, 8], seed = 1), Step(kv_len = [5, 3])))\n");
  const std::string first = lint({path}).out;
  EXPECT_EQ(first, "1 file: nothing found\n");
  size_t entries = 0;
  for (const auto& e : fs::recursive_directory_iterator(folder_ / "cache/skdsl/lint"))
    entries += e.is_regular_file();
  EXPECT_EQ(entries, 1U);
  EXPECT_EQ(lint({path}).out, first);
  // An import changed.
  write("part.sk", "layer P() {\n  forward(x: f32[T, 8]) -> f32[T, 8] { return y }\n}\n");
  const std::string second = lint({path}).out;
  EXPECT_NE(second.find("SK2001"), std::string::npos) << second;
  EXPECT_EQ(lint({path}).out, second) << "the same from the cache, excerpts of the import included";
  EXPECT_EQ(lint({"--no-cache", path}).out, second);
  // Other options, another result.
  EXPECT_EQ(json(lint({"--mode", "eager", "--json", path}).out).find("findings")->as_array().size(), 1U);
  // A file that would shadow a shipped one appears.
  const std::string user = write("user.sk", "import \"std/base.sk\"\nprint(1)\n");
  EXPECT_EQ(lint({user}).exit, 0);
  write("std/base.sk", kBroken);
  EXPECT_EQ(lint({user}).exit, 1);
}

TEST_F(LintCommand, ADamagedCacheIsNone) {
  const std::string path = write("side.sk", kSide);
  const std::string right = lint({path}).out;
  std::string entry;
  for (const auto& e : fs::recursive_directory_iterator(folder_ / "cache/skdsl/lint"))
    if (e.is_regular_file()) entry = e.path().string();
  const std::string good = read_text(entry);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    if (i % 3 == 0)
      bad.resize(random() % bad.size());
    else
      bad[random() % bad.size()] = static_cast<char>(random());
    std::ofstream(entry, std::ios::binary) << bad;
    const CommandResult r = lint({path});
    EXPECT_NE(r.exit, 70) << i;
    // A changed letter inside a message cannot be seen; everything else is looked at anew.
    EXPECT_NE(r.out.find("1 file"), std::string::npos) << i << "\n" << r.out;
  }
  std::ofstream(entry, std::ios::binary) << "{}";
  EXPECT_EQ(lint({path}).out, right);
}

TEST_F(LintCommand, BadInput) {
  write("d/good.sk", "print(1)\n");
  write("d/invalid.sk", "print(\"\xff\")\n");
  write("d/binary.sk", std::string("\x7f"
                                   "ELF\0\0\0",
                                   7));
  write("d/crlf.sk", "print(1)\r\nx = 2 #! allow(SK418): on purpose\r\nprint(x)\r\n");
  write("d/tabs.sk", "fn f(x: f32[2]) -> f32[2] {\n\treturn x\t+ 1.0\n}\nprint(f(f32([1, 2])))\n");
  write("d/empty.sk", "");
  write("d/other.yaml", "on: [push]\njobs: {}\n");
  fs::create_directory_symlink(folder_ / "d", folder_ / "d/loop");
  fs::create_symlink(folder_ / "d/self.sk", folder_ / "d/self.sk");
  const CommandResult r = lint({"--json", folder_ / "d"});
  const Json j = json(r.out);
  EXPECT_EQ(r.exit, 3);
  EXPECT_EQ(j.find("summary")->find("files")->as_int(), 7) << r.out;
  EXPECT_EQ(j.find("unreadable")->as_array().size(), 3U) << r.out;
  std::string all;
  for (const Json& u : j.find("unreadable")->as_array()) all += u.find("message")->as_string() + "\n";
  for (const char* part : {"not valid UTF-8", "not a text file", "self.sk"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  // The allow of the CRLF file is unused, and that is all there is.
  ASSERT_EQ(j.find("findings")->as_array().size(), 1U) << r.out;
  EXPECT_EQ(j.find("findings")->as_array()[0].find("id")->as_string(), "SK961");
  EXPECT_EQ(lint({"--fix", folder_ / "d/crlf.sk"}).out, "1 file: nothing found\n");
  EXPECT_EQ(read_text(folder_ / "d/crlf.sk"), "print(1)\r\nx = 2\r\nprint(x)\r\n");
}

TEST_F(LintCommand, AHugeFileIsRefusedAtOnce) {
  const std::string path = write("huge.sk", "");
  fs::resize_file(path, 100u << 20);
  const CommandResult r = lint({path});
  EXPECT_EQ(r.exit, 3);
  EXPECT_NE(r.out.find("lint looks at files of at most"), std::string::npos) << r.out;
}

TEST_F(LintCommand, AFolderThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may read everything";
  write("locked/a.sk", "print(1)\n");
  fs::permissions(folder_ / "locked", fs::perms::none);
  EXPECT_EQ(lint({folder_ / "locked"}).exit, 3);
  fs::permissions(folder_ / "locked", fs::perms::owner_all);
}

TEST_F(LintCommand, ManyFilesSideBySideAreToldInOrder) {
  for (int i = 0; i < 40; ++i) write(fmt::format("m/f{:02}.sk", i), i % 2 == 0 ? kSide : kBroken);
  const std::string one = lint({"--jobs", "1", "--no-cache", "--format", "jsonl", folder_ / "m"}).out;
  EXPECT_EQ(lint({"--jobs", "4", "--no-cache", "--format", "jsonl", folder_ / "m"}).out, one);
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 40);
}

TEST(LintFix, OverlappingEditsWaitForTheirTurn) {
  const auto finding = [](uint32_t begin, uint32_t end, const char* text) {
    diag::Diagnostic d{};
    d.fix.applicability = diag::Applicability::Safe;
    d.fix.edits.push_back({{1, begin, end}, text});
    return d;
  };
  const std::vector<diag::Diagnostic> list{finding(2, 4, "X"), finding(3, 5, "Y"), finding(6, 6, "Z"),
                                           finding(6, 6, "W"), finding(8, 9, "")};
  const lint::Applied a = lint::apply_fixes("0123456789", 1, list, diag::Applicability::Safe);
  EXPECT_EQ(a.text, "01X45Z679");
  EXPECT_EQ(a.fixes, 3U);
  EXPECT_EQ(lint::apply_fixes("0123456789", 2, list, diag::Applicability::Safe).fixes, 0U) << "another file";
}

TEST(LintFix, Diff) {
  EXPECT_EQ(lint::unified_diff("a", "same\n", "same\n"), "");
  EXPECT_EQ(lint::unified_diff("a", "1\n2\n3\n", "1\nB\n3\n"),
            "--- a\n+++ a\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n");
  EXPECT_EQ(lint::unified_diff("a", "1\n2", "1\n2\n"),
            "--- a\n+++ a\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n");
  std::string before, after;
  for (int i = 0; i < 40; ++i) {
    before += fmt::format("{}\n", i);
    after += i == 5 || i == 30 ? "changed\n" : fmt::format("{}\n", i);
  }
  const std::string two = lint::unified_diff("a", before, after);
  EXPECT_NE(two.find("@@ -3,7 +3,7 @@"), std::string::npos) << two;
  EXPECT_NE(two.find("@@ -28,7 +28,7 @@"), std::string::npos) << two;
}

int rounds() {
  const char* const soak = std::getenv("SKDSL_SOAK");
  return soak != nullptr && std::string_view(soak) == "1" ? 10000 : 60;
}

// Random programs of every construct: fixing twice is fixing once, and nothing falls over.
TEST(LintFix, IsIdempotentOnRandomPrograms) {
  std::printf("seeds 0 to %d\n", rounds() - 1);
  lint::Options options;
  for (int seed = 0; seed < rounds(); ++seed) {
    test::RandomSk random(static_cast<uint64_t>(seed));
    const std::string text = random.program(6);
    const lint::Applied once = lint::fix_all("random.sk", text, options, diag::Applicability::Unsafe);
    const lint::Applied twice = lint::fix_all("random.sk", once.text, options, diag::Applicability::Unsafe);
    ASSERT_EQ(twice.text, once.text) << "seed " << seed;
  }
}

}  // namespace
}  // namespace skdsl::testing
