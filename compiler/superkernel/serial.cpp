// serial — one kernel after the other; neighbours are tied by the early-start hand-shake or by a full barrier
#include "compiler/superkernel/emit.h"

namespace skdsl::superkernel {

namespace {
uint32_t kind(KernelType t) { return plan::is_cube(t) ? 0 : plan::is_vector(t) ? 1 : 2; }
}  // namespace

void Emitter::early_start_boundary(size_t k) {
  const SubKernel& before = kernels_[k - 1];
  const SubKernel& now = kernels_[k];
  const uint32_t config = kind(before.type) << 2 | kind(now.type);
  for (const Side s : plan::kSides) {
    if (!launched(s)) continue;
    if (has(k - 1, s)) {
      SkStep& set = emit(s, SkStep::Kind::SetNextStart);
      set.scope = plan::scope_of(s);
      // A kernel that raises the flag itself leaves only the idle cores to us.
      if (before.early_start_set) set.idle_only = guard(k - 1);
    }
    emit(s, SkStep::Kind::EarlyStartPair).config = config;
    SkStep& wait = emit(s, SkStep::Kind::WaitPrevEnd);
    wait.config = config;
    if (now.early_start_wait && has(k, s)) wait.idle_only = guard(k);
  }
}

void Emitter::boundary(size_t k) {
  if (early_start()) return early_start_boundary(k);
  sync_launched(barrier());
}

void Emitter::serial() {
  for (const Side s : plan::kSides)
    if (launched(s)) open(s);
  for (size_t k = 0; k < count(); ++k) {
    for (const Side s : plan::kSides) {
      if (!launched(s)) continue;
      select(s, k);
      // The first kernel's tiling must have reached every core before anything is prefetched for it.
      if (kernels_[k].dynamic && k == 0) {
        emit(s, SkStep::Kind::PipeBarrier);
        sync(s, barrier());
      }
      if (k == 0) preload(s, 0);
      preload(s, k + 1);
    }
    if (k > 0) {
      const bool sends = !kernels_[k - 1].send_events.empty(), receives = !kernels_[k].recv_events.empty();
      if (sends || !receives) boundary(k);
      bool waits = false;
      for (const Side s : plan::kSides) {
        if (!launched(s)) continue;
        if (sends) notify(k - 1, s);
        if (receives) waits |= wait(k, s);
      }
      if (sends && receives && waits) sync_launched(barrier());
      if (!sends && receives) {
        // Block 0 of the side that waits must not be overtaken by its neighbours.
        const KernelType before = kernels_[k - 1].type, now = kernels_[k].type;
        if (plan::is_cube(before) && !plan::is_cube(now)) sync_launched(SyncScope::AllAiv, true);
        if (plan::is_vector(before) && plan::is_cube(now)) sync_launched(SyncScope::AllAic);
        boundary(k);
      }
    }
    for (const Side s : plan::kSides) {
      if (!launched(s)) continue;
      feed(s, k);
      profile(s, SkStep::What::SubKernel, static_cast<uint32_t>(k + 1), true);
      call(s, k);
      debug_after(s, k);
      if (options_.on(Option::DebugSyncAll)) sync(s, barrier());
      profile(s, SkStep::What::SubKernel, static_cast<uint32_t>(k + 1), false);
    }
  }
  for (const Side s : plan::kSides)
    if (launched(s)) close(s);
}

}  // namespace skdsl::superkernel
