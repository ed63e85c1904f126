// Includes go one way, and each heavy library has one includer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  // relative to the sources
  int line;
  std::string target;
  bool system;
};

std::vector<Include> includes() {
  std::vector<Include> out;
  const fs::path root(SKDSL_SOURCE_DIR);
  for (const char* top : {"cli", "compiler", "jit", "runtime", "stdlib"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream in(entry.path());
      std::string line;
      for (int number = 1; std::getline(in, line); ++number) {
        if (!line.starts_with("#include ")) continue;
        const bool system = line[9] == '<';
        const size_t end = line.find(system ? '>' : '"', 10);
        out.push_back({fs::relative(entry.path(), root).string(), number, line.substr(10, end - 10), system});
      }
    }
  }
  return out;
}

bool under(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

// The first matching row decides what a file may include of ours.
struct Row {
  const char* from;
  std::vector<const char*> may;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"stdlib/kernels", {"stdlib", "runtime/abi"}},
      {"stdlib", {"stdlib"}},
      {"runtime/abi", {"runtime/abi"}},
      {"runtime/base", {"runtime/base"}},
      {"runtime/tensor", {"runtime/tensor", "runtime/abi", "runtime/base"}},
      {"runtime/plan",
       {"runtime/plan", "runtime/abi", "runtime/base", "stdlib/op_info.h", "stdlib/ops.def",
        "stdlib/shape_rules.def"}},
      {"runtime/exec",
       {"runtime/exec", "runtime/plan", "runtime/tensor", "runtime/abi", "runtime/base", "stdlib"}},
      {"runtime/model",
       {"runtime/model", "runtime/exec", "runtime/plan", "runtime/tensor", "runtime/abi", "runtime/base",
        "stdlib"}},
      {"compiler", {"compiler", "runtime/base", "runtime/abi", "runtime/plan", "stdlib"}},
      // The room that links LLVM sees the hook of the executor and what is behind it; the one that opens it
      // as little.
      {"jit",
       {"jit", "runtime/abi", "runtime/base", "runtime/exec/native.h", "runtime/exec/native_options.def",
        "stdlib/op_info.h"}},
      {"cli", {"cli", "compiler", "jit", "runtime", "stdlib", "diagnostic_pages.inc"}},
  };
  return kRows;
}

TEST(Layers, IncludesGoOneWay) {
  size_t checked = 0;
  for (const Include& i : includes()) {
    if (i.system) continue;
    const bool ours = under(i.target, "cli") || under(i.target, "compiler") || under(i.target, "jit") ||
                      under(i.target, "runtime") || under(i.target, "stdlib");
    if (!ours) continue;
    for (const Row& row : rows()) {
      if (!under(i.file, row.from)) continue;
      bool ok = false;
      for (const char* folder : row.may) ok |= under(i.target, folder) || i.target == folder;
      EXPECT_TRUE(ok) << i.file << ":" << i.line << " includes " << i.target;
      ++checked;
      break;
    }
  }
  EXPECT_GT(checked, 200u);
}

TEST(Layers, HeavyLibrariesHaveOneIncluder) {
  struct Wall {
    const char* prefix;
    const char* folder;
  };
  constexpr Wall kWalls[] = {{"antlr4", "compiler/parse"},
                             {"SkParser", "compiler/parse"},
                             {"SkLexer", "compiler/parse"},
                             {"llvm", "jit"},
                             {"CLI", "cli"},
                             {"histedit", "cli/repl"},
                             {"yaml-cpp", "compiler/config"},
                             {"nlohmann", "runtime/base"},
                             {"cereal", "runtime/plan"},
                             {"xxhash", "runtime/base"},
                             {"pcre2", "runtime/model"},
                             {"sentencepiece_", "runtime/model"},
                             {"unicode/", "runtime/model"}};
  std::set<std::string> seen;
  for (const Include& i : includes())
    for (const Wall& w : kWalls)
      if (i.target.starts_with(w.prefix)) {
        EXPECT_TRUE(under(i.file, w.folder)) << i.file << ":" << i.line << " includes " << i.target;
        seen.insert(w.prefix);
      }
  for (const char* expected : {"antlr4", "CLI", "histedit", "yaml-cpp", "nlohmann", "cereal", "xxhash",
                               "pcre2", "sentencepiece_", "unicode/", "llvm"})
    EXPECT_TRUE(seen.contains(expected)) << expected;
}

TEST(Layers, FilesIncludeFromTheRoot) {
  for (const Include& i : includes()) {
    if (i.system) continue;
    EXPECT_EQ(i.target.find("../"), std::string::npos) << i.file << ":" << i.line;
  }
}

TEST(Layers, KernelsUseNoMathLibraryAndNoAllocation) {
  for (const Include& i : includes()) {
    if (!under(i.file, "stdlib/kernels") || !i.system) continue;
    for (const char* banned : {"cmath", "math.h", "vector", "string", "memory", "iostream"})
      EXPECT_NE(i.target, banned) << i.file << ":" << i.line;
  }
}

}  // namespace
