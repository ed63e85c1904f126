#include "jit/specialise/bitcode.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <map>
#include <vector>

// Made by the build: begin and end of each piece, one after the other, then two zeros.
extern "C" const char* const skdsl_bitcode_pieces[];

namespace skdsl::jit {

std::span<const std::string_view> bitcode_files() {
  static const std::vector<std::string_view> kFiles = [] {
    std::vector<std::string_view> out;
    for (const char* const* at = skdsl_bitcode_pieces; *at; at += 2)
      out.emplace_back(at[0], static_cast<size_t>(at[1] - at[0]));
    return out;
  }();
  return kFiles;
}

std::string_view bitcode_of(const std::string& function) {
  // Names are read once; bodies stay where they are.
  static const std::map<std::string, std::string_view> kByFunction = [] {
    std::map<std::string, std::string_view> out;
    for (const std::string_view file : bitcode_files()) {
      llvm::LLVMContext context;
      auto module = llvm::getLazyBitcodeModule({{file.data(), file.size()}, "kernel"}, context,
                                               /*ShouldLazyLoadMetadata=*/true);
      if (!module) {
        llvm::consumeError(module.takeError());
        continue;
      }
      for (const llvm::Function& f : **module)
        if (!f.isDeclaration() && f.hasExternalLinkage()) out[f.getName().str()] = file;
    }
    return out;
  }();
  const auto it = kByFunction.find(function);
  return it == kByFunction.end() ? std::string_view{} : it->second;
}

}  // namespace skdsl::jit
