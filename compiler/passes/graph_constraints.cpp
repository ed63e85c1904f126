#include "compiler/passes/graph_constraints.h"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

namespace skdsl::passes {

using namespace plan;

namespace {

// What the host must do for an operator, and what does it without the host.
struct Remedy {
  Opcode op;
  std::string_view help;
};
constexpr Remedy kRemedies[] = {
    {Opcode::Item,
     "keep the value on the device (`index_select` picks by a tensor), or pass it into the phase as an "
     "input"},
    {Opcode::ToList,
     "keep the lengths on the device: operators take an `i32[B]` tensor, such as "
     "`step.actual_seq_lengths_kv`"},
    {Opcode::Nonzero, "compute with the mask itself: `where(mask, x, y)` keeps the shape"},
    {Opcode::MaskedSelect, "write `where(mask, x, 0)`, which keeps the shape of `x`"},
    {Opcode::IndexPut, "write `x = where(mask, value, x)`"},
    {Opcode::Print, "write `tap x` and read the value with a dump after the step"},
    {Opcode::RandomNormal, "draw the numbers outside the phase and pass them in, or make them a `const`"},
    {Opcode::StreamSync, "order the streams on the device: `record e` on one, `wait e` on the other"},
};

std::string_view remedy(Opcode op) {
  for (const Remedy& r : kRemedies)
    if (r.op == op) return r.help;
  return "move it out of the phase";
}

constexpr std::string_view kHiddenRead =
    "a boolean index hides a device-to-host read: the number of matches must be known before the result can "
    "be made";

class Checker {
 public:
  Checker(const Function& f, std::string_view mode, diag::Engine& diags)
      : f_(f), mode_(mode), diags_(diags), tainted_(f.values.size(), 0), definer_(f.values.size(), kNone) {}

  bool run() {
    for (OpId id = 0; id < f_.ops.size(); ++id)
      for (const ValueId v : f_.ops[id].results) definer_[v] = id;
    for (const ValueId v : f_.regions[f_.body].args) {
      tainted_[v] = f_.values[v].type.is_tensor();
      know(v);
    }
    region(f_.body, 0);
    return good_;
  }

 private:
  diag::Engine::Builder report(const Op& op, diag::Id id, const std::string& a) {
    good_ = false;
    return diags_.report(diags_.sources().span(op.loc), id, a, mode_);
  }
  diag::Engine::Builder report(const Op& op, diag::Id id) {
    good_ = false;
    return diags_.report(diags_.sources().span(op.loc), id, mode_);
  }

  void region(RegionId id, int depth) {
    if (depth > kMaxRegionDepth) return;
    for (const OpId op : f_.regions[id].ops) check(f_.ops[op], depth);
  }

  void check(const Op& op, int depth) {
    const OpInfo& row = info(op.code);
    const std::string name(row.name);
    if (row.has(kHostRead)) {
      auto b = report(op, diag::Id::ItemInGraph, name);
      if (op.code == Opcode::IndexPut || op.code == Opcode::MaskedSelect || op.code == Opcode::Nonzero)
        b.note(std::string(kHiddenRead));
      b.help(std::string(remedy(op.code)));
    }
    if (row.has(kDynamicShape) && has_new_size(op))
      report(op, diag::Id::DynamicShapeInGraph, name).help(std::string(remedy(op.code)));
    if (row.has(kHostIo))
      print_to_tap(op, report(op, diag::Id::HostIoInGraph, name).help(std::string(remedy(op.code))));
    if (row.has(kRandom)) report(op, diag::Id::RngInGraph, name).help(std::string(remedy(op.code)));
    if (row.has(kSync))
      report(op, diag::Id::SyncInGraph, name)
          .help(std::string(remedy(op.code)))
          .fix(diags_.sources().span(op.loc), "");
    if (op.code == Opcode::WaitTensor && mode_ == "npugraph_ex")
      report(op, diag::Id::WaitTensorOutsideGe)
          .help("declare `event e`, write `record e` behind what is awaited and `wait e` before its use");
    if (op.code == Opcode::If && is_tainted(op.operands[0]))
      report(op, diag::Id::TensorValuedIf).help("compute both branches and pick with `where(cond, a, b)`");
    if (op.code == Opcode::StateAssign) assigned(op);
    if (op.code == Opcode::While) return loop(op, depth);
    for (const RegionId r : op.regions) region(r, depth + 1);
    const bool taints = row.has(kHostRead) || any_tainted(op) || yields_taint(op);
    for (const ValueId v : op.results) {
      // Tensors hold device values; host numbers do when they were read off one.
      tainted_[v] = f_.values[v].type.is_tensor() || taints;
      know(v);
    }
  }

