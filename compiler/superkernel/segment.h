// segment — which ops of a scope become one super kernel, in the graph-compile engine
//
// Ops are looked at in execution order. One that does not fuse ends the piece that is open and runs alone. A
// piece also ends when something outside it would have to run in its middle: the launch must be possible as a
// whole.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace skdsl::superkernel {

/// One thing in execution order. `before` are earlier nodes that must be done first.
struct Node {
  bool transparent = false;  // no work of its own (view, note, event): a piece may take it in
  std::string scope;         // "" = in none
  std::optional<plan::FusionReason> unfusable;
  std::vector<uint32_t> before;
};

struct Segments {
  struct Cut {
    std::string scope;
    uint32_t node = 0;
    plan::FusionReason reason{};
  };
  std::vector<std::vector<uint32_t>> pieces;  // nodes in order, transparent ones between them included
  std::vector<Cut> cuts;
  std::vector<int64_t> order;  // what runs one after the other: a node, or piece p as -1 - p
};

/// Pieces of all scopes. `bypass` lists scopes that are given up when one of their ops does not fuse.
Segments segment(const std::vector<Node>& nodes, const std::vector<std::string>& bypass = {});

/// Whether an operator's kernel can be called from a super kernel in this CANN release; nothing when it can.
std::optional<plan::FusionReason> unfusable(Opcode op, std::string_view cann);
/// The way out for an op that did not fuse.
std::string_view remedy(Opcode op, plan::FusionReason reason);
/// The newest release known, which is the default.
inline constexpr std::string_view kNewestCann = "9.1";
/// "8.2", "8.5.1", "8.2.RC1".
bool is_release(std::string_view text);

/// "sk_<scope>_start_<first>_end_<last>"; what cannot stand in a name becomes "_".
std::string fused_name(std::string_view scope, std::string_view first, std::string_view last);

}  // namespace skdsl::superkernel
