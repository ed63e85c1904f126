// module — the loaded files: the main one and what it imports
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/diag/diag.h"
#include "compiler/sema/value.h"

namespace skdsl::sema {

struct Module {
  uint32_t file = 0;
  std::string path;
  ast::Ast ast;
  std::map<std::string, ast::NodeId, std::less<>>
      decls;                      // layers, models, functions, extern ops of this file
  std::vector<uint32_t> imports;  // modules
  ast::NodeId config = 0;
  ast::NodeId model = 0;
  std::vector<ast::NodeId> script;  // top-level statements
};

class Modules {
 public:
  explicit Modules(diag::Engine& diags) : diags_(&diags) {}

  /// Loads a file and everything that it imports. "std/x.sk" is looked up beside the file first, then in the
  /// shipped standard library. False when a file could not be read; syntax errors are in the diagnostics.
  bool load_main(const std::string& path);
  /// The same for a file that is in the sources already.
  void load_file(uint32_t file);
  bool load_text(const std::string& name, std::string text);

  const Module& operator[](uint32_t i) const { return modules_[i]; }
  const Module& main() const { return modules_[0]; }
  size_t size() const { return modules_.size(); }
  diag::Engine& diags() const { return *diags_; }
  /// A declaration that file `module` sees: its own, then those of its imports.
  NodeRef find(uint32_t module, std::string_view name) const;
  /// Names for "did you mean".
  std::vector<std::string> names(uint32_t module) const;
  /// The shipped file that declares `name`, or "".
  std::string shipped_home_of(std::string_view name) const;

 private:
  uint32_t load(uint32_t file, std::vector<std::string>& stack);
  void import(uint32_t module, ast::NodeId node, std::vector<std::string>& stack);
  diag::Engine* diags_;
  std::deque<Module> modules_;
  std::map<std::string, uint32_t> loaded_;
};

}  // namespace skdsl::sema
