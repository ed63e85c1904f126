// native_order — the two sides of a super kernel as one list that every worker walks
//
// The list is what one worker alone does, so with more of them the one that has come least far never waits: a
// worker waits only for what others do earlier in the same list.
#pragma once
#include "runtime/exec/native.h"
#include "runtime/plan/superkernel.h"

namespace skdsl::exec {

/// A super kernel whose kernels have been described, in the order of SuperKernel::kernels. With `solo` nobody
/// is met.
NativeFunction native_function(const plan::SuperKernel& sk, std::vector<NativeKernel> kernels,
                               const NativeOptions& options, bool solo);
/// A task outside of super kernels.
NativeFunction native_task(NativeKernel kernel, bool solo);

/// The meetings before launches, as narrow as what runs before and behind them allows: `first_only` says
/// which launches run on the first worker only. None before the first one.
std::vector<uint32_t> boundaries(const std::vector<bool>& first_only);
void set_boundaries(NativeStep& step);

}  // namespace skdsl::exec
