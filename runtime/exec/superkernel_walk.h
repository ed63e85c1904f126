// superkernel_walk — the meaning of each step of a super kernel on the host, for all who walk its two sides
//
// A walker stands for one AI-core group and merges the cube side and the vector side. The machine says what
// arriving, meeting and calling are: the plan executor does them, the order for machine code writes them
// down. Steps that only matter to the device's caches, clocks and memory events do nothing.
#pragma once
#include <array>

#include "runtime/plan/superkernel.h"

namespace skdsl::exec {

// Where a worker stands on one side.
struct Walk {
  size_t at = 0;
  uint32_t part = 0;      // inside a step that waits more than once
  uint32_t arrivals = 0;  // all-core flags of this side that it has waited for
};

/// Flags between the two sides of one group: v2c, c2v.
using GroupFlags = std::array<uint32_t, 2>;

/// Does the step at which `w` stands; false when it has to wait. The machine gives
///   void arrive(Side)            this worker raises the all-core flag of a side
///   bool met(Side, Walk&)        have all workers raised it once more than `w` has waited for? then counts
///   it in `w` bool call(Side, k, Walk&)    kernel k on that side; false while a phase of it waits for others
///   void note(Side, SkStep)      a step with no effect on the host
template <class Machine>
bool walk_step(Machine& machine, const plan::SuperKernel& sk, plan::Side side, Walk& w, GroupFlags& flags) {
  using plan::SkStep;
  const SkStep& s = sk.of(side)[w.at];
  const auto take = [&](bool to_vector) {
    uint32_t& flag = flags[to_vector ? 1 : 0];
    if (flag == 0) return false;
    --flag;
    return true;
  };
  const bool cube = side == plan::Side::Aic;
  switch (s.kind) {
    case SkStep::Kind::Sync:
      if (s.scope == plan::SyncScope::AllMix) {
        // Vector cores report to their cube core, the cube cores meet, each lets its vector cores go.
        if (!cube) {
          if (w.part == 0) ++flags[0], w.part = 1;
          if (!take(true)) return false;
        } else {
          if (w.part == 0) {
            if (!take(false)) return false;
            machine.arrive(side), w.part = 1;
          }
          if (!machine.met(side, w)) return false;
          ++flags[1];
        }
      } else if (s.scope == plan::scope_of(side)) {
        if (w.part == 0) machine.arrive(side), w.part = 1;
        if (!machine.met(side, w)) return false;
      }
      break;
    case SkStep::Kind::Signal:
      ++flags[s.to_vector ? 1 : 0];
      break;
    case SkStep::Kind::Await:
      if (!take(s.to_vector)) return false;
      break;
    case SkStep::Kind::SetNextStart:
      machine.arrive(side);
      break;
    case SkStep::Kind::WaitPrevEnd: {
      const plan::SkWaitActions a = plan::wait_actions(s.config, side);
      if (w.part == 0) {
        if (a.wait_all && !machine.met(side, w)) return false;
        if (a.signal) ++flags[cube ? 1 : 0];
        w.part = 1;
      }
      if (a.await && !take(!cube)) return false;
      break;
    }
    case SkStep::Kind::Call:
    case SkStep::Kind::DynamicCall:
      if (!machine.call(side, s.of, w)) return false;
      break;
    default:
      machine.note(side, s);
      break;
  }
  w.part = 0;
  ++w.at;
  return true;
}

}  // namespace skdsl::exec
