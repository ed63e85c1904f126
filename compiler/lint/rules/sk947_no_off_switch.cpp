// A schedule construct of a model without `when`: nobody can compare with and without it.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {

using ast::Kind;

/// The position of the condition among the children of a construct; -1 for other nodes.
int when_of(Kind kind) {
  switch (kind) {
    case Kind::SuperKernel:
    case Kind::Stream:
      return 2;
    case Kind::Cores:
      return 1;
    case Kind::Prefetch:
      return 3;
    default:
      return -1;
  }
}

std::string_view word(Kind kind) {
  return kind == Kind::SuperKernel ? "superkernel"
         : kind == Kind::Stream    ? "stream"
         : kind == Kind::Cores     ? "cores"
                                   : "prefetch";
}

void walk(const Context& c, ast::NodeId node, bool switched, Report& report) {
  const ast::Ast& a = c.ast();
  const Kind kind = a.kind(node);
  if (const int when = when_of(kind); when >= 0 && a.text(node) != "none") {
    const bool has = a.child(node, static_cast<size_t>(when)) != 0;
    // The header's first word stands for the construct.
    const Span s = a.span(node);
    if (!has && !switched)
      report.at(Span{s.file, s.begin, s.begin + static_cast<uint32_t>(word(kind).size())}, word(kind))
          .help(fmt::format("write `when enable_…` with a key of `config`"));
    switched |= has;
  }
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, switched || kind == Kind::If, report);
}

}  // namespace

void sk947_no_off_switch(const Context& c, Report& report) {
  // Scripts are experiments: what they write is what they want to see.
  if (c.modules->main().model) walk(c, c.ast().root, false, report);
}

}  // namespace skdsl::lint::rules_impl
