// target — the processor that code is made for, and code generation for it
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "runtime/base/error.h"

namespace skdsl::jit {

/// The machine that this runs on. Initialises the native target once.
Expected<std::unique_ptr<llvm::TargetMachine>> host_machine(llvm::CodeGenOptLevel level);
/// Object or assembly of a module, which is set to the machine.
Expected<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine,
                               llvm::CodeGenFileType type);

}  // namespace skdsl::jit
