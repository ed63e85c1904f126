#include "runtime/exec/workers.h"

#include <sched.h>

#include <cstring>

#include "runtime/abi/dtype.h"

namespace skdsl::exec {

namespace {
// About ten microseconds: longer than the gap between two launches of a decode step, shorter than what
// another process would miss.
constexpr uint32_t kSpins = 4000;

uint32_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    const int n = CPU_COUNT(&set);
    if (n > 0) return static_cast<uint32_t>(n);
  }
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? n : 1;
}

}  // namespace

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void zero_results(const sk_call& call) {
  for (uint32_t i = 0; i < call.n_out; ++i) {
    const sk_tensor& t = call.out[i];
    auto bytes = static_cast<size_t>(dtype_bytes(static_cast<sk_dtype>(t.dtype)));
    for (uint32_t d = 0; d < t.rank; ++d) bytes *= static_cast<size_t>(t.dim[d]);
    if (bytes > 0) std::memset(t.data, 0, bytes);
  }
}

Workers::Workers(uint32_t count) : count_(count > 0 ? count : usable_cores()) {
  spins_ = count_ <= usable_cores() ? kSpins : 0;
  threads_.reserve(count_ - 1);
  for (uint32_t worker = 1; worker < count_; ++worker)
    threads_.emplace_back([this, worker] { work(worker); });
}

Workers::~Workers() {
  stop_ = true;
  launches_.fetch_add(1, std::memory_order_release);
  launches_.notify_all();
  for (std::thread& t : threads_) t.join();
}

// One kernel on all workers, with a barrier between its phases.
struct Workers::Launch final : Workers::Job {
  Workers& workers;
  const kernels::KernelEntry& kernel;
  const sk_call& call;
  Launch(Workers& w, const kernels::KernelEntry& k, const sk_call& c) : workers(w), kernel(k), call(c) {}
  void run(uint32_t worker) override {
    for (uint32_t phase = 0; phase < kernel.phases; ++phase) {
      if (phase > 0) workers.barrier();
      kernel.run(&call, phase, worker, workers.count_);
    }
  }
};

void Workers::launch(const kernels::KernelEntry& kernel, const sk_call& call, uint32_t blocks) {
  if (dry_) return zero_results(call);
  if (blocks == 1 || count_ == 1) {
    for (uint32_t phase = 0; phase < kernel.phases; ++phase) kernel.run(&call, phase, 0, 1);
    return;
  }
  Launch job(*this, kernel, call);
  run(job);
}

void Workers::run(Job& job) {
  job_ = &job;
  busy_.store(count_ - 1, std::memory_order_relaxed);
  launches_.fetch_add(1, std::memory_order_release);
  launches_.notify_all();
  job.run(0);
  for (uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire))
    wait_while(busy_, busy);
}

void Workers::work(uint32_t worker) {
  for (uint32_t seen = 0;; ++seen) {
    wait_while(launches_, seen);
    if (stop_) return;
    job_->run(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void Workers::barrier() {
  const uint32_t passed = passed_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    passed_.fetch_add(1, std::memory_order_release);
    passed_.notify_all();
  } else {
    wait_while(passed_, passed);
  }
}

void Workers::wait_while(const std::atomic<uint32_t>& counter, uint32_t old) const {
  for (uint32_t i = 0; i < spins_; ++i) {
    if (counter.load(std::memory_order_acquire) != old) return;
    relax();
  }
  counter.wait(old, std::memory_order_acquire);
}

}  // namespace skdsl::exec
