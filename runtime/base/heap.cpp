#include "runtime/base/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace skdsl {

namespace {
constexpr int kUsualStep = 4 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
}  // namespace

void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

void grow_heap(size_t bytes) {
  // malloc moves the end of its heap itself: by what it lacks and this much more.
  const auto before = reinterpret_cast<uintptr_t>(::sbrk(0));
  ::mallopt(M_TOP_PAD, static_cast<int>(bytes));
  void* volatile piece = std::malloc(kUsualStep + 4096);
  std::free(piece);
  ::mallopt(M_TOP_PAD, kUsualStep);
  const auto after = reinterpret_cast<uintptr_t>(::sbrk(0));
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (before + page - 1) / page * page;
  if (after > begin) ::madvise(reinterpret_cast<void*>(begin), after - begin, kPopulateWrite);
}

}  // namespace skdsl
