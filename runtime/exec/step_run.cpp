#include "runtime/exec/step_run.h"

#include <algorithm>
#include <cstring>

#include "runtime/exec/plan_walk.h"

namespace skdsl::exec {

namespace {
uint64_t whole_lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

bool any_mix(const std::vector<StepLaunch>& launches) {
  return std::any_of(launches.begin(), launches.end(), [](const StepLaunch& l) {
    return l.superkernel && std::any_of(l.superkernel->kernels.begin(), l.superkernel->kernels.end(),
                                        [](const plan::SkKernel& k) { return plan::is_mix(k.type); });
  });
}

// Workers that have something to do.
uint32_t lanes_for(const std::vector<StepLaunch>& launches, const Workers& workers) {
  return std::all_of(launches.begin(), launches.end(), [](const StepLaunch& l) { return l.first_only(); })
             ? 1
             : workers.count();
}
}  // namespace

struct StepRun::Impl final : Workers::Job {
  const std::vector<StepLaunch>& launches;
  Workers& workers;
  PlanWalk walk;
  std::unique_ptr<NativeCode> code;
  NativeFrame frame;
  std::vector<NativeProgress> progress;
  uint64_t meetings = 0;
  Tensor workspace;
  // One block of bytes for all tables of a worker, so that workers do not write to each other's lines. Behind
  // them those of the vector sides of mix kernels, which run at the same time as their cube sides.
  std::vector<Tensor> bytes;
  std::vector<std::vector<NativeTable>> tables;  // by launch
  sk_fault first{};

  Impl(const std::vector<StepLaunch>& l, Workers& w)
      : launches(l), workers(w), walk(l, lanes_for(l, w)), progress(w.count()), meetings(walk.meetings()) {
    frame.lanes = lanes_for(l, w);
    frame.spins = workers.spins();
    frame.progress = progress.data();
  }

  sk_call* call(size_t part, size_t launch) { return static_cast<sk_call*>(tables[part][launch]); }
  sk_fault* faults(size_t part, size_t launch) {
    return reinterpret_cast<sk_fault*>(call(part, launch) + launches[launch].kernels.size());
  }

  Expected<void> build(TensorPool& pool) {
    const uint64_t slots = workers.count();
    uint64_t stride = 0, size = 0;
    for (const StepLaunch& l : launches) {
      size += whole_lines(l.kernels.size() * (sizeof(sk_call) + sizeof(sk_fault)));
      for (const StepKernel& k : l.kernels)
        if (k.entry->workspace) stride = std::max(stride, whole_lines(k.entry->workspace(k.call)));
    }
    if (stride > 0) {
      // A slot for each worker and side: kernels of the two sides run at the same time.
      auto t = pool.empty(SK_I8, {{static_cast<int64_t>(stride * slots * 2)}});
      if (!t) return tl::unexpected(t.error());
      workspace = std::move(*t);
    }
    for (uint64_t part = 0; part < slots * (any_mix(launches) ? 2 : 1); ++part) {
      auto t = pool.zeros(SK_I8, {{static_cast<int64_t>(size)}});
      if (!t) return tl::unexpected(t.error());
      bytes.push_back(std::move(*t));
      auto* at = bytes.back().data<char>();
      auto& of_part = tables.emplace_back();
      for (size_t l = 0; l < launches.size(); ++l) {
        of_part.push_back(at);
        const size_t kernels = launches[l].kernels.size();
        for (size_t k = 0; k < kernels; ++k) {
          sk_call& c = call(part, l)[k];
          c = *launches[l].kernels[k].call;
          const bool vector =
              launches[l].superkernel && plan::is_vector(launches[l].superkernel->kernels[k].type);
          c.workspace = stride > 0 ? workspace.data<uint8_t>() + (vector ? stride * slots : 0) : nullptr;
          c.workspace_stride = stride;
          c.fault = &faults(part, l)[k];
        }
        at += whole_lines(kernels * (sizeof(sk_call) + sizeof(sk_fault)));
      }
    }
    return {};
  }

  void use(const NativeStep& step, std::unique_ptr<NativeCode> native) {
    code = std::move(native);
    frame.lanes = workers.count();
    meetings = 0;
    for (const NativeLaunch& l : step.launches) meetings += 1 + step.functions[l.function].meetings;
  }

  void run(uint32_t worker) override {
    if (code)
      code->entry()(&frame, tables[worker].data(), worker);
    else
      walk.run(frame, tables, worker);
    // Who leaves early must not be waited for by those who leave at the next boundary.
    progress[worker].reached.store(frame.base + meetings + 1, std::memory_order_release);
  }

  End run_all() {
    frame.stop.store(UINT32_MAX, std::memory_order_relaxed);
    frame.interrupted.store(false, std::memory_order_relaxed);
    if (frame.lanes == 1)
      run(0);
    else
      workers.run(*this);
    frame.base += meetings + 1;
    End end;
    const uint32_t stop = frame.stop.load(std::memory_order_relaxed);
    end.launches_run = std::min<size_t>(stop, launches.size());
    if (stop == UINT32_MAX) return end;
    end.interrupted = frame.interrupted.load(std::memory_order_relaxed);
    // An interrupt does not hide a fault of the launch before it.
    if (stop > 0) find_fault(end, stop - 1);
    if (end.fault) end.interrupted = false, end.launches_run = end.launch;
    return end;
  }

  End run_alone(size_t launch, const std::function<void(size_t)>& done) {
    SideProgress alone;
    End end;
    if (SuperKernelWalk(launches[launch])
            .run({0,
                  1,
                  0,
                  &alone,
                  {call(0, launch), call(tables.size() > workers.count() ? workers.count() : 0, launch)}},
                 done))
      find_fault(end, launch);
    return end;
  }

  void find_fault(End& end, size_t launch) {
    end.launch = launch;
    const size_t kernels = launches[launch].kernels.size();
    for (size_t k = 0; k < kernels && !end.fault; ++k)
      for (size_t part = 0; part < tables.size(); ++part) {
        const sk_fault& f = faults(part, launch)[k];
        if (f.code == SK_FAULT_NONE || (end.fault && end.fault->row <= f.row)) continue;
        end.fault = &f;
        end.kernel = k;
      }
    if (!end.fault) return;
    first = *end.fault;
    end.fault = &first;
    for (size_t part = 0; part < tables.size(); ++part)
      std::memset(static_cast<void*>(faults(part, launch)), 0, kernels * sizeof(sk_fault));
  }
};

StepRun::StepRun() = default;
StepRun::~StepRun() = default;

Expected<std::unique_ptr<StepRun>> StepRun::build(const std::vector<StepLaunch>& launches, Workers& workers,
                                                  TensorPool& pool, const std::atomic<bool>* interrupt) {
  std::unique_ptr<StepRun> out(new StepRun);
  out->impl_ = std::make_unique<Impl>(launches, workers);
  if (auto ok = out->impl_->build(pool); !ok) return tl::unexpected(ok.error());
  out->impl_->frame.interrupt = interrupt;
  return out;
}

void StepRun::use(const NativeStep& step, std::unique_ptr<NativeCode> code) {
  impl_->use(step, std::move(code));
}
StepRun::End StepRun::run() { return impl_->run_all(); }
StepRun::End StepRun::run_superkernel(size_t launch, const std::function<void(size_t)>& done) {
  return impl_->run_alone(launch, done);
}

}  // namespace skdsl::exec
