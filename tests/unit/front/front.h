// front — what the front end's tests share
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "compiler/parse/parse.h"

namespace skdsl::test {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
inline std::string data(const std::string& name) {
  return read_file(std::string(SKDSL_SOURCE_DIR) + "/tests/unit/front/" + name);
}

/// Full counts when SKDSL_SOAK is set.
inline int count(int quick, int full) {
  const char* const soak = std::getenv("SKDSL_SOAK");
  return soak != nullptr && *soak == '1' ? full : quick;
}

/// A text through the parser, with everything needed to look at the outcome.
struct Parsed {
  explicit Parsed(std::string text, std::string name = "t.sk")
      : file(sources.add(std::move(name), std::move(text))), tree(parse::parse(file, diags)) {}
  source::Sources sources;
  diag::Engine diags{sources};
  uint32_t file;
  ast::Ast tree;

  /// All diagnostics as the terminal shows them.
  std::string messages() const {
    std::string out;
    for (const diag::Diagnostic& d : diags.all()) out += diag::to_human(d, sources, false);
    return out;
  }
  /// "SK1001 3:10 message", one a line.
  std::string brief() const {
    std::string out;
    for (const diag::Diagnostic& d : diags.all()) {
      const Loc loc = sources.loc(d.span);
      out += fmt::format("{} {}:{} {}\n", diag::rule(d.id).id, loc.line, loc.column, d.message);
    }
    return out;
  }
  /// (Kind text children…), without the File around it.
  std::string tree_text() const {
    std::string out;
    for (const ast::NodeId id : tree.children(tree.root)) out += (out.empty() ? "" : " ") + node_text(id);
    return out;
  }
  std::string node_text(ast::NodeId id) const {
    if (id == 0) return "-";
    std::string out = "(" + std::string(ast::name(tree.kind(id)));
    if (!tree.text(id).empty()) out += " " + std::string(tree.text(id));
    if (tree[id].flags != 0) out += " !" + std::to_string(tree[id].flags);
    for (const ast::NodeId child : tree.children(id)) out += " " + node_text(child);
    return out + ")";
  }
};

}  // namespace skdsl::test