  // `print(x)` of one value becomes `tap x`.
  void print_to_tap(const Op& op, diag::Engine::Builder& report) {
    const Span at = diags_.sources().span(op.loc);
    std::string_view text = diags_.sources().text(at);
    constexpr std::string_view kCall = "print(";
    if (!text.starts_with(kCall) || !text.ends_with(")")) return;
    text = text.substr(kCall.size(), text.size() - kCall.size() - 1);
    if (!text.empty() && text.find_first_of(",\"{") == text.npos) report.fix(at, fmt::format("tap {}", text));
  }

  bool is_tainted(ValueId v) const { return v != kNone && tainted_[v] != 0; }
  bool any_tainted(const Op& op) const {
    for (const ValueId v : op.operands)
      if (is_tainted(v)) return true;
    return false;
  }
  bool yields_taint(const Op& op) const {
    for (const RegionId r : op.regions)
      if (const Op* end = last(r); end != nullptr && any_tainted(*end)) return true;
    return false;
  }
  const Op* last(RegionId r) const {
    const auto& ops = f_.regions[r].ops;
    return ops.empty() ? nullptr : &f_.ops[ops.back()];
  }

  // The condition depends on tensor values when it reads one, directly or through what the rounds carry.
  void loop(const Op& op, int depth) {
    const Region& condition = f_.regions[op.regions[0]];
    const Region& body = f_.regions[op.regions[1]];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const bool t = f_.values[condition.args[i]].type.is_tensor() || is_tainted(op.operands[i]);
      tainted_[condition.args[i]] = tainted_[body.args[i]] = tainted_[op.results[i]] = t;
      know(condition.args[i]);
      know(body.args[i]);
      know(op.results[i]);
    }
    region(op.regions[0], depth + 1);
    region(op.regions[1], depth + 1);
    // Taint that enters in a round reaches the condition through other carried values in as many rounds.
    const Op* next = last(op.regions[1]);
    for (size_t round = 0; next != nullptr && round < body.args.size(); ++round) {
      bool grew = false;
      spread(op.regions[1], 0);
      for (size_t i = 0; i < body.args.size() && i < next->operands.size(); ++i)
        if (is_tainted(next->operands[i]) && !tainted_[body.args[i]]) {
          tainted_[condition.args[i]] = tainted_[body.args[i]] = tainted_[op.results[i]] = 1;
          grew = true;
        }
      if (!grew) break;
    }
    spread(op.regions[0], 0);
    const Op* test = last(op.regions[0]);
    if (test != nullptr && any_tainted(*test))
      report(op, diag::Id::TensorValuedLoop)
          .help(
              "write `for i in 0..n` with a constant `n`, or leave the loop to the host: one phase call a "
              "round");
  }

  // Host values computed from tainted ones become tainted; nothing is reported again.
  void spread(RegionId r, int depth) {
    if (depth > kMaxRegionDepth) return;
    for (const OpId id : f_.regions[r].ops) {
      const Op& op = f_.ops[id];
      for (const RegionId nested : op.regions) spread(nested, depth + 1);
      if (any_tainted(op) || yields_taint(op))
        for (const ValueId v : op.results) tainted_[v] = 1;
    }
  }

