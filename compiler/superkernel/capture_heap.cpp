// capture_heap — the rules of grouping that look at few tasks: which head is next, where SyncAll splits,
// names
#include <fmt/format.h>

#include <algorithm>

#include "compiler/superkernel/capture_segment.h"

namespace skdsl::superkernel {

using Kind = CaptureTask::Kind;

std::vector<SyncAllPart> sync_all_split(const std::vector<SyncAllKernel>& kernels) {
  std::vector<SyncAllPart> parts;
  Cores most;
  bool met = false;
  for (const SyncAllKernel& k : kernels) {
    Cores c = k.cores;
    // It meets whole groups: two vector cores beside each cube core.
    if (k.sync_all && c.vector == 0) c.vector = 2 * c.cube;
    if (k.sync_all && c.cube == 0) c.cube = (c.vector + 1) / 2;
    const bool drop =
        k.sync_all && ((c.cube != 0 && c.cube < most.cube) || (c.vector != 0 && c.vector < most.vector));
    const bool rise = met && (c.cube > most.cube || c.vector > most.vector);
    if (parts.empty() || drop || rise) {
      parts.push_back({0, !parts.empty() && drop});
      most = {};
      met = false;
    }
    ++parts.back().kernels;
    most = {std::max(most.cube, c.cube), std::max(most.vector, c.vector)};
    met |= k.sync_all;
  }
  return parts;
}

uint32_t CandidateHeap::pop() {
  const size_t i = choose();
  const uint32_t n = heads_[i];
  heads_.erase(heads_.begin() + static_cast<long>(i));
  if (nodes_[n].kind == Kind::Kernel) last_ = n;
  return n;
}

size_t CandidateHeap::choose() const {
  const auto smallest = [&](auto&& wanted) {
    size_t best = heads_.size();
    for (size_t i = 0; i < heads_.size(); ++i)
      if (wanted(nodes_[heads_[i]]) && (best == heads_.size() || heads_[i] < heads_[best])) best = i;
    return best;
  };
  const auto kernel = [](const CaptureNode& n) { return n.kind == Kind::Kernel; };
  if (const size_t i = smallest([](const CaptureNode& n) { return n.kind == Kind::Default; });
      i < heads_.size())
    return i;
  if (const size_t i = smallest([&](const CaptureNode& n) { return !kernel(n); }); i < heads_.size())
    return i;
  if (parallel_ && last_ < 0) {
    if (const size_t i = smallest([](const CaptureNode& n) { return plan::is_mix(n.type); });
        i < heads_.size())
      return i;
  } else if (parallel_) {
    const CaptureNode& last = nodes_[static_cast<size_t>(last_)];
    const auto elsewhere = [&](const CaptureNode& n) { return n.stream != last.stream; };
    const auto partner = [&](const CaptureNode& n) {
      return plan::is_mix(last.type)      ? plan::is_mix(n.type)
             : plan::is_vector(last.type) ? plan::is_cube(n.type)
                                          : plan::is_vector(n.type);
    };
    if (const size_t i = smallest([&](const CaptureNode& n) { return elsewhere(n) && partner(n); });
        i < heads_.size())
      return i;
    if (const size_t i = smallest(elsewhere); i < heads_.size()) return i;
  }
  return smallest(kernel);
}

std::string capture_name(size_t id, std::string_view scope, std::string_view first, std::string_view last) {
  if (first.empty() && last.empty()) return fmt::format("sk_{}_no_kernel_scope_{}", id, scope);
  return fmt::format("sk_{}_{}_start_{}_end_{}", id, scope, first, last);
}

}  // namespace skdsl::superkernel
