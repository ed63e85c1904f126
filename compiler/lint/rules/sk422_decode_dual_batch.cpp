// Two parts of a decode batch on two streams: one batch is too small to share the device with itself. Micro
// batches are for prefill.
#include <map>
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {
/// Both parts go through the same operators, a product of matrices among them.
bool same_heavy_start(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  bool heavy = false;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i)
    heavy |= a[i].find("matmul") != a[i].npos || a[i] == "linear";
  return heavy;
}
}  // namespace

void sk422_decode_dual_batch(const Context& c, Report& report) {
  if (!c.graph()) return;
  // Parts of one tensor along its rows, with the operators that read them.
  struct Part {
    plan::OpId slice;
    uint32_t stream;
    std::vector<std::string_view> chain;  // names of what is computed from it on its stream
  };
  std::map<plan::ValueId, std::vector<Part>> parts;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Slice || std::get<plan::Dim>(op.attrs[0]) != plan::Dim(0)) continue;
    if (!c.weight_path(op.operands[0]).empty()) continue;
    Part part{id, 0, {}};
    plan::OpId at = id;
    while (at != plan::kNone && part.chain.size() < 4) {
      plan::OpId next = plan::kNone;
      for (const plan::OpId r : c.order->readers(at))
        if (c.order->is_task(r)) {
          next = r;
          break;
        }
      if (next == plan::kNone) break;
      if (part.chain.empty()) part.stream = c.order->stream(next);
      if (c.order->stream(next) != part.stream) break;
      part.chain.push_back(info(c.op(next).code).name);
      at = next;
    }
    if (!part.chain.empty()) parts[op.operands[0]].push_back(std::move(part));
  }
  std::set<uint32_t> told;
  for (const auto& [value, all] : parts)
    for (const Part& a : all)
      for (const Part& b : all) {
        if (a.stream >= b.stream || told.contains(b.stream) || !same_heavy_start(a.chain, b.chain)) continue;
        if (c.op(a.slice).attrs == c.op(b.slice).attrs) continue;
        told.insert(b.stream);
        report.at(b.slice, c.order->streams()[a.stream], c.order->streams()[b.stream])
            .note(c.place(a.slice), "the other part of the batch")
            .help("run the batch as one in decode; in prefill two micro batches hide their communication");
      }
}

}  // namespace skdsl::lint::rules_impl
