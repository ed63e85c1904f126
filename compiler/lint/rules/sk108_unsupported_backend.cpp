// A comparison of `exe_mode` with a back end of another device: it never holds. A run config that asks for
// one is reported when it is read.
#include "compiler/config/run_keys.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {

using ast::Kind;

void walk(const Context& c, ast::NodeId node, Report& report) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == Kind::Binary && (a.text(node) == "==" || a.text(node) == "!=")) {
    for (const size_t side : {0, 1}) {
      const ast::NodeId name = a.child(node, side), word = a.child(node, 1 - side);
      if (a.kind(name) != Kind::Name || a.text(name) != "exe_mode" || a.kind(word) != Kind::Str) continue;
      const std::string instead(config::foreign_backend(a.text(word)));
      if (instead.empty()) continue;
      report.at(a.span(word), a.text(word))
          .help(fmt::format("the modes are eager, npugraph_ex and ge_graph; write \"{}\"", instead))
          .fix(a.span(word), fmt::format("\"{}\"", instead));
    }
  }
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, report);
}

}  // namespace

void sk108_unsupported_backend(const Context& c, Report& report) { walk(c, c.ast().root, report); }

}  // namespace skdsl::lint::rules_impl
