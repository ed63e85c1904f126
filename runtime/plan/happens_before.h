// happens_before — what is certainly done before what, on streams that run beside each other
//
//   stream 0    a ── record e ── c            a before d, a before c; c and d are concurrent
//   stream 1                 └─ wait e ── d
//
// HappensBefore is the order itself: nodes on streams, and edges between them. OpOrder builds it for the ops
// of one function, `step_order` for the steps of a static graph. Nodes of a stream are in order by
// themselves.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/plan.h"

namespace skdsl::plan {

/// A partial order of nodes; asking costs two look-ups. Memory grows with edges between streams times
/// streams.
class HappensBefore {
 public:
  using Node = uint32_t;

  /// The next node of a stream, behind all nodes that the stream has.
  Node add(uint32_t stream);
  /// A node where several streams meet: behind all their nodes, before all later ones. It counts to the
  /// first.
  Node add(std::span<const uint32_t> streams);
  /// One more edge; may close a cycle.
  void order(Node before, Node after);
  /// Makes the order; nothing may be added afterwards.
  void close();

  /// Whether `a` is certainly done when `b` starts. Where there is a cycle, one of its edges is left out.
  bool before(Node a, Node b) const;
  /// Neither is before the other.
  bool concurrent(Node a, Node b) const { return a != b && !before(a, b) && !before(b, a); }
  /// The nodes of one cycle, each before the next and the last before the first; empty when there is none.
  const std::vector<Node>& cycle() const { return cycle_; }

  size_t size() const { return place_.size(); }
  uint32_t stream(Node n) const { return place_[n].stream; }

 private:
  struct Place {
    uint32_t stream = 0;
    uint32_t number = 0;    // on its stream, from 1
    uint32_t clock = 0;     // row of clocks_: what of the other streams is done
    Node previous = kNone;  // on its stream
  };
  struct Edge {
    Node before, after;
  };
  void find_cycle(const std::vector<uint8_t>& settled, const std::vector<std::vector<Node>>& before);

  std::vector<Place> place_;
  std::vector<Node> last_;  // by stream
  std::vector<Node> own_;   // by stream: the last one that counts to it
  std::vector<Edge> edges_;
  std::vector<std::vector<uint32_t>> clocks_;  // rows by stream: how many nodes are done
  std::vector<Node> cycle_;
};

/// What orders the ops of a function besides the streams they stand on.
struct OrderRules {
  bool events = true;    // wait behind record
  bool data = false;     // a reader behind the writer, and states in the order of their readers and writers
  bool tensors = false;  // wait_tensor(x, y): behind y
  bool closure = false;  // all streams are done before the result is handed out
};
/// Of eager, npugraph_ex or ge_graph.
OrderRules order_rules(std::string_view mode);

/// A wait and the record that it belongs to: the last one before it, else the first one behind it.
struct EventWait {
  OpId wait = kNone;
  OpId record = kNone;  // kNone: the event is never recorded
  bool early = false;   // the wait stands before every record
};

/// The ops of a function, those of nested regions included, in the order of the program on their streams.
class OpOrder {
 public:
  OpOrder(const Program& program, const Function& function, OrderRules rules);

  bool before(OpId a, OpId b) const { return order_.before(node_[a], node_[b]); }
  bool concurrent(OpId a, OpId b) const { return order_.concurrent(node_[a], node_[b]); }
  /// Ops in the order of the program.
  const std::vector<OpId>& ops() const { return ops_; }
  /// Position of an op in ops().
  uint32_t position(OpId op) const { return position_[op]; }
  /// 0 is the stream of everything that names none.
  uint32_t stream(OpId op) const { return order_.stream(node_[op]); }
  const std::vector<std::string>& streams() const { return streams_; }
  const std::vector<EventWait>& waits() const { return waits_; }
  /// Ops of one cycle of waits; empty when there is none.
  std::vector<OpId> cycle() const;

  /// The op that has a value as its result; kNone for arguments.
  OpId definer(ValueId value) const { return definer_[value]; }
  /// The op that made the bytes of a value: views are looked through; kNone for arguments and
  /// what is there before the step (weights, consts, states, literals).
  OpId producer(ValueId value) const;
  /// Ops that do work on the device.
  bool is_task(OpId op) const;
  /// Ops that read the bytes of what `op` made, through views too; in the order of the program.
  const std::vector<OpId>& readers(OpId op) const { return readers_[op]; }

 private:
  void walk(RegionId region, int depth);
  void add_events();
  void add_data();
  void add_closure();

  const Program& program_;
  const Function& function_;
  HappensBefore order_;
  std::vector<HappensBefore::Node> node_;  // by op
  std::vector<uint32_t> position_;         // by op
  std::vector<OpId> ops_;
  std::vector<std::string> streams_{"main"};
  std::vector<EventWait> waits_;
  std::vector<OpId> definer_;  // by value
  std::vector<std::vector<OpId>> readers_;
};

/// The steps of a static graph; node i is step i. A super kernel stands on the streams of all its tasks.
HappensBefore step_order(const Schedule& schedule);

}  // namespace skdsl::plan
