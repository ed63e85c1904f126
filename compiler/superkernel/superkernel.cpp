#include "compiler/superkernel/superkernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/superkernel/emit.h"

namespace skdsl::superkernel {

namespace {

constexpr size_t kMaxKernels = 1 << 16;

tl::unexpected<OptionError> refuse(std::string message, std::string help = "", std::string option = "") {
  return tl::unexpected(OptionError{std::move(option), std::move(message), std::move(help), false});
}

bool holds(const std::vector<uint32_t>& list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

tl::expected<void, OptionError> check_events(const std::vector<SubKernel>& kernels) {
  std::map<uint32_t, std::vector<size_t>> receivers;
  for (size_t i = 0; i < kernels.size(); ++i)
    for (const uint32_t e : kernels[i].recv_events) receivers[e].push_back(i);
  for (const SubKernel& k : kernels)
    for (const uint32_t e : k.send_events) {
      if (holds(k.recv_events, e))
        return refuse(fmt::format("`{}` sends event {} and receives it too", k.id, e),
                      "one kernel sends, another receives");
      for (const size_t r : receivers[e])
        if (kernels[r].stream == k.stream)
          return refuse(fmt::format("event {} goes from `{}` to `{}`, which is on the same stream {}", e,
                                    k.id, kernels[r].id, k.stream),
                        "kernels of one stream run in order; drop the event");
    }
  if (!kernels.front().recv_events.empty())
    return refuse(fmt::format("`{}` is the first kernel and waits for event {}", kernels.front().id,
                              kernels.front().recv_events[0]),
                  "wait before the super kernel");
  if (!kernels.back().send_events.empty())
    return refuse(fmt::format("`{}` is the last kernel and sends event {}", kernels.back().id,
                              kernels.back().send_events[0]),
                  "record the event behind the super kernel");
  return {};
}

tl::expected<void, OptionError> check_kernels(const std::vector<SubKernel>& kernels, const Options& options) {
  for (const SubKernel& k : kernels) {
    const bool flags = k.early_start_set || k.early_start_wait;
    if (flags && options.text(Option::EarlyStart) == "0")
      return refuse(
          fmt::format("`{}` was compiled for early start, the super kernel has early-start=0", k.id),
          "compile both alike", "early-start");
    if (flags && k.dynamic)
      return refuse(fmt::format("`{}` has its tiling computed on the device and cannot start early", k.id),
                    "compile it without early start");
    if (k.copies != 0 && k.copies != options.number(Option::SplitMode))
      return refuse(fmt::format("`{}` was compiled into {} copies, the super kernel has split-mode={}", k.id,
                                k.copies, options.number(Option::SplitMode)),
                    "compile both alike", "split-mode");
  }
  return {};
}

}  // namespace

bool needs_two_streams(const std::vector<SubKernel>& kernels) {
  for (size_t i = 1; i < kernels.size(); ++i) {
    if (kernels[i - 1].stream == kernels[i].stream) continue;
    const auto& sent = kernels[i - 1].send_events;
    if (std::none_of(sent.begin(), sent.end(), [&](uint32_t e) { return holds(kernels[i].recv_events, e); }))
      return true;
  }
  return false;
}

tl::expected<Result, OptionError> compile_superkernel(const std::vector<SubKernel>& given,
                                                      const Options& options, const Platform& platform) {
  if (given.empty()) return refuse("a super kernel needs at least one kernel");
  if (given.size() > kMaxKernels)
    return refuse(fmt::format("a super kernel of {} kernels is too large; at most {} are possible",
                              given.size(), kMaxKernels),
                  "split the scope");
  std::vector<SubKernel> kernels = given;
  for (SubKernel& k : kernels) {
    if (!k.dynamic) continue;
    // The real number of blocks is known on the device only, so every core is kept ready; flags come by op
    // type.
    k.block_dim = plan::is_vector(k.type) ? platform.aiv : platform.aic;
    const auto listed = [&](Option o) {
      const auto list = options.list(o);
      return std::find(list.begin(), list.end(), k.op_type) != list.end();
    };
    k.dcci_before |= listed(Option::DcciBefore);
    k.dcci_after |= listed(Option::DcciAfter);
    k.dcci_disable |= listed(Option::DcciDisable);
  }
  if (auto ok = check_kernels(kernels, options); !ok) return tl::unexpected(ok.error());
  const bool two_stream = needs_two_streams(kernels);
  if (two_stream && !options.on(Option::StreamFusion)) {
    for (size_t i = 1; i < kernels.size(); ++i)
      if (kernels[i - 1].stream != kernels[i].stream && needs_two_streams({kernels[i - 1], kernels[i]}))
        return refuse(
            fmt::format(
                "`{}` and `{}` are on streams {} and {} with no event between them, and stream-fusion is 0",
                kernels[i - 1].id, kernels[i].id, kernels[i - 1].stream, kernels[i].stream),
            "set stream-fusion=1, or keep the scope on one stream", "stream-fusion");
  }
  if (auto ok = check_events(kernels); !ok) return tl::unexpected(ok.error());

  std::vector<std::pair<KernelType, uint32_t>> shapes;
  for (const SubKernel& k : kernels) shapes.emplace_back(k.type, k.block_dim);
  const auto shape = with_debug_cores(shape_of(shapes), options.number(Option::DebugAicNum),
                                      options.number(Option::DebugAivNum), platform);
  if (!shape) return tl::unexpected(shape.error());

  Result out;
  plan::SuperKernel& sk = out.kernel;
  sk.type = shape->type;
  sk.block_dim = shape->block_dim;
  sk.two_stream = two_stream;
  sk.options = options.print();
  if (options.on(Option::FeedSyncAll)) sk.feed_workspace_bytes = feed_workspace_bytes(*shape, kernels.size());
  uint32_t slot = 1;  // 0 holds the base address of the flags
  std::vector<bool> disabled;
  for (const SubKernel& k : kernels) {
    sk.kernels.push_back(
        {k.task, k.type, k.block_dim, k.stream, k.dynamic, k.sync_all, k.send_events, k.recv_events});
    out.param_slots.push_back(slot);
    slot +=
        k.params + (k.dynamic ? 3 : 0) + static_cast<uint32_t>(k.send_events.size() + k.recv_events.size());
    disabled.push_back(k.dcci_disable);
    if (needs_feed(*shape, k.type, k.block_dim, k.sync_all) && !options.on(Option::FeedSyncAll))
      out.hangs.push_back(static_cast<uint32_t>(sk.kernels.size() - 1));
  }
  if (options.on(Option::FeedSyncAll)) out.workspace_slot = slot++;
  if (options.on(Option::Profiling)) out.profiling_slot = slot++, out.task_id_slot = slot++;
  out.entry_align = options.number(Option::FuncAlign);
  out.one_copy = options.number(Option::SplitMode) == 1;
  for (const auto& run : dcci_disabled_runs(disabled)) {
    std::string ids;
    for (const uint32_t k : run) ids += fmt::format("{}`{}`", ids.empty() ? "" : ", ", kernels[k].id);
    out.warnings.push_back(
        fmt::format("{} run one after the other with dcci disabled; what one writes through the data cache "
                    "the next may not see",
                    ids));
  }
  if (two_stream)
    Emitter(kernels, options, out).two_stream();
  else
    Emitter(kernels, options, out).serial();
  return out;
}

}  // namespace skdsl::superkernel
