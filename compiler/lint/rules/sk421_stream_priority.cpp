// A priority other than the default: the field is reserved, nothing follows from it.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk421_stream_priority(const Context& c, Report& report) {
  std::set<std::pair<uint32_t, uint32_t>> told;
  for (const plan::Context& context : c.program->contexts) {
    if (context.kind != plan::Context::Kind::Stream) continue;
    for (const auto& [key, value] : context.options) {
      const Span where = c.span(context.loc);
      if (key != "priority" || value == "0" || !told.emplace(where.file, where.begin).second) continue;
      auto finding = report.at(where, context.name, value);
      finding.help("leave the option out");
      const ast::NodeId node = node_at(c, where, ast::Kind::Stream);
      const ast::NodeId options = node ? c.ast().child(node, 1) : 0;
      if (!options || c.ast().children(options).size() != 1) continue;
      const Span name = c.ast().span(c.ast().child(node, 0));
      finding.fix({name.file, name.end, c.ast().span(options).end}, "");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
