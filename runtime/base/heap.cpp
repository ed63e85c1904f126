#include "runtime/base/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace skdsl {

namespace {
constexpr int kLaterSteps = 4 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
}  // namespace

void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

void grow_heap(size_t bytes) {
  // malloc moves the end of its heap itself, by what it lacks.
  const auto before = reinterpret_cast<uintptr_t>(::sbrk(0));
  void* volatile piece = std::malloc(bytes);
  std::free(piece);
  ::mallopt(M_TOP_PAD, kLaterSteps);
  const auto after = reinterpret_cast<uintptr_t>(::sbrk(0));
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (before + page - 1) / page * page;
  if (after <= begin) return;
  try {
    std::thread([begin, after] {
      ::madvise(reinterpret_cast<void*>(begin), after - begin, kPopulateWrite);
    }).detach();
  } catch (const std::system_error&) {
    // No thread to be had: the pages come one by one.
  }
}

}  // namespace skdsl
