// native_clocks — does the order for machine code keep what kernels owe each other, whatever the workers'
// speeds?
//
// All workers walk one list, so every interleaving has the same meetings. A clock for each worker counts the
// calls that are certainly done when it goes on.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/exec/native_order.h"

namespace skdsl::testing {

/// "" when each kernel starts only after all it depends on is done on all workers, and nobody waits for what
/// never comes.
inline std::string order_error(const exec::NativeFunction& f, const plan::SuperKernel& sk, uint32_t lanes) {
  using exec::NativeOp;
  using Clock = std::vector<uint32_t>;  // by worker: how many ops of the list it has done
  std::vector<Clock> now(lanes, Clock(lanes, 0));
  std::map<uint32_t, std::map<uint32_t, Clock>> arrived;  // by meeting and worker
  std::vector<std::map<uint32_t, uint32_t>> ended(
      sk.kernels.size());  // by kernel: worker -> op behind its last call
  const auto before = plan::dependencies(sk);
  std::vector<uint32_t> called(sk.kernels.size(), 0);
  for (uint32_t at = 0; at < f.ops.size(); ++at) {
    const NativeOp& op = f.ops[at];
    if (op.kind == NativeOp::Kind::Call) {
      const uint32_t who = f.kernels[op.kernel].alone ? 1 : lanes;
      for (uint32_t w = 0; w < who; ++w) {
        for (const plan::SkDependency& d : before)
          if (d.after == op.kernel) {
            if (called[d.before] != f.kernels[d.before].phases)
              return "a kernel is called before one it depends on";
            for (const auto& [other, end] : ended[d.before])
              if (now[w][other] < end && other != w)
                return "kernel " + std::to_string(op.kernel) + " on worker " + std::to_string(w) +
                       " does not wait for worker " + std::to_string(other);
          }
        // A later phase waits for all of the one before.
        if (op.phase > 0)
          for (const auto& [other, end] : ended[op.kernel])
            if (other != w && now[w][other] < end) return "a phase does not wait for the one before";
      }
      for (uint32_t w = 0; w < who; ++w) now[w][w] = at + 1, ended[op.kernel][w] = at + 1;
      ++called[op.kernel];
    } else if (op.kind == NativeOp::Kind::Meet) {
      for (uint32_t w = 0; w < lanes; ++w)
        if (op.how & (w == 0 ? exec::kFirstArrives : exec::kOthersArrive))
          now[w][w] = at + 1, arrived[op.meeting][w] = now[w];
      std::vector<Clock> next = now;
      for (uint32_t w = 0; w < lanes; ++w)
        for (uint32_t other = 0; other < lanes; ++other) {
          const bool waits = w == 0       ? (op.how & exec::kFirstWaits) && other != 0
                             : other == 0 ? (op.how & exec::kOthersWaitFirst) != 0
                                          : (op.how & exec::kOthersWaitOthers) && other != w;
          if (!waits) continue;
          const auto it = arrived[op.meeting].find(other);
          if (it == arrived[op.meeting].end())
            return "worker " + std::to_string(w) + " waits for an arrival that never comes";
          for (uint32_t i = 0; i < lanes; ++i) next[w][i] = std::max(next[w][i], it->second[i]);
        }
      now = next;
    }
  }
  for (size_t k = 0; k < sk.kernels.size(); ++k)
    if (called[k] != f.kernels[k].phases)
      return "kernel " + std::to_string(k) + " has another number of phases";
  return "";
}

}  // namespace skdsl::testing
