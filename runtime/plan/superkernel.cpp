#include "runtime/plan/superkernel.h"

#include <algorithm>

namespace skdsl::plan {

namespace {
constexpr std::string_view kTypeNames[] = {"AIV",         "AIC",         "MIX_AIV_1_0",
                                           "MIX_AIC_1_0", "MIX_AIC_1_1", "MIX_AIC_1_2"};
}

std::string_view name(KernelType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<KernelType> find_kernel_type(std::string_view name) {
  for (size_t i = 0; i < std::size(kTypeNames); ++i)
    if (kTypeNames[i] == name) return static_cast<KernelType>(i);
  return {};
}

std::optional<KernelType> kernel_type(Core core) {
  switch (core) {
    case Core::Aic:
      return KernelType::Aic;
    case Core::Aiv:
      return KernelType::Aiv;
    case Core::Mix11:
      return KernelType::MixAic11;
    case Core::Mix12:
      return KernelType::MixAic12;
    case Core::None:
    case Core::AiCpu:
    case Core::Host:
      break;
  }
  return {};
}

std::string_view name(Side side) { return side == Side::Aic ? "aic" : "aiv"; }

std::string_view name(SyncScope scope) {
  switch (scope) {
    case SyncScope::AllAic:
      return "all_aic";
    case SyncScope::AllAiv:
      return "all_aiv";
    case SyncScope::AllMix:
      return "all_mix";
  }
  return "?";
}

const SkStepRow& row(SkStep::Kind kind) {
  using enum StepField;
  static constexpr SkStepRow kRows[] = {
#define SK_STEP_KIND(Name, word, ...) SkStepRow{word, {__VA_ARGS__}},
#include "runtime/plan/superkernel_steps.def"
#undef SK_STEP_KIND
  };
  return kRows[static_cast<size_t>(kind)];
}

std::string_view task_ratio(KernelType superkernel_type) {
  switch (superkernel_type) {
    case KernelType::Aiv:
    case KernelType::MixAiv10:
      return "0:1";
    case KernelType::Aic:
    case KernelType::MixAic10:
      return "1:0";
    case KernelType::MixAic11:
      return "1:1";
    case KernelType::MixAic12:
      return "1:2";
  }
  return "?";
}

SkWaitActions wait_actions(uint32_t config, Side side) {
  // Kinds: aic 0, aiv 1, mix 2. AscendC, kernel_operator_sync_impl.h, WaitPreTaskEnd of the second handshake.
  const uint32_t before = config >> 2, now = config & 3;
  const bool cube = side == Side::Aic;
  if (before == now && before < 2) return {.wait_all = cube == (before == 0)};
  SkWaitActions a;
  // A side that ran the kernel before meets its own cores first.
  a.wait_all = before == 2 || cube == (before == 0);
  // Cube results are needed on the vector side when the next kernel runs there, and the other way round.
  const bool c2v = before != 1 && now != 0, v2c = before != 0 && now != 1;
  a.signal = cube ? c2v : v2c;
  a.await = cube ? v2c : c2v;
  return a;
}

std::vector<SkDependency> dependencies(const SuperKernel& k) {
  std::vector<SkDependency> out;
  const auto add = [&](size_t a, size_t b) {
    const SkDependency d{static_cast<uint32_t>(a), static_cast<uint32_t>(b)};
    if (std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
  };
  for (size_t i = 0; i < k.kernels.size(); ++i) {
    // The next kernel in the list, or on the same stream when the two sides run free.
    for (size_t j = i + 1; j < k.kernels.size(); ++j)
      if (!k.two_stream || k.kernels[j].stream == k.kernels[i].stream) {
        add(i, j);
        break;
      }
    for (const uint32_t e : k.kernels[i].send_events)
      for (size_t j = i + 1; j < k.kernels.size(); ++j) {
        const auto& recv = k.kernels[j].recv_events;
        if (std::find(recv.begin(), recv.end(), e) != recv.end()) add(i, j);
      }
  }
  return out;
}

SkEvents external_events(const SuperKernel& superkernel, size_t k) {
  const SkKernel& kernel = superkernel.kernels[k];
  const auto settled = [&](uint32_t event, size_t from, size_t to, bool sends) {
    for (size_t j = from; j < to; ++j) {
      const SkKernel& o = superkernel.kernels[j];
      const auto& list = sends ? o.recv_events : o.send_events;
      if (o.stream != kernel.stream && std::find(list.begin(), list.end(), event) != list.end()) return true;
    }
    return false;
  };
  SkEvents out;
  uint32_t slot = 0;
  for (const uint32_t e : kernel.send_events) {
    if (!settled(e, k + 1, superkernel.kernels.size(), true)) out.notify.emplace_back(e, slot);
    ++slot;
  }
  for (const uint32_t e : kernel.recv_events) {
    if (!settled(e, 0, k, false)) out.wait.emplace_back(e, slot);
    ++slot;
  }
  return out;
}

}  // namespace skdsl::plan
