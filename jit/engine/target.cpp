#include "jit/engine/target.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace skdsl::jit {

namespace {
struct Host {
  std::string triple, cpu, features;
};
const Host& host() {
  static const Host kHost = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    Host h{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), ""};
    std::vector<std::string> names;
    for (const auto& f : llvm::sys::getHostCPUFeatures())
      names.push_back((f.second ? "+" : "-") + f.first().str());
    std::sort(names.begin(), names.end());
    for (const std::string& n : names) h.features += (h.features.empty() ? "" : ",") + n;
    return h;
  }();
  return kHost;
}
}  // namespace

Expected<std::unique_ptr<llvm::TargetMachine>> host_machine(llvm::CodeGenOptLevel level) {
  std::string trouble;
  const auto* target = llvm::TargetRegistry::lookupTarget(host().triple, trouble);
  if (!target)
    return tl::unexpected(
        Error{ErrorKind::Environment, "LLVM has no code generator for this processor: " + trouble, {}});
  // A product and a sum stay two roundings, as in the native objects.
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // The small code model: calls are direct, and the linker puts a stub where they do not reach.
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(host().triple, host().cpu, host().features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, level, /*JIT=*/true));
  if (!machine)
    return tl::unexpected(
        Error{ErrorKind::Environment, "LLVM cannot generate code for " + host().triple, {}});
  return machine;
}

Expected<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine,
                               llvm::CodeGenFileType type) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type))
    return tl::unexpected(Error{
        ErrorKind::Environment, "LLVM cannot write this kind of file for " + module.getTargetTriple(), {}});
  passes.run(module);
  return std::string(bytes);
}

}  // namespace skdsl::jit
