// specialise — a kernel for one static shape, from the bitcode that ships with the native object
//
// The clone takes the same arguments as the kernel. Its sizes, strides, dtypes and attributes are constants;
// addresses, workspace and fault record come from the call. Nothing is reassociated or contracted, so the
// bits are the kernel's.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "runtime/base/error.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

/// An optimised module whose one visible function is `symbol`.
Expected<std::unique_ptr<llvm::Module>> specialise(const exec::NativeKernel& kernel,
                                                   const std::string& symbol, llvm::LLVMContext& context,
                                                   llvm::TargetMachine& machine);

}  // namespace skdsl::jit
