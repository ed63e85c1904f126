#include "compiler/superkernel/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <queue>
#include <set>

namespace skdsl::superkernel {

using plan::FusionReason;

namespace {

constexpr int32_t kAlone = -1;

class Segmenter {
 public:
  Segmenter(const std::vector<Node>& nodes, const std::vector<std::string>& bypass)
      : nodes_(nodes), piece_of_(nodes.size(), kAlone), after_(nodes.size()), seen_(nodes.size(), 0) {
    for (uint32_t i = 0; i < nodes.size(); ++i)
      for (const uint32_t b : nodes[i].before) after_[b].push_back(i);
    const std::set<std::string> given_up(bypass.begin(), bypass.end());
    for (const Node& n : nodes)
      if (n.unfusable && given_up.contains(n.scope)) dropped_.insert(n.scope);
  }

  Segments run() {
    for (uint32_t z = 0; z < nodes_.size(); ++z) {
      const Node& n = nodes_[z];
      if (n.transparent || n.scope.empty()) continue;
      if (n.unfusable) {
        out_.cuts.push_back({n.scope, z, *n.unfusable});
        open_.erase(n.scope);
        continue;
      }
      if (dropped_.contains(n.scope)) {
        out_.cuts.push_back({n.scope, z, FusionReason::Bypass});
        continue;
      }
      const auto it = open_.find(n.scope);
      if (it != open_.end() && join(it->second, z)) continue;
      piece_of_[z] = static_cast<int32_t>(out_.pieces.size());
      open_[n.scope] = out_.pieces.size();
      out_.pieces.push_back({z});
    }
    for (auto& p : out_.pieces) std::sort(p.begin(), p.end());
    order();
    return std::move(out_);
  }

 private:
  template <class F>
  void together(uint32_t node, F&& f) const {
    if (piece_of_[node] == kAlone) return f(node);
    for (const uint32_t m : out_.pieces[static_cast<size_t>(piece_of_[node])]) f(m);
  }

  // Takes `z` into the piece unless something that is no part of it lies on a way from it to `z`.
  bool join(size_t piece, uint32_t z) {
    const auto self = static_cast<int32_t>(piece);
    ++epoch_;
    std::vector<uint32_t> work = out_.pieces[piece], reached;
    const auto visit = [&](uint32_t v) {
      if (v > z || piece_of_[v] == self || seen_[v] == epoch_) return;
      seen_[v] = epoch_;
      work.push_back(v);
      reached.push_back(v);
    };
    while (!work.empty()) {
      const uint32_t u = work.back();
      work.pop_back();
      for (const uint32_t v : after_[u]) {
        if (v == z) continue;
        if (v < z && piece_of_[v] != self) together(v, visit);
      }
    }
    // Of those, the ones that `z` needs.
    std::vector<uint32_t> between;
    std::set<uint32_t> back;
    work = {z};
    while (!work.empty()) {
      const uint32_t u = work.back();
      work.pop_back();
      for (const uint32_t b : nodes_[u].before)
        if (piece_of_[b] != self && seen_[b] == epoch_)
          together(b, [&](uint32_t m) {
            if (seen_[m] != epoch_ || !back.insert(m).second) return;
            between.push_back(m);
            work.push_back(m);
          });
    }
    std::sort(between.begin(), between.end());
    for (const uint32_t b : between)
      if (!nodes_[b].transparent) {
        out_.cuts.push_back(
            {nodes_[z].scope, b, piece_of_[b] == kAlone ? FusionReason::Between : FusionReason::Cycle});
        return false;
      }
    for (const uint32_t b : between) {
      piece_of_[b] = self;
      out_.pieces[piece].push_back(b);
    }
    piece_of_[z] = self;
    out_.pieces[piece].push_back(z);
    return true;
  }

  // Earliest first; a piece stands where its first op stood, or later when it waits for something.
  void order() {
    const size_t n = nodes_.size();
    const auto unit = [&](uint32_t node) {
      return piece_of_[node] == kAlone ? node : out_.pieces[static_cast<size_t>(piece_of_[node])].front();
    };
    std::vector<uint32_t> missing(n, 0);
    std::vector<std::vector<uint32_t>> next(n);
    for (uint32_t i = 0; i < n; ++i)
      for (const uint32_t b : nodes_[i].before)
        if (unit(b) != unit(i)) {
          next[unit(b)].push_back(unit(i));
          ++missing[unit(i)];
        }
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t i = 0; i < n; ++i)
      if (unit(i) == i && missing[i] == 0) ready.push(i);
    while (!ready.empty()) {
      const uint32_t u = ready.top();
      ready.pop();
      out_.order.push_back(piece_of_[u] == kAlone ? int64_t{u} : -1 - int64_t{piece_of_[u]});
      for (const uint32_t v : next[u])
        if (--missing[v] == 0) ready.push(v);
    }
  }

  const std::vector<Node>& nodes_;
  std::vector<int32_t> piece_of_;
  std::vector<std::vector<uint32_t>> after_;
  std::vector<uint32_t> seen_;
  uint32_t epoch_ = 0;
  std::set<std::string> dropped_;
  std::map<std::string, size_t> open_;
  Segments out_;
};

struct TbeKernel {
  Opcode op;
  std::string_view until, remedy;
};
constexpr TbeKernel kTbe[] = {
#define SK_TBE_KERNEL(Op, until, remedy) {Opcode::Op, until, remedy},
#include "compiler/superkernel/fusability.def"
#undef SK_TBE_KERNEL
};

std::pair<int, int> release(std::string_view s) {
  int major = 0, minor = 0;
  const char* end = s.data() + s.size();
  const auto [at, trouble] = std::from_chars(s.data(), end, major);
  if (trouble == std::errc{} && at != end && *at == '.') std::from_chars(at + 1, end, minor);
  return {major, minor};
}

}  // namespace

Segments segment(const std::vector<Node>& nodes, const std::vector<std::string>& bypass) {
  return Segmenter(nodes, bypass).run();
}

std::string_view remedy(Opcode op, FusionReason reason) {
  if (reason == FusionReason::Tbe)
    for (const TbeKernel& r : kTbe)
      if (r.op == op && !r.remedy.empty()) return r.remedy;
  return plan::row(reason).remedy;
}

std::optional<FusionReason> unfusable(Opcode op, std::string_view cann) {
  const OpInfo& row = info(op);
  if (row.core == Core::AiCpu) return FusionReason::AiCpu;
  if (row.has(kCollective) && !row.has(kScopeCollective)) return FusionReason::Collective;
  for (const TbeKernel& r : kTbe)
    if (r.op == op && (r.until.empty() || release(cann) < release(r.until))) return FusionReason::Tbe;
  return {};
}

bool is_release(std::string_view text) {
  const size_t dot = text.find('.');
  const auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (dot == std::string_view::npos || dot == 0 || !digit(dot + 1)) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<long>(dot),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string fused_name(std::string_view scope, std::string_view first, std::string_view last) {
  std::string out = fmt::format("sk_{}_start_{}_end_{}", scope, first, last);
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && static_cast<unsigned char>(c) < 0x80)
      c = '_';
  return out;
}

}  // namespace skdsl::superkernel
