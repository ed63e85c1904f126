// capture_entry — the entry function of a captured super kernel, and what its options say about a kernel
#include <algorithm>

#include "compiler/superkernel/capture_superkernel.h"

namespace skdsl::superkernel {

using plan::KernelType;
using plan::Side;

Shape entry_shape(const std::vector<std::pair<KernelType, uint32_t>>& kernels) {
  Cores most;
  bool cube = false, vector = false, pairs = false;
  for (const auto& [type, dim] : kernels) {
    const Cores c = cores_of(type, dim);
    most = {std::max(most.cube, c.cube), std::max(most.vector, c.vector)};
    cube |= plan::runs_on(type, Side::Aic);
    vector |= plan::runs_on(type, Side::Aiv);
    pairs |= type == KernelType::MixAic12;
  }
  if (!cube) return {KernelType::Aiv, most.vector};
  if (!vector) return {KernelType::Aic, most.cube};
  if (!pairs && most.vector <= most.cube) return {KernelType::MixAic11, most.cube};
  return {KernelType::MixAic12, std::max(most.cube, (most.vector + 1) / 2)};
}

std::string entry_symbol(KernelType type, const CaptureOptions& options) {
  std::string out = plan::is_vector(type)          ? "sk_entry_aiv"
                    : plan::is_cube(type)          ? "sk_entry_aic"
                    : type == KernelType::MixAic11 ? "sk_entry_mix11"
                                                   : "sk_entry_mix12";
  if (options.on(CaptureOption::DebugSyncAll)) out += "_debug";
  if (options.on(CaptureOption::DebugOpExecTrace) || options.cross_core_check()) out += "_op_trace";
  return out;
}

bool covers_all(const Shape& launch, KernelType type, uint32_t block_dim) {
  if (!plan::is_vector(type) || plan::is_vector(launch.type)) return block_dim == launch.block_dim;
  return block_dim == (launch.type == KernelType::MixAic12 ? 2 : 1) * launch.block_dim;
}

uint32_t capture_preload_units(uint32_t preload_code, uint32_t code_bytes, Side side) {
  const uint32_t window = side == Side::Aic ? 16 : 8;
  if (preload_code == 2) return 0;
  return preload_code == 0 ? window : std::min(window, code_bytes / 2048 + (code_bytes % 2048 != 0 ? 1 : 0));
}

Dcci capture_dcci(const CaptureOptions& options, std::string_view kernel, uint8_t capabilities) {
  Dcci out{options.matches(CaptureOption::DcciBefore, kernel),
           options.matches(CaptureOption::DcciAfter, kernel)};
  if (out.after) return out;
  // A pattern alone is not believed: a kernel that does not say that it can do without still gets one on some
  // side.
  const bool capable = (capabilities & kNoDcci) != 0,
             disabled = options.matches(CaptureOption::DcciDisable, kernel);
  out.after = !capable && !(disabled && out.before);
  return out;
}

}  // namespace skdsl::superkernel
