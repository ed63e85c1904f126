#include "runtime/exec/native_run.h"

#include <algorithm>
#include <cstring>

namespace skdsl::exec {

struct NativeRun::Impl final : Workers::Job {
  std::unique_ptr<NativeCode> code;
  NativeEntry entry = nullptr;
  Workers& workers;
  NativeFrame frame;
  std::vector<NativeProgress> progress;
  uint64_t meetings = 0;
  Tensor workspace;
  // One block of bytes for all tables of a worker, so that workers do not write to each other's lines.
  std::vector<Tensor> bytes;                     // by worker
  std::vector<std::vector<NativeTable>> tables;  // by worker and launch
  std::vector<size_t> kernels;                   // by launch

  explicit Impl(Workers& w) : workers(w), progress(w.count()) {}

  sk_call* call(uint32_t worker, size_t launch) { return static_cast<sk_call*>(tables[worker][launch]); }
  sk_fault* faults(uint32_t worker, size_t launch) { return reinterpret_cast<sk_fault*>(call(worker, launch) + kernels[launch]); }

  Expected<void> build(const NativeStep& step, const std::vector<std::vector<NativeCall>>& calls, TensorPool& pool) {
    uint64_t stride = 0, size = 0;
    for (const auto& launch : calls) {
      kernels.push_back(launch.size());
      size += (launch.size() * (sizeof(sk_call) + sizeof(sk_fault)) + 63) / 64 * 64;
      for (const NativeCall& c : launch)
        if (c.entry->workspace) stride = std::max(stride, (c.entry->workspace(c.call) + 63) / 64 * 64);
    }
    if (stride > 0) {
      // A worker runs one kernel at a time, so a slot for each is enough.
      auto t = pool.empty(SK_I8, {{static_cast<int64_t>(stride * workers.count())}});
      if (!t) return tl::unexpected(t.error());
      workspace = std::move(*t);
    }
    for (uint32_t w = 0; w < workers.count(); ++w) {
      auto t = pool.zeros(SK_I8, {{static_cast<int64_t>(size)}});
      if (!t) return tl::unexpected(t.error());
      bytes.push_back(std::move(*t));
      auto* at = bytes.back().data<char>();
      auto& of_worker = tables.emplace_back();
      for (size_t l = 0; l < calls.size(); ++l) {
        of_worker.push_back(at);
        for (size_t k = 0; k < kernels[l]; ++k) {
          sk_call& c = call(w, l)[k];
          c = *calls[l][k].call;
          c.workspace = stride > 0 ? workspace.data<uint8_t>() : nullptr;
          c.workspace_stride = stride;
          c.fault = &faults(w, l)[k];
        }
        at += (kernels[l] * (sizeof(sk_call) + sizeof(sk_fault)) + 63) / 64 * 64;
      }
    }
    for (const NativeLaunch& l : step.launches) meetings += 1 + step.functions[l.function].meetings;
    frame.lanes = workers.count();
    frame.spins = workers.spins();
    frame.progress = progress.data();
    return {};
  }

  void run(uint32_t worker) override {
    entry(&frame, tables[worker].data(), worker);
    // Who leaves early must not be waited for by those who leave at the next boundary.
    progress[worker].reached.store(frame.base + meetings + 1, std::memory_order_release);
  }

  End launch() {
    frame.stop.store(UINT32_MAX, std::memory_order_relaxed);
    frame.interrupted.store(false, std::memory_order_relaxed);
    if (frame.lanes == 1) run(0);
    else workers.run(*this);
    frame.base += meetings + 1;
    End end;
    const uint32_t stop = frame.stop.load(std::memory_order_relaxed);
    end.launches_run = std::min<size_t>(stop, kernels.size());
    if (stop == UINT32_MAX) return end;
    end.interrupted = frame.interrupted.load(std::memory_order_relaxed);
    // An interrupt does not hide a fault of the launch before it.
    find_fault(end, stop);
    if (end.fault) end.interrupted = false, end.launches_run = end.launch;
    return end;
  }

  void find_fault(End& end, uint32_t stop) {
    if (stop == 0) return;
    end.launch = stop - 1;
    for (size_t k = 0; k < kernels[end.launch] && !end.fault; ++k)
      for (uint32_t w = 0; w < frame.lanes; ++w) {
        const sk_fault& f = faults(w, end.launch)[k];
        if (f.code == SK_FAULT_NONE || (end.fault && end.fault->row <= f.row)) continue;
        end.fault = &f;
        end.kernel = k;
      }
    if (!end.fault) return;
    first = *end.fault;
    end.fault = &first;
    for (uint32_t w = 0; w < frame.lanes; ++w) std::memset(static_cast<void*>(faults(w, end.launch)), 0, kernels[end.launch] * sizeof(sk_fault));
  }
  sk_fault first{};
};

NativeRun::NativeRun() = default;
NativeRun::~NativeRun() = default;

Expected<std::unique_ptr<NativeRun>> NativeRun::build(const NativeStep& step, const std::vector<std::vector<NativeCall>>& calls,
                                                      std::unique_ptr<NativeCode> code, Workers& workers, TensorPool& pool,
                                                      const std::atomic<bool>* interrupt) {
  std::unique_ptr<NativeRun> out(new NativeRun);
  out->impl_ = std::make_unique<Impl>(workers);
  if (auto ok = out->impl_->build(step, calls, pool); !ok) return tl::unexpected(ok.error());
  out->impl_->entry = code->entry();
  out->impl_->code = std::move(code);
  out->impl_->frame.interrupt = interrupt;
  return out;
}

NativeRun::End NativeRun::run() { return impl_->launch(); }
const NativeInfo& NativeRun::info() const { return impl_->code->info(); }

}  // namespace skdsl::exec
