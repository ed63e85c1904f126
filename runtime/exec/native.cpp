#include "runtime/exec/native.h"

#include <algorithm>
#include <thread>

#include "runtime/exec/workers.h"
#include "stdlib/kernels/registry.h"

namespace skdsl::exec {

bool same_code(const NativeKernel& a, const NativeKernel& b) {
  return a.code == b.code && a.phases == b.phases && a.alone == b.alone && a.may_fault == b.may_fault &&
         a.workspace == b.workspace && a.in == b.in && a.out == b.out && a.attrs == b.attrs &&
         a.weights == b.weights;
}

bool same_code(const NativeFunction& a, const NativeFunction& b) {
  return a.plain == b.plain && a.meetings == b.meetings && a.ops == b.ops &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(),
                    [](const NativeKernel& x, const NativeKernel& y) { return same_code(x, y); });
}

std::vector<NativeSymbol> native_symbols() {
  std::vector<NativeSymbol> out = {
      {"sk_native_meet", reinterpret_cast<const void*>(&sk_native_meet)},
      {"sk_native_boundary", reinterpret_cast<const void*>(&sk_native_boundary)},
      {"sk_native_fault", reinterpret_cast<const void*>(&sk_native_fault)},
  };
#define SK_OP(Name, op_name, ...)                         \
  if (const auto* k = kernels::find_kernel(Opcode::Name)) \
    out.push_back({"sk_kernel_" #op_name, reinterpret_cast<const void*>(k->run)});
#include "stdlib/ops.def"
#undef SK_OP
  return out;
}

namespace {

void wait_for(const NativeFrame& frame, uint32_t worker, uint64_t number) {
  const std::atomic<uint64_t>& reached = frame.progress[worker].reached;
  for (uint32_t idle = 0; reached.load(std::memory_order_acquire) < number;) {
    if (idle++ < frame.spins)
      relax();
    else
      std::this_thread::yield();
  }
}

// The earliest launch that does not run; several workers may lower it.
void stop_at(NativeFrame& frame, uint32_t launch) {
  uint32_t now = frame.stop.load(std::memory_order_relaxed);
  while (launch < now && !frame.stop.compare_exchange_weak(now, launch, std::memory_order_relaxed)) {
  }
}

}  // namespace
}  // namespace skdsl::exec

using skdsl::exec::NativeFrame;

void sk_native_meet(NativeFrame* frame, uint32_t worker, uint64_t number, uint32_t how) noexcept {
  using namespace skdsl::exec;
  const bool first = worker == 0;
  const uint64_t n = frame->base + number;
  if (how & (first ? kFirstArrives : kOthersArrive))
    frame->progress[worker].reached.store(n, std::memory_order_release);
  if (first) {
    if (how & kFirstWaits)
      for (uint32_t w = 1; w < frame->lanes; ++w) wait_for(*frame, w, n);
    return;
  }
  if (how & kOthersWaitFirst) wait_for(*frame, 0, n);
  if (how & kOthersWaitOthers)
    for (uint32_t w = 1; w < frame->lanes; ++w)
      if (w != worker) wait_for(*frame, w, n);
}

uint32_t sk_native_boundary(NativeFrame* frame, uint32_t worker, uint64_t number, uint32_t launch,
                            uint32_t how) noexcept {
  // Said before arriving, so that all see it behind the meeting; those still in an earlier launch are not
  // affected.
  if (worker == 0 && frame->interrupt && frame->interrupt->load(std::memory_order_relaxed)) {
    frame->interrupted.store(true, std::memory_order_relaxed);
    skdsl::exec::stop_at(*frame, launch);
  }
  sk_native_meet(frame, worker, number, how);
  return frame->stop.load(std::memory_order_relaxed) <= launch;
}

void sk_native_fault(NativeFrame* frame, uint32_t launch) noexcept {
  skdsl::exec::stop_at(*frame, launch + 1);
}
