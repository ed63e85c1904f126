#include "jit/engine/engine.h"

#include <link.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>

#include "jit/emit/emit.h"
#include "jit/engine/link.h"
#include "jit/engine/target.h"
#include "jit/specialise/specialise.h"

namespace skdsl::jit {

namespace {

Expected<std::unique_ptr<llvm::Module>> verified(const exec::NativeStep& step, llvm::LLVMContext& context,
                                                 const EmitOptions& options) {
  auto module = emit(step, context, options);
  std::string wrong;
  llvm::raw_string_ostream out(wrong);
  if (llvm::verifyModule(*module, &out))
    return tl::unexpected(
        Error{ErrorKind::Internal, "the code emitted for `" + step.name + "` is not valid: " + wrong, {}});
  return module;
}

// The note that the linker leaves in a shared object; found by an address inside it.
std::string own_build_id() {
  struct Search {
    uintptr_t inside;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(&skdsl_jit_open), ""};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        bool ours = false;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& p = object->dlpi_phdr[i];
          const uintptr_t begin = object->dlpi_addr + p.p_vaddr;
          ours |= p.p_type == PT_LOAD && search.inside >= begin && search.inside < begin + p.p_memsz;
        }
        if (!ours) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& p = object->dlpi_phdr[i];
          if (p.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + p.p_vaddr);
          for (const char* end = at + p.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *note;
            const char* id = name + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
              for (size_t b = 0; b < note->n_descsz; ++b) {
                const auto byte = static_cast<unsigned char>(id[b]);
                search.id += "0123456789abcdef"[byte >> 4];
                search.id += "0123456789abcdef"[byte & 15];
              }
            at = id + (note->n_descsz + 3) / 4 * 4;
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

class LlvmEngine final : public Engine {
 public:
  std::string build_id() const override { return own_build_id(); }

  Expected<Object> compile(const exec::NativeStep& step) override {
    llvm::LLVMContext context;
    auto module = verified(step, context, {});
    if (!module) return tl::unexpected(module.error());
    auto machine = dispatch_machine();
    if (!machine) return tl::unexpected(machine.error());
    return generate(**module, **machine, llvm::CodeGenFileType::ObjectFile);
  }

  Expected<Object> compile_kernel(const exec::NativeKernel& kernel, const std::string& symbol) override {
    llvm::LLVMContext context;
    auto machine = host_machine(llvm::CodeGenOptLevel::Aggressive);
    if (!machine) return tl::unexpected(machine.error());
    auto module = specialise(kernel, symbol, context, **machine);
    if (!module) return tl::unexpected(module.error());
    return generate(**module, **machine, llvm::CodeGenFileType::ObjectFile);
  }

  Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects,
                                         std::span<const exec::NativeSymbol> symbols) override {
    return jit::link(objects, symbols);
  }

  Expected<std::string> text(const exec::NativeStep& step, Text form, const std::string& function) override {
    llvm::LLVMContext context;
    auto module = verified(step, context, {.debug_info = function.empty()});
    if (!module) return tl::unexpected(module.error());
    std::string out;
    llvm::raw_string_ostream stream(out);
    if (form == Text::Asm) {
      for (llvm::Function& f : **module)
        if (!function.empty() && f.getName() != function) f.deleteBody();
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
  static Expected<std::unique_ptr<llvm::TargetMachine>> dispatch_machine() {
    return host_machine(llvm::CodeGenOptLevel::Less);
  }
};

}  // namespace

}  // namespace skdsl::jit

skdsl::jit::Engine* skdsl_jit_open(const char* stamp) {
  if (std::strcmp(stamp, SKDSL_JIT_STAMP) != 0) return nullptr;
  static skdsl::jit::LlvmEngine engine;
  return &engine;
}