  void know(ValueId v) {
    for (const Dim& d : f_.values[v].type.dims)
      if (!d.is_constant())
        for (const SymbolId s : d.symbols()) known_.insert(s);
  }
  bool has_new_size(const Op& op) const {
    for (const ValueId v : op.results)
      for (const Dim& d : f_.values[v].type.dims)
        if (!d.is_constant())
          for (const SymbolId s : d.symbols())
            if (!known_.contains(s)) return true;
    return false;
  }

  void assigned(const Op& op) {
    const auto& path = std::get<std::string>(op.attrs[0]);
    if (const Op* concat = growing_concat(op.operands[0], path); concat != nullptr) {
      report(op, diag::Id::KvGrowCat, path)
          .note(diags_.sources().span(concat->loc),
                "the state is read here and becomes longer with every step")
          .help("declare the state with its full size and write rows with `scatter_update(" +
                short_name(path) + ", step.slot_mapping, rows)`");
      return;
    }
    report(op, diag::Id::BufferRebound, path)
        .help("write into the state in place: `scatter_update(" + short_name(path) + ", slots, rows)`");
  }

  static std::string short_name(const std::string& path) {
    return path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
  }

  // A concat between the assigned value and a read of the same state.
  const Op* growing_concat(ValueId value, const std::string& path) const {
    std::set<std::pair<ValueId, const Op*>> seen;
    std::vector<std::pair<ValueId, const Op*>> open{{value, nullptr}};
    while (!open.empty()) {
      const auto [v, concat] = open.back();
      open.pop_back();
      if (v == kNone || !seen.insert({v, concat}).second || definer_[v] == kNone) continue;
      const Op& op = f_.ops[definer_[v]];
      const Op* now = concat == nullptr && op.code == Opcode::Concat ? &op : concat;
      if (op.code == Opcode::State && now != nullptr && std::get<std::string>(op.attrs[0]) == path)
        return now;
      if (op.code == Opcode::If)
        for (const RegionId r : op.regions)
          if (const Op* end = last(r); end != nullptr)
            for (const ValueId x : end->operands) open.emplace_back(x, now);
      if (info(op.code).has(kPure))
        for (const ValueId x : op.operands) open.emplace_back(x, now);
    }
    return nullptr;
  }

  const Function& f_;
  std::string mode_;
  diag::Engine& diags_;
  std::vector<uint8_t> tainted_;  // by value: depends on what a tensor holds
  std::vector<OpId> definer_;
  std::unordered_set<SymbolId> known_;
  bool good_ = true;
};

// Each capture holds its streams for good. 2,048 on the device, of which the runtime keeps 128 (vllm-ascend,
// faqs).
constexpr size_t kStreamsForCaptures = 2048 - 128;

void stream_budget(const Program& p, const Function& f, diag::Engine& diags) {
  std::set<std::string> streams{""};  // the one that all others branch off
  size_t gears = 0;
  const Op* at = nullptr;
  for (const Op& op : f.ops) {
    for (ContextId c = op.context; c != kNone; c = p.contexts[c].parent)
      if (p.contexts[c].kind == Context::Kind::Stream) streams.insert(p.contexts[c].name);
    if (op.code == Opcode::Gears) at = &op, gears = std::get<std::vector<Dim>>(op.attrs[0]).size();
  }
  if (at == nullptr || gears * streams.size() <= kStreamsForCaptures) return;
  const size_t most = kStreamsForCaptures / streams.size();
  diags
      .report(diags.sources().span(at->loc), diag::Id::StreamBudget, gears, streams.size(),
              gears * streams.size(), kStreamsForCaptures)
      .help(most == 0 ? "use fewer streams"
                      : fmt::format("keep {} gears at most, or share streams; `skdsl explain --gears` tells "
                                    "which gears cost the least padding",
                                    most));
}

}  // namespace

bool check_graph(const Program& program, const Function& function, std::string_view mode,
                 diag::Engine& diags) {
  if (mode == "npugraph_ex") stream_budget(program, function, diags);
  return Checker(function, mode, diags).run();
}

}  // namespace skdsl::passes
