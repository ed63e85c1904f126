#include "runtime/plan/happens_before.h"

#include <algorithm>
#include <unordered_map>

namespace skdsl::plan {

using Node = HappensBefore::Node;

Node HappensBefore::add(uint32_t stream) {
  const auto node = static_cast<Node>(place_.size());
  if (stream >= last_.size()) {
    last_.resize(stream + 1, kNone);
    own_.resize(stream + 1, kNone);
  }
  // A meeting that counts to another stream stands in this one too.
  if (last_[stream] != own_[stream]) edges_.push_back({last_[stream], node});
  const Node previous = own_[stream];
  place_.push_back({stream, previous == kNone ? 1 : place_[previous].number + 1, 0, previous});
  last_[stream] = own_[stream] = node;
  return node;
}

Node HappensBefore::add(std::span<const uint32_t> streams) {
  const Node node = add(streams.front());
  for (const uint32_t s : streams.subspan(1)) {
    if (s >= last_.size()) {
      last_.resize(s + 1, kNone);
      own_.resize(s + 1, kNone);
    }
    if (last_[s] != kNone && last_[s] != node) edges_.push_back({last_[s], node});
    last_[s] = node;
  }
  return node;
}

void HappensBefore::order(Node before, Node after) {
  const Place &a = place_[before], &b = place_[after];
  if (a.stream == b.stream && a.number < b.number) return;
  edges_.push_back({before, after});
}

void HappensBefore::close() {
  const size_t n = place_.size();
  std::vector<std::vector<Node>> before(n), after(n);
  std::vector<uint32_t> missing(n, 0);
  const auto edge = [&](Node a, Node b) {
    before[b].push_back(a);
    after[a].push_back(b);
    ++missing[b];
  };
  for (Node i = 0; i < n; ++i)
    if (place_[i].previous != kNone) edge(place_[i].previous, i);
  for (const Edge& e : edges_) edge(e.before, e.after);

  clocks_.emplace_back(last_.size(), 0);
  std::vector<uint8_t> settled(n, 0);
  std::vector<Node> ready;
  const auto settle = [&](Node i) {
    Place& p = place_[i];
    // The row of the stream so far is shared until something new joins.
    if (p.previous != kNone && settled[p.previous] != 0) p.clock = place_[p.previous].clock;
    std::vector<uint32_t> row;
    for (const Node b : before[i]) {
      if (settled[b] == 0 || b == p.previous) continue;
      const Place& q = place_[b];
      if (row.empty()) row = clocks_[p.clock];
      for (size_t s = 0; s < row.size(); ++s) row[s] = std::max(row[s], clocks_[q.clock][s]);
      row[q.stream] = std::max(row[q.stream], q.number);
    }
    if (!row.empty() && row != clocks_[p.clock]) {
      p.clock = static_cast<uint32_t>(clocks_.size());
      clocks_.push_back(std::move(row));
    }
    settled[i] = 1;
    for (const Node a : after[i])
      if (--missing[a] == 0 && settled[a] == 0) ready.push_back(a);
  };
  for (Node i = 0; i < n; ++i)
    if (missing[i] == 0) ready.push_back(i);
  for (Node next = 0;;) {
    while (!ready.empty()) {
      const Node i = ready.back();
      ready.pop_back();
      if (settled[i] == 0) settle(i);
    }
    while (next < n && settled[next] != 0) ++next;
    if (next == n) break;
    if (cycle_.empty()) find_cycle(settled, before);
    settle(next);
  }
}

void HappensBefore::find_cycle(const std::vector<uint8_t>& settled,
                               const std::vector<std::vector<Node>>& before) {
  // Whoever is not settled waits for another such node: going back long enough repeats one.
  Node at = 0;
  while (settled[at] != 0) ++at;
  std::vector<uint32_t> seen(place_.size(), 0);
  std::vector<Node> way;
  while (seen[at] == 0) {
    way.push_back(at);
    seen[at] = static_cast<uint32_t>(way.size());
    const auto open =
        std::find_if(before[at].begin(), before[at].end(), [&](Node b) { return settled[b] == 0; });
    if (open == before[at].end()) return;
    at = *open;
  }
  cycle_.assign(way.begin() + (seen[at] - 1), way.end());
  std::reverse(cycle_.begin(), cycle_.end());
}

bool HappensBefore::before(Node a, Node b) const {
  if (a == b) return false;
  const Place &p = place_[a], &q = place_[b];
  if (p.stream == q.stream) return p.number < q.number;
  return clocks_[q.clock][p.stream] >= p.number;
}

OrderRules order_rules(std::string_view mode) {
  if (mode == "ge_graph") return {.events = true, .data = true, .tensors = true, .closure = false};
  return {.events = true, .data = false, .tensors = false, .closure = mode == "npugraph_ex"};
}

OpOrder::OpOrder(const Program& program, const Function& function, OrderRules rules)
    : program_(program),
      function_(function),
      node_(function.ops.size(), kNone),
      position_(function.ops.size(), kNone),
      definer_(function.values.size(), kNone),
      readers_(function.ops.size()) {
  walk(function.body, 0);
  if (rules.events) add_events();
  if (rules.data) add_data();
  if (rules.tensors)
    for (const OpId id : ops_)
      if (const Op& op = function_.ops[id]; op.code == Opcode::WaitTensor)
        if (const OpId made = producer(op.operands[1]); made != kNone) order_.order(node_[made], node_[id]);
  if (rules.closure) add_closure();
  order_.close();
}

void OpOrder::walk(RegionId region, int depth) {
  if (depth > kMaxRegionDepth) return;
  for (const OpId id : function_.regions[region].ops) {
    const Op& op = function_.ops[id];
    uint32_t stream = 0;
    for (ContextId c = op.context; c != kNone; c = program_.contexts[c].parent) {
      const Context& context = program_.contexts[c];
      if (context.kind != Context::Kind::Stream) continue;
      const auto it = std::find(streams_.begin(), streams_.end(), context.name);
      stream = static_cast<uint32_t>(it - streams_.begin());
      if (it == streams_.end()) streams_.push_back(context.name);
      break;
    }
    node_[id] = order_.add(stream);
    position_[id] = static_cast<uint32_t>(ops_.size());
    ops_.push_back(id);
    for (const ValueId v : op.results) definer_[v] = id;
    for (const ValueId v : op.operands)
      if (v != kNone)
        if (const OpId made = producer(v);
            made != kNone && (readers_[made].empty() || readers_[made].back() != id))
          readers_[made].push_back(id);
    // Its operands are read before its regions run.
    for (const RegionId r : op.regions) walk(r, depth + 1);
  }
}

OpId OpOrder::producer(ValueId value) const {
  while (value != kNone && definer_[value] != kNone) {
    const OpId id = definer_[value];
    const Op& op = function_.ops[id];
    if (op.code == Opcode::Weight || op.code == Opcode::State || op.code == Opcode::Constant) return kNone;
    if (!info(op.code).has(kView)) return id;
    value = op.operands[0];
  }
  return kNone;
}

bool OpOrder::is_task(OpId op) const {
  const OpInfo& row = info(function_.ops[op].code);
  return (row.has_kernel() && !row.has(kView)) || row.has(kCollective);
}

void OpOrder::add_events() {
  std::unordered_map<std::string, OpId> last;
  std::unordered_map<std::string, std::vector<size_t>> early;  // waits without a record so far
  for (const OpId id : ops_) {
    const Op& op = function_.ops[id];
    if (op.code == Opcode::RecordEvent) {
      const auto& name = std::get<std::string>(op.attrs[0]);
      last[name] = id;
      for (const size_t w : early[name]) {
        waits_[w].record = id;
        order_.order(node_[id], node_[waits_[w].wait]);
      }
      early[name].clear();
    } else if (op.code == Opcode::WaitEvent) {
      const auto& name = std::get<std::string>(op.attrs[0]);
      const auto it = last.find(name);
      if (it == last.end()) {
        early[name].push_back(waits_.size());
        waits_.push_back({id, kNone, true});
      } else {
        waits_.push_back({id, it->second, false});
        order_.order(node_[it->second], node_[id]);
      }
    }
  }
}

void OpOrder::add_data() {
  struct Use {
    OpId writer = kNone;
    std::vector<OpId> readers;
  };
  std::unordered_map<std::string, Use> states;
  const auto state_of = [&](ValueId v) -> const std::string* {
    while (v != kNone && definer_[v] != kNone) {
      const Op& op = function_.ops[definer_[v]];
      if (op.code == Opcode::State) return &std::get<std::string>(op.attrs[0]);
      if (!info(op.code).has(kView) && !info(op.code).has(kInPlace)) return nullptr;
      v = op.operands[0];
    }
    return nullptr;
  };
  for (const OpId id : ops_) {
    const Op& op = function_.ops[id];
    const OpInfo& row = info(op.code);
    if (row.has(kView) || row.category == "schedule") continue;
    for (const ValueId v : op.operands) {
      if (v == kNone) continue;
      if (const OpId made = producer(v); made != kNone) order_.order(node_[made], node_[id]);
      if (const std::string* path = state_of(v); path != nullptr && op.code != Opcode::State) {
        Use& use = states[*path];
        if (use.writer != kNone && use.writer != id) order_.order(node_[use.writer], node_[id]);
        use.readers.push_back(id);
      }
    }
    if (!row.has(kInPlace)) continue;
    if (const std::string* path = state_of(op.operands[0]); path != nullptr) {
      Use& use = states[*path];
      for (const OpId reader : use.readers)
        if (reader != id) order_.order(node_[reader], node_[id]);
      use = {id, {}};
    }
  }
}

void OpOrder::add_closure() {
  if (ops_.empty() || streams_.size() < 2) return;
  // Before the first op there is nothing to wait for; the end of the main stream waits for all others.
  const OpId end = ops_.back();
  std::vector<OpId> last(streams_.size(), kNone);
  for (const OpId id : ops_) last[order_.stream(node_[id])] = id;
  for (const OpId id : last)
    if (id != kNone && id != end) order_.order(node_[id], node_[end]);
}

std::vector<OpId> OpOrder::cycle() const {
  std::vector<OpId> out;
  for (const HappensBefore::Node n : order_.cycle()) out.push_back(ops_[n]);
  return out;
}

HappensBefore step_order(const Schedule& schedule) {
  HappensBefore order;
  std::vector<Node> recorded(schedule.events.size(), kNone);
  std::vector<std::pair<uint32_t, Node>> early;
  const auto event = [&](const Step& step, Node node) {
    if (step.kind == Step::Kind::Record) recorded[step.event] = node;
    if (step.kind == Step::Kind::Wait) {
      if (recorded[step.event] == kNone)
        early.emplace_back(step.event, node);
      else if (recorded[step.event] != node)
        order.order(recorded[step.event], node);
    }
  };
  for (const Step& step : schedule.steps) {
    if (step.kind != Step::Kind::SuperKernel) {
      event(step, order.add(step.stream));
      continue;
    }
    std::vector<uint32_t> streams{step.stream};
    const SuperKernel& k = schedule.superkernels[step.task];
    for (const Step& inner : k.body)
      if (std::find(streams.begin(), streams.end(), inner.stream) == streams.end())
        streams.push_back(inner.stream);
    const Node node = order.add(streams);
    for (const Step& inner : k.body) event(inner, node);
  }
  for (const auto& [which, wait] : early)
    if (recorded[which] != kNone) order.order(recorded[which], wait);
  order.close();
  return order;
}

}  // namespace skdsl::plan
