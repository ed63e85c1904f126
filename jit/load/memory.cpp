#include "jit/load/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace skdsl::jit {

namespace {
// Code is put so far below the program, each load below the one before, when there is room.
constexpr uint64_t kBelow = uint64_t{64} << 20, kSpan = uint64_t{1} << 30;
std::atomic<uint64_t> placed{0};  // bytes asked for so far

tl::unexpected<Error> trouble(const char* what) {
  return tl::unexpected(Error{
      ErrorKind::Environment, std::string("memory for code ") + what + ": " + std::strerror(errno), {}});
}
}  // namespace

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  std::swap_ranges(std::begin(begin_), std::end(begin_), std::begin(other.begin_));
  return *this;
}

Memory::~Memory() {
  if (bytes_ > 0) ::munmap(reinterpret_cast<void*>(start_), bytes_);
}

Expected<Memory> Memory::reserve(const uint64_t (&sizes)[kSegments], uint64_t near) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  Memory out;
  for (size_t s = 0; s < kSegments; ++s)
    out.begin_[s + 1] = out.begin_[s] + (sizes[s] + page - 1) / page * page;
  const uint64_t bytes = std::max(out.begin_[kSegments], page);
  const uint64_t below = kBelow + placed.fetch_add(bytes) % kSpan + bytes;
  // Without MAP_FIXED the address is a wish: what is in use already stays.
  void* wish = near > below + kBelow ? reinterpret_cast<void*>((near - below) / page * page) : nullptr;
  void* got = ::mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return trouble("cannot be had");
  out.start_ = reinterpret_cast<uint64_t>(got);
  out.bytes_ = bytes;
  return out;
}

Expected<void> Memory::protect() {
  constexpr int kRights[kSegments] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (size_t s = 0; s < kSegments; ++s)
    if (begin_[s + 1] > begin_[s] &&
        ::mprotect(reinterpret_cast<void*>(start_ + begin_[s]), begin_[s + 1] - begin_[s], kRights[s]) != 0)
      return trouble("cannot be protected");
  return {};
}

}  // namespace skdsl::jit
