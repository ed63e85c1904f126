#include "runtime/exec/allocator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace skdsl::exec {

namespace {
constexpr std::align_val_t kAlign{64};

// Sizes are rounded to eighths of a power of two, so that slowly growing tensors reuse each other's blocks.
uint64_t block_bytes(uint64_t bytes) {
  const uint64_t step = std::max<uint64_t>(64, std::bit_floor(bytes | 1) / 8);
  return std::max<uint64_t>(step, (bytes + step - 1) / step * step);
}
}  // namespace

uint64_t physical_memory_bytes() {
  static const uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  return bytes;
}

struct TensorPool::Blocks {
  bool poison = false;
  uint64_t max_cached = 0;
  std::mutex mutex;  // guards what follows
  std::map<uint64_t, std::vector<void*>> free;
  uint64_t cached = 0, live = 0, peak = 0;

  ~Blocks() { drop_cached(); }

  void drop_cached() {
    for (auto& [size, list] : free)
      for (void* p : list) ::operator delete(p, kAlign);
    free.clear();
    cached = 0;
  }

  void* take(uint64_t size) {
    const std::lock_guard lock(mutex);
    void* p = nullptr;
    if (const auto it = free.find(size); it != free.end() && !it->second.empty()) {
      p = it->second.back();
      it->second.pop_back();
      cached -= size;
    } else {
      if (live + cached + size > physical_memory_bytes()) drop_cached();
      if (live + size <= physical_memory_bytes()) p = ::operator new(size, kAlign, std::nothrow);
    }
    if (!p) return nullptr;
    live += size;
    peak = std::max(peak, live);
    return p;
  }

  void give_back(void* p, uint64_t size) {
    const std::lock_guard lock(mutex);
    live -= size;
    if (cached + size > max_cached) {
      ::operator delete(p, kAlign);
      return;
    }
    free[size].push_back(p);
    cached += size;
  }
};

TensorPool::TensorPool(bool poison, uint64_t max_cached_bytes) : blocks_(std::make_shared<Blocks>()) {
  blocks_->poison = poison;
  blocks_->max_cached = max_cached_bytes;
}

Expected<Tensor> TensorPool::empty(sk_dtype dtype, std::span<const int64_t> shape) {
  if (shape.size() > SK_MAX_RANK)
    return fail(
        fmt::format("a tensor of rank {} was asked for; the limit is {}", shape.size(), int{SK_MAX_RANK}));
  int64_t bytes = dtype_bytes(dtype);
  bool fits = true, empty = false;
  for (const int64_t d : shape) {
    if (d < 0)
      return fail(fmt::format("a tensor of shape [{}] was asked for; sizes must not be negative",
                              fmt::join(shape, ", ")));
    empty |= d == 0;
    fits = fits && !__builtin_mul_overflow(bytes, d, &bytes);
  }
  if (empty) bytes = 0, fits = true;
  void* p = nullptr;
  uint64_t size = 0;
  if (fits && static_cast<uint64_t>(bytes) <= physical_memory_bytes()) {
    size = block_bytes(static_cast<uint64_t>(bytes));
    p = blocks_->take(size);
  }
  if (!p)
    return fail_environment(fmt::format("no memory for a tensor {}[{}]; this machine has {} MiB",
                                        dtype_name(dtype), fmt::join(shape, ", "),
                                        physical_memory_bytes() >> 20));
  if (blocks_->poison) std::memset(p, 0xff, size);
  Tensor t;
  t.keep = std::shared_ptr<void>(p, [blocks = blocks_, size](void* q) { blocks->give_back(q, size); });
  t.view = contiguous_view(dtype, shape, p);
  return t;
}

Expected<Tensor> TensorPool::zeros(sk_dtype dtype, std::span<const int64_t> shape) {
  auto t = empty(dtype, shape);
  if (t) std::memset(t->view.data, 0, static_cast<size_t>(t->bytes()));
  return t;
}

bool TensorPool::poisons() const { return blocks_->poison; }

uint64_t TensorPool::live_bytes() const {
  const std::lock_guard lock(blocks_->mutex);
  return blocks_->live;
}

uint64_t TensorPool::peak_bytes() const {
  const std::lock_guard lock(blocks_->mutex);
  return blocks_->peak;
}

}  // namespace skdsl::exec
