#include "stdlib/kernels/registry.h"

#include <array>

// Every row declares its symbols; only rows with a kernel refer to them.
extern "C" {
#define SK_OP(Name, op_name, ...)                                                                     \
  void sk_kernel_##op_name(const sk_call*, uint32_t phase, uint32_t block, uint32_t blocks) noexcept; \
  uint64_t sk_workspace_##op_name(const sk_call*) noexcept;
#include "stdlib/ops.def"
#undef SK_OP
}

namespace skdsl::kernels {
namespace {

constexpr size_t kOpCount = static_cast<size_t>(Opcode::kCount);

constexpr std::array<KernelEntry, kOpCount> make_table() {
  std::array<KernelEntry, kOpCount> table{};
#define SK_OP(Name, op_name, ...)                                                         \
  if constexpr (info(Opcode::Name).has_kernel()) {                                        \
    KernelEntry& entry = table[static_cast<size_t>(Opcode::Name)];                        \
    entry.run = sk_kernel_##op_name;                                                      \
    entry.phases = info(Opcode::Name).phases;                                             \
    if constexpr (info(Opcode::Name).workspace) entry.workspace = sk_workspace_##op_name; \
  }
#include "stdlib/ops.def"
#undef SK_OP
  return table;
}

constexpr std::array<KernelEntry, kOpCount> kTable = make_table();

}  // namespace

const KernelEntry* find_kernel(Opcode op) {
  const KernelEntry& entry = kTable[static_cast<size_t>(op)];
  return entry.run == nullptr ? nullptr : &entry;
}

}  // namespace skdsl::kernels
