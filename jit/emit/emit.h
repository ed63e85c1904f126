// emit — from a step to LLVM IR
//
// The module has one function for each distinct super kernel and the step function that calls them. Inside a
// super kernel stand direct calls of kernels and of meetings, one after the other; there is no loop over
// steps.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "runtime/exec/native.h"

namespace skdsl::jit {

struct EmitOptions {
  bool debug_info = true;
};

std::unique_ptr<llvm::Module> emit(const exec::NativeStep& step, llvm::LLVMContext& context,
                                   const EmitOptions& options = {});

}  // namespace skdsl::jit
