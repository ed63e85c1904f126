// types — type, block count, preload units, copies and the feed workspace of a super kernel
#include <fmt/format.h>

#include <algorithm>

#include "compiler/superkernel/superkernel.h"

namespace skdsl::superkernel {

using plan::KernelType;

Shape shape_of(const std::vector<std::pair<KernelType, uint32_t>>& kernels) {
  uint32_t aic = 0, aiv = 0;
  bool cubes = true, vectors = true, pairs = true;  // only kernels of that kind so far
  for (const auto& [type, dim] : kernels) {
    cubes &= plan::is_cube(type);
    vectors &= plan::is_vector(type);
    pairs &= type == KernelType::MixAic11;
    if (!plan::is_vector(type)) aic = std::max(aic, dim);
    if (plan::is_vector(type) || type == KernelType::MixAic11) aiv = std::max(aiv, dim);
    if (type == KernelType::MixAic12) aiv = std::max(aiv, 2 * dim);
  }
  if (vectors) return {KernelType::MixAiv10, aiv};
  if (cubes) return {KernelType::MixAic10, aic};
  if (pairs || aiv <= aic) return {KernelType::MixAic11, aic};
  return {KernelType::MixAic12, std::max(aic, (aiv + 1) / 2)};
}

tl::expected<Shape, OptionError> with_debug_cores(const Shape& shape, uint32_t aic, uint32_t aiv,
                                                  const Platform& platform) {
  if (aic == 0 && aiv == 0) return shape;
  const auto refuse = [](std::string_view option, std::string message, std::string help, bool ratio = false) {
    return tl::unexpected(OptionError{std::string(option), std::move(message), std::move(help), ratio});
  };
  if (aic != 0 && aiv != 0 && aiv != aic && aiv != 2 * aic)
    return refuse("debug-aiv-num",
                  fmt::format("debug-aic-num={} and debug-aiv-num={} stand in no launchable ratio; it must "
                              "be n:0, 0:n, n:n or n:2n",
                              aic, aiv),
                  fmt::format("for {} cube cores write debug-aiv-num={} or {}", aic, aic, 2 * aic), true);
  if (aic > platform.aic || aiv > platform.aiv)
    return refuse(
        aic > platform.aic ? "debug-aic-num" : "debug-aiv-num",
        fmt::format(
            "debug-aic-num={} and debug-aiv-num={} exceed the {} cube and {} vector cores that may be used",
            aic, aiv, platform.aic, platform.aiv),
        fmt::format("write at most {} and {}", platform.aic, platform.aiv));
  uint32_t need_aic = shape.block_dim, need_aiv = 0;
  switch (shape.type) {
    case KernelType::Aiv:
    case KernelType::MixAiv10:
      need_aic = 0, need_aiv = shape.block_dim;
      break;
    case KernelType::Aic:
    case KernelType::MixAic10:
      break;
    case KernelType::MixAic11:
      need_aiv = shape.block_dim;
      break;
    case KernelType::MixAic12:
      need_aiv = 2 * shape.block_dim;
      break;
  }
  if (aic < need_aic || aiv < need_aiv)
    return refuse(aic < need_aic ? "debug-aic-num" : "debug-aiv-num",
                  fmt::format("debug-aic-num={} and debug-aiv-num={} are fewer than the {} cube and {} "
                              "vector cores that the kernels need",
                              aic, aiv, need_aic, need_aiv),
                  fmt::format("write at least {} and {}", need_aic, need_aiv));
  if (aiv == 0) return Shape{KernelType::MixAic10, aic};
  if (aic == 0) return Shape{KernelType::MixAiv10, aiv};
  return Shape{aiv == aic ? KernelType::MixAic11 : KernelType::MixAic12, aic};
}

bool needs_feed(const Shape& superkernel, KernelType type, uint32_t block_dim, bool sync_all) {
  if (!sync_all || (type == superkernel.type && block_dim == superkernel.block_dim)) return false;
  const bool all_vectors = plan::is_vector(type) && superkernel.type == KernelType::MixAic12;
  return block_dim < (all_vectors ? 2 : 1) * superkernel.block_dim;
}

uint64_t feed_workspace_bytes(const Shape& superkernel, size_t kernels) {
  const uint64_t cores = uint64_t{superkernel.block_dim} * (superkernel.type == KernelType::MixAic12 ? 2 : 1);
  uint64_t base = 512;
  while (cores > 0 && cores * base <= kernels * 128) base *= 2;
  return cores * base;
}

uint32_t preload_units(uint32_t code_bytes) { return (std::min(code_bytes, 16384u) + 2047) / 2048; }

uint32_t copy_of_core(uint32_t core, uint32_t copies) { return (core & 0xff) % copies; }

std::vector<std::vector<uint32_t>> dcci_disabled_runs(const std::vector<bool>& disabled) {
  std::vector<std::vector<uint32_t>> runs;
  std::vector<uint32_t> run;
  for (size_t i = 0; i <= disabled.size(); ++i) {
    if (i < disabled.size() && disabled[i]) {
      run.push_back(static_cast<uint32_t>(i));
      continue;
    }
    if (run.size() > 1) runs.push_back(run);
    run.clear();
  }
  return runs;
}

}  // namespace skdsl::superkernel
