// A super kernel with kernels of two streams that runs them one after the other: the overlap that the streams
// were written for is gone.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk311_superkernel_streams_without_fusion(const Context& c, Report& report) {
  for (const plan::SuperKernel& k : c.schedule->superkernels) {
    if (k.options.find("stream-fusion=1") != std::string::npos) continue;
    std::set<uint32_t> streams;
    std::vector<std::string> names;
    for (const plan::SkKernel& kernel : k.kernels)
      if (streams.insert(kernel.stream).second)
        names.push_back(fmt::format("`{}`", c.schedule->streams[kernel.stream]));
    if (streams.size() < 2) continue;
    for (const plan::Context& scope : c.scheduled->contexts) {
      if (scope.kind != plan::Context::Kind::SuperKernel || scope.name != k.scope) continue;
      auto finding = report.at(scope.loc, k.scope, fmt::join(names, " and "));
      finding.help("write `(stream-fusion = 1)` behind the name, or keep the scope on one stream");
      const ast::NodeId node = node_at(c, c.span(scope.loc), ast::Kind::SuperKernel);
      if (!node || !scope.options.empty()) break;
      const Span name = c.ast().span(c.ast().child(node, 0));
      finding.fix({name.file, name.end, name.end}, " (stream-fusion = 1)");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
