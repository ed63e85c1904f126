#include "jit/host/processor.h"

#include <sys/utsname.h>

#include <cstdint>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace skdsl::jit {

namespace {

std::string hex(uint64_t n) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(n));
  return text;
}

#if defined(__x86_64__)

enum Register { kEax, kEbx, kEcx, kEdx };
struct Leaf {
  uint32_t leaf, subleaf;
  bool take[4];  // registers that hold features; others hold numbers of the core or sizes
};
// Those that LLVM reads for the features of a processor, in full (Intel SDM volume 2A, CPUID; AMD APM volume
// 3, appendix E).
constexpr Leaf kLeaves[] = {
    {0x1, 0, {true, false, true, true}},           // family, model, stepping; SSE to AVX
    {0x7, 0, {false, true, true, true}},           // AVX2, AVX-512, AMX, …
    {0x7, 1, {true, true, true, true}},            // AVX-VNNI, …
    {0xd, 1, {true, false, false, false}},         // forms of XSAVE
    {0x14, 0, {false, true, false, false}},        // PTWRITE
    {0x19, 0, {false, true, false, false}},        // key locker
    {0x24, 0, {false, true, false, false}},        // AVX10
    {0x80000001, 0, {false, false, true, true}},   // LZCNT, SSE4A, XOP, …
    {0x80000008, 0, {false, true, false, false}},  // CLZERO, WBNOINVD, …
};

struct Registers {
  uint32_t r[4] = {};
};
Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers out;
  if (__get_cpuid_max(leaf & 0x80000000, nullptr) >= leaf)
    __cpuid_count(leaf, subleaf, out.r[kEax], out.r[kEbx], out.r[kEcx], out.r[kEdx]);
  return out;
}
void add_text(std::string& out, uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8)
    if (const char c = static_cast<char>(word >> shift); c >= ' ' && c <= '~') out += c;
}

std::string described() {
  std::string out = "x86_64 ";
  const Registers vendor = cpuid(0, 0);
  for (const Register r : {kEbx, kEdx, kEcx}) add_text(out, vendor.r[r]);
  out += ' ';
  for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf)
    for (const uint32_t word : cpuid(leaf, 0).r) add_text(out, word);
  out.resize(out.find_last_not_of(' ') + 1);
  for (const Leaf& l : kLeaves) {
    const Registers got = cpuid(l.leaf, l.subleaf);
    out += ' ' + hex(l.leaf) + '.' + hex(l.subleaf) + ':';
    for (int r = 0; r < 4; ++r)
      if (l.take[r]) out += hex(got.r[r]) + ',';
    out.pop_back();
  }
  // What the system saves of the registers: without it AVX may not be used.
  if (cpuid(1, 0).r[kEcx] & bit_OSXSAVE) {
    uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    out += " xcr0:" + hex(uint64_t{high} << 32 | low);
  }
  return out;
}

#else

std::string described() {
  utsname name{};
  ::uname(&name);
  return std::string(name.machine) + " " + hex(::getauxval(AT_HWCAP)) + " " + hex(::getauxval(AT_HWCAP2));
}

#endif

}  // namespace

const std::string& processor() {
  static const std::string kProcessor = described();
  return kProcessor;
}

}  // namespace skdsl::jit
