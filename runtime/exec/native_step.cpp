#include "runtime/exec/native_step.h"

#include <algorithm>
#include <cstring>

namespace skdsl::exec {

namespace {

NativeTensor shape_of(const sk_tensor& t) {
  NativeTensor out;
  out.dim.assign(t.dim, t.dim + t.rank);
  out.stride.assign(t.stride, t.stride + t.rank);
  out.dtype = t.dtype;
  out.layout = t.layout;
  return out;
}

NativeKernel described(const StepKernel& s, const plan::Schedule& schedule, const NativeOptions& options) {
  NativeKernel k;
  k.code = s.task->code;
  k.phases = s.entry->phases;
  k.alone = s.alone;
  k.workspace = s.entry->workspace != nullptr;
  k.loc = s.task->loc;
  k.path = s.task->path;
  for (uint32_t i = 0; i < s.call->n_in; ++i) {
    const uint32_t dtype = s.call->in[i].dtype;
    k.may_fault |= dtype == SK_I32 || dtype == SK_I64;
    const plan::BufferId b = s.task->in[i];
    if (options.preload && b != plan::kNone && schedule.buffers[b].storage == plan::Storage::Weight)
      k.weights.push_back(i);
  }
  if (!options.static_kernels) return k;
  for (uint32_t i = 0; i < s.call->n_in; ++i) k.in.push_back(shape_of(s.call->in[i]));
  for (uint32_t i = 0; i < s.call->n_out; ++i) k.out.push_back(shape_of(s.call->out[i]));
  for (uint32_t i = 0; i < s.call->n_attr; ++i) {
    NativeAttr a;
    if (s.task->attrs[i].type == AttrType::IntList) {
      a.is_list = true;
      a.list.assign(s.call->attr[i].list.data, s.call->attr[i].list.data + s.call->attr[i].list.size);
    } else {
      std::memcpy(&a.bits, &s.call->attr[i], sizeof a.bits);
    }
    k.attrs.push_back(std::move(a));
  }
  return k;
}

}  // namespace

NativeStep native_step(const plan::Program& program, const plan::Schedule& schedule,
                       const std::vector<StepLaunch>& launches, const NativeOptions& options, bool solo) {
  NativeStep step;
  step.name = schedule.function;
  step.solo = solo;
  step.options = options;
  step.files = program.files;
  for (const StepLaunch& l : launches) {
    std::vector<NativeKernel> kernels;
    for (const StepKernel& s : l.kernels) kernels.push_back(described(s, schedule, options));
    NativeFunction f = l.superkernel ? native_function(*l.superkernel, std::move(kernels), options, solo)
                                     : native_task(std::move(kernels[0]), solo);
    const auto same = std::find_if(step.functions.begin(), step.functions.end(),
                                   [&](const NativeFunction& g) { return same_code(f, g); });
    step.launches.push_back({static_cast<uint32_t>(same - step.functions.begin())});
    if (same == step.functions.end()) step.functions.push_back(std::move(f));
  }
  set_boundaries(step);
  return step;
}

}  // namespace skdsl::exec
