#include "tests/quality/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace skdsl::quality {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SKDSL_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<fs::path> files_of(const fs::path& folder, bool deep) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".sk" && (deep || entry.path().parent_path() == folder))
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> imports_of(const std::string& text) {
  std::vector<std::string> out;
  constexpr std::string_view kImport = "\nimport \"";
  for (size_t at = text.find(kImport); at != std::string::npos; at = text.find(kImport, at + 1)) {
    const size_t from = at + kImport.size();
    out.push_back(text.substr(from, text.find('"', from) - from));
  }
  return out;
}

void set(sema::Options& options, const std::string& text) {
  auto setting = config::parse_set(text);
  ASSERT_TRUE(setting) << text;
  if (setting->key == "batch_size") options.builtins.batch_size = setting->value.as_int();
  options.settings.items.push_back(std::move(*setting));
}

/// The ways an example is compiled: its defaults with few layers, and once with what they leave out.
std::vector<sema::Options> ways(const std::string& text) {
  const auto declares = [&](const std::string& key) {
    return text.find("\n  " + key + ":") != std::string::npos;
  };
  sema::Options plain;
  plain.draft = text.find("\ndraft ") != std::string::npos;
  plain.builtins.exe_mode = "ge_graph";
  // Four, so that dense layers before the experts leave some for these.
  for (const char* key : {"num_hidden_layers", "num_layers"})
    if (declares(key)) set(plain, std::string(key) + "=4");
  std::vector<sema::Options> out{plain};
  sema::Options other = plain;
  other.builtins.exe_mode = "eager";
  for (const char* key : {"w8a8", "attention_bias", "mlp_bias", "tie_word_embeddings"})
    if (declares(key)) set(other, std::string(key) + "=true");
  out.push_back(other);
  return out;
}

bool clean(const Program& p) {
  const auto c = check(p, p.text);
  // A program with errors of its own is worth a look.
  for (const auto& d : c->diags.all())
    if (d.severity == diag::Severity::Error)
      fmt::print("{}: {}", p.name, diag::to_human(d, c->sources, false));
  return !c->diags.has_errors();
}

void add_library(const fs::path& folder, const std::string& wanted, const std::string& text,
                 std::vector<Program>& out) {
  int count = 0;
  for (const fs::path& example : files_of(kRoot / "examples", false)) {
    const std::string main = read(example);
    std::vector<std::vector<std::string>> chains;  // from the example to the file
    for (const std::string& first : imports_of(main)) {
      if (first == wanted) chains.push_back({first});
      for (const std::string& second : imports_of(read(kRoot / "stdlib" / fs::path(first).filename())))
        if (second == wanted) chains.push_back({first, second});
    }
    for (const auto& chain : chains)
      for (const sema::Options& options : ways(main)) {
        Program p;
        const fs::path home = folder / (fs::path(wanted).stem().string() + std::to_string(count++));
        fs::path beside = home;
        p.name = fmt::format("{} of {}", wanted, example.filename().string());
        p.main_path = (home / example.filename()).string();
        p.main = main;
        for (const std::string& step : chain) {
          p.file = (beside / step).string();
          write(p.file, read(kRoot / "stdlib" / fs::path(step).filename()));
          beside = fs::path(p.file).parent_path();
        }
        p.text = text;
        p.options = options;
        if (clean(p)) out.push_back(std::move(p));
      }
  }
}

/// A golden program that runs without errors by one command line.
std::optional<Program> golden(const fs::path& path) {
  const std::string all = read(path);
  const size_t expect = all.find("//--- ");
  const std::string text = all.substr(0, expect);
  if (!text.starts_with("// RUN: ") || all.find("\n//--- file") != std::string::npos ||
      all.find("//> exit 0") == std::string::npos || text.find("\n// RUN: ") != std::string::npos)
    return {};
  Program p;
  p.name = fs::relative(path, kRoot).string();
  p.main_path = p.file = path.string();
  p.main = p.text = text;
  std::istringstream words(text.substr(8, text.find('\n') - 8));
  std::string word;
  words >> word;
  p.options.builtins.exe_mode = word == "explain" ? "ge_graph" : "eager";
  while (words >> word) {
    std::string value;
    if (word == "--mode") words >> p.options.builtins.exe_mode;
    if (word == "--set") {
      words >> value;
      set(p.options, value);
    }
  }
  return p;
}

}  // namespace

Corpus read_corpus(const std::string& folder) {
  Corpus out;
  for (const fs::path& path : files_of(kRoot / "examples", false)) {
    const std::string text = read(path);
    for (const sema::Options& options : ways(text)) {
      Program p{path.filename().string(), path.string(), text, path.string(), text, options};
      if (clean(p)) out.examples.push_back(std::move(p));
    }
  }
  for (const fs::path& path : files_of(kRoot / "stdlib", false)) {
    std::vector<Program> found;
    add_library(folder, "std/" + path.filename().string(), read(path), found);
    if (!found.empty()) out.library.push_back(std::move(found));
  }
  for (const fs::path& path : files_of(kRoot / "tests" / "golden", true))
    if (auto p = golden(path); p && clean(*p)) out.goldens.push_back(std::move(*p));
  return out;
}

std::unique_ptr<Checked> check(const Program& program, const std::string& text) {
  auto out = std::make_unique<Checked>();
  sema::Modules modules(out->diags);
  const bool main = program.file == program.main_path;
  if (!main) write(program.file, text);
  modules.load_text(program.main_path, main ? text : program.main);
  for (uint32_t i = 1; i < out->sources.size(); ++i)
    if (out->sources.name(i) == program.file) out->file = i;
  if (!out->diags.has_errors()) (void)sema::elaborate(modules, program.options, out->diags);
  return out;
}

}  // namespace skdsl::quality
