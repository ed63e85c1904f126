#include "jit/engine/engine.h"

#include <cstring>

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "jit/emit/emit.h"
#include "jit/engine/link.h"
#include "jit/engine/target.h"
#include "stdlib/op_info.h"

namespace skdsl::jit {

namespace {

Expected<std::unique_ptr<llvm::Module>> verified(const exec::NativeStep& step, llvm::LLVMContext& context, const EmitOptions& options) {
  auto module = emit(step, context, options);
  std::string wrong;
  llvm::raw_string_ostream out(wrong);
  if (llvm::verifyModule(*module, &out)) return tl::unexpected(Error{ErrorKind::Internal, "the code emitted for `" + step.name + "` is not valid: " + wrong, {}});
  return module;
}

class LlvmEngine final : public Engine {
 public:
  std::string llvm_version() const override { return LLVM_VERSION_STRING; }
  std::string target() const override { return host_text(); }

  Expected<Object> compile(const exec::NativeStep& step) override {
    llvm::LLVMContext context;
    auto module = verified(step, context, {});
    if (!module) return tl::unexpected(module.error());
    auto machine = dispatch_machine();
    if (!machine) return tl::unexpected(machine.error());
    return generate(**module, **machine, llvm::CodeGenFileType::ObjectFile);
  }

  Expected<Object> compile_kernel(const exec::NativeKernel& kernel, const std::string& symbol) override {
    return tl::unexpected(Error{ErrorKind::Internal, "no code of `" + std::string(info(kernel.code).name) + "` for " + symbol, {}});
  }

  Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects, std::span<const exec::NativeSymbol> symbols) override {
    return jit::link(objects, symbols);
  }

  Expected<std::string> text(const exec::NativeStep& step, Text form, const std::string& function) override {
    llvm::LLVMContext context;
    auto module = verified(step, context, {.debug_info = function.empty()});
    if (!module) return tl::unexpected(module.error());
    std::string out;
    llvm::raw_string_ostream stream(out);
    if (form == Text::Asm) {
      auto machine = dispatch_machine();
      if (!machine) return tl::unexpected(machine.error());
      return generate(**module, **machine, llvm::CodeGenFileType::AssemblyFile);
    }
    if (function.empty()) {
      (*module)->print(stream, nullptr);
    } else if (const auto* f = (*module)->getFunction(function)) {
      f->print(stream);
    } else {
      return tl::unexpected(Error{ErrorKind::Usage, "the code has no function `" + function + "`", {}});
    }
    return out;
  }

 private:
  // Straight calls gain nothing from optimisation.
  static Expected<std::unique_ptr<llvm::TargetMachine>> dispatch_machine() { return host_machine(llvm::CodeGenOptLevel::Less); }
};

}  // namespace

std::string kernel_symbol(const exec::NativeKernel& kernel, bool static_kernels) {
  (void)static_kernels;
  return "sk_kernel_" + std::string(info(kernel.code).name);
}

}  // namespace skdsl::jit

skdsl::jit::Engine* skdsl_jit_open(const char* stamp) {
  if (std::strcmp(stamp, SKDSL_JIT_STAMP) != 0) return nullptr;
  static skdsl::jit::LlvmEngine engine;
  return &engine;
}
