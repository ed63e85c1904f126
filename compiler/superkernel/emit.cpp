#include "compiler/superkernel/emit.h"

#include <algorithm>

namespace skdsl::superkernel {

void Emitter::profile(Side s, SkStep::What what, uint32_t id, bool begin) {
  if (!options_.on(Option::Profiling)) return;
  SkStep& step = emit(s, SkStep::Kind::Profile);
  step.what = what;
  step.id = id;
  step.begin = begin;
}

void Emitter::clear_workspace(Side s) {
  if (!options_.on(Option::FeedSyncAll)) return;
  const bool cube_only = !launched(Side::Aiv);
  if (s == Side::Aic && !cube_only) return flag(s, SkStep::Kind::Await, false);
  // Half of the workspace is one vector core's share in each group; the mailboxes must be inside whatever is
  // cleared.
  const uint64_t cores = sk_.feed_workspace_bytes / (sk_.type == KernelType::MixAic12 ? 2 : 1);
  const uint64_t mailboxes = (count() * 128 + 511) / 512 * 512;
  emit(s, SkStep::Kind::ZeroFeedWorkspace).bytes =
      std::min(sk_.feed_workspace_bytes, std::max(cores, mailboxes));
  emit(s, SkStep::Kind::PipeBarrier);
  sync(s, plan::scope_of(s));
  if (launched(Side::Aic) && launched(Side::Aiv)) flag(s, SkStep::Kind::Signal, false);
}

void Emitter::open(Side s) {
  if (options_.on(Option::Profiling)) emit(s, SkStep::Kind::ProfileInit);
  if (sk_.two_stream) profile(s, SkStep::What::SuperKernel, 0, true);
  clear_workspace(s);
  if (options_.text(Option::PreloadCode) == "max") emit(s, SkStep::Kind::PreloadWhole).units = 8;
  if (!sk_.two_stream) profile(s, SkStep::What::SuperKernel, 0, true);
}

void Emitter::close(Side s) {
  for (size_t k = 0; k < count(); ++k) {
    if (event_side(k) != s) continue;
    for (const auto& [event, slot] : plan::external_events(sk_, k).wait)
      emit(s, SkStep::Kind::ClearEventSlot).slot =
          out_.param_slots[k] + kernels_[k].params + (kernels_[k].dynamic ? 3 : 0) + slot;
  }
  profile(s, SkStep::What::SuperKernel, 0, false);
}

void Emitter::preload(Side s, size_t k) {
  if (options_.text(Option::PreloadCode) != "per-func" || k >= count() || kernels_[k].dynamic || !has(k, s))
    return;
  SkStep& step = emit(s, SkStep::Kind::Preload);
  step.of = static_cast<uint32_t>(k);
  step.units = preload_units(kernels_[k].code_bytes);
  step.guard = guard(k);
  step.copies = options_.number(Option::SplitMode);
}

void Emitter::select(Side s, size_t k) {
  const SubKernel& kernel = kernels_[k];
  if (!kernel.dynamic || !joins(k, s)) return;
  SkStep& step = emit(s, SkStep::Kind::DynamicSelect);
  step.of = static_cast<uint32_t>(k);
  step.slot = out_.param_slots[k] + kernel.params + 2;
  // Only a pure vector super kernel prefetches the function that was picked.
  if (options_.text(Option::PreloadCode) != "per-func" || sk_.type != KernelType::MixAiv10) return;
  const auto dcci = [&](SkStep::Dcci why) { emit(s, SkStep::Kind::DcciAll).why = why; };
  if (kernel.dcci_before && !kernel.dcci_disable) dcci(SkStep::Dcci::Before);
  SkStep& code = emit(s, SkStep::Kind::Preload);
  code.of = static_cast<uint32_t>(k);
  code.units = 8;
  code.guard = guard(k);
  code.copies = options_.number(Option::SplitMode);
  if (kernel.dcci_after && !kernel.dcci_disable) dcci(SkStep::Dcci::After);
}

void Emitter::feed(Side s, size_t k) {
  if (!options_.on(Option::FeedSyncAll)) return;
  const SubKernel& kernel = kernels_[k];
  SkStep& step = emit(s, SkStep::Kind::FeedSync);
  step.enabled = needs_feed({sk_.type, sk_.block_dim}, kernel.type, kernel.block_dim, kernel.sync_all);
  // One line of 64 bytes a kernel and side: first those of the cube side, then those of the vector side.
  if (step.enabled) step.offset = static_cast<uint32_t>(64 * (s == Side::Aic ? k : count() + k));
}

void Emitter::call(Side s, size_t k) {
  const SubKernel& kernel = kernels_[k];
  if (!joins(k, s)) return;
  const bool before = kernel.dcci_before && !kernel.dcci_disable,
             after = kernel.dcci_after && !kernel.dcci_disable;
  if (before) emit(s, SkStep::Kind::DcciAll).why = SkStep::Dcci::Before;
  const bool fed = options_.on(Option::FeedSyncAll) &&
                   needs_feed({sk_.type, sk_.block_dim}, kernel.type, kernel.block_dim, kernel.sync_all);
  SkStep& step = emit(s, kernel.dynamic ? SkStep::Kind::DynamicCall : SkStep::Kind::Call);
  step.of = static_cast<uint32_t>(k);
  step.slot = out_.param_slots[k];
  step.feeds = fed;
  if (!kernel.dynamic) {
    step.guard = guard(k);
    step.copies = options_.number(Option::SplitMode);
  } else if (s == (plan::is_vector(kernel.type) ? Side::Aiv : Side::Aic)) {
    SkStep& release = emit(s, SkStep::Kind::DynamicRelease);
    release.of = static_cast<uint32_t>(k);
    release.slot = out_.param_slots[k] + kernel.params + 2;
  }
  if (after) emit(s, SkStep::Kind::DcciAll).why = SkStep::Dcci::After;
}

void Emitter::debug_after(Side s, size_t) {
  if (!options_.on(Option::DebugDcciAll)) return;
  emit(s, SkStep::Kind::PipeBarrier);
  emit(s, SkStep::Kind::DcciAll).why = SkStep::Dcci::Debug;
}

void Emitter::event_slots(Side s, size_t k, bool notify) {
  const plan::SkEvents external = plan::external_events(sk_, k);
  for (const auto& [event, slot] : notify ? external.notify : external.wait) {
    profile(s, notify ? SkStep::What::Notify : SkStep::What::Wait, event, true);
    SkStep& step = emit(s, notify ? SkStep::Kind::NotifyEvent : SkStep::Kind::WaitEvent);
    step.event = event;
    step.slot = out_.param_slots[k] + kernels_[k].params + (kernels_[k].dynamic ? 3 : 0) + slot;
    profile(s, notify ? SkStep::What::Notify : SkStep::What::Wait, event, false);
  }
}

void Emitter::notify(size_t k, Side s) {
  if (event_side(k) == s) event_slots(s, k, true);
}

bool Emitter::wait(size_t k, Side s) {
  if (event_side(k) == s) event_slots(s, k, false);
  return !plan::external_events(sk_, k).wait.empty();
}

}  // namespace skdsl::superkernel
