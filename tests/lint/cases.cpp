#include "tests/lint/cases.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/lint_run.h"
#include "compiler/lint/fix.h"

namespace skdsl::testing {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

lint::Options options_of(const LintCase& c) {
  lint::Options out;
  cli::ModelOptions model;
  std::istringstream in(c.args);
  for (std::string word, value; in >> word >> value;) {
    if (word == "--mode")
      out.modes.push_back(value);
    else if (word == "--set")
      model.set.push_back(value);
    else if (word == "--chip")
      out.chip = find_chip(value);
    else
      std::abort();  // a case with another argument would test nothing
  }
  out.resolve = cli::run_resolver(model);
  return out;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Places marked(const LintCase& c) {
  Places out;
  const std::string mark = lint::is_run_config(c.name) ? "#~" : "//~";
  const auto lines = lines_of(c.text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t at = lines[i].find(mark);
    if (at == std::string::npos) continue;
    std::string rest = lines[i].substr(at + mark.size());
    const bool nowhere = rest.starts_with("~");
    std::istringstream words(nowhere ? rest.substr(1) : rest);
    for (std::string id; words >> id;) out.emplace(nowhere ? 0 : static_cast<int64_t>(i + 1), id);
  }
  return out;
}

Linted lint(const LintCase& c) {
  source::Sources sources;
  const lint::Options options = options_of(c);
  const uint32_t file = sources.add(c.name, c.text);
  Linted out;
  for (const diag::Diagnostic& d : lint::check(file, sources, options).findings) {
    const std::string id(diag::rule(d.id).id);
    out.all.emplace(d.span.file == file ? static_cast<int64_t>(sources.loc(d.span).line)
                    : d.span            ? -1
                                        : 0,
                    id);
    out.severity[id] = d.severity;
    out.human += diag::to_human(d, sources, false);
  }
  return out;
}

std::string fixed(const LintCase& c, diag::Applicability trust, size_t* fixes) {
  const auto applied = lint::fix_all(c.name, c.text, options_of(c), trust);
  *fixes = applied.fixes;
  return applied.text;
}

std::vector<LintCase> section_cases(const std::string& page, const std::string& section) {
  std::vector<LintCase> out;
  bool inside = false, code = false;
  for (const std::string& line : lines_of(page)) {
    if (code) {
      if (line == "```")
        code = false;
      else if (inside)
        out.back().text += line + "\n";
      continue;
    }
    if (line.starts_with("## ")) inside = line == "## " + section;
    for (const auto& [word, name] :
         {std::pair("```sk lint", "page.sk"), std::pair("```yaml lint", "page.yaml")})
      if (inside && line.starts_with(word)) out.push_back({name, "", line.substr(std::string(word).size())});
    if (line.starts_with("```")) {
      code = true;
      // Only what is meant to be checked is collected.
      if (inside && line.find(" lint") == std::string::npos) out.push_back({"", "", ""});
    }
  }
  std::erase_if(out, [](const LintCase& c) { return c.name.empty(); });
  return out;
}

LintCase file_case(const std::string& path) {
  LintCase c{path, read_text(path), ""};
  const std::string head = lint::is_run_config(path) ? "# LINT:" : "// LINT:";
  if (c.text.starts_with(head)) c.args = c.text.substr(head.size(), c.text.find('\n') - head.size());
  return c;
}

}  // namespace skdsl::testing
