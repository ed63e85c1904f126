#include "jit/specialise/specialise.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "jit/specialise/bitcode.h"

namespace skdsl::jit {

namespace {

// Above the default, so that helpers which take a tensor disappear into the clone and its constants reach
// them.
constexpr int kInlineThreshold = 1000;

class Wrapper {
 public:
  Wrapper(llvm::Module& module, const exec::NativeKernel& kernel)
      : module_(module), kernel_(kernel), b_(module.getContext()) {}

  void write(llvm::Function& original, const std::string& symbol) {
    auto* f = llvm::Function::Create(original.getFunctionType(), llvm::GlobalValue::ExternalLinkage, symbol,
                                     module_);
    f->copyAttributesFrom(&original);
    f->setLinkage(llvm::GlobalValue::ExternalLinkage);
    original.setLinkage(llvm::GlobalValue::InternalLinkage);
    original.setComdat(nullptr);
    original.removeFnAttr(llvm::Attribute::NoInline);
    original.addFnAttr(llvm::Attribute::AlwaysInline);
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", f));
    llvm::Value* given = f->getArg(0);
    auto* call = bytes(sizeof(sk_call));
    put(call, offsetof(sk_call, in), tensors(kernel_.in, get(given, offsetof(sk_call, in))));
    put(call, offsetof(sk_call, out), tensors(kernel_.out, get(given, offsetof(sk_call, out))));
    put(call, offsetof(sk_call, attr), attributes());
    put(call, offsetof(sk_call, n_in), b_.getInt32(static_cast<uint32_t>(kernel_.in.size())));
    put(call, offsetof(sk_call, n_out), b_.getInt32(static_cast<uint32_t>(kernel_.out.size())));
    put(call, offsetof(sk_call, n_attr), b_.getInt32(static_cast<uint32_t>(kernel_.attrs.size())));
    put(call, offsetof(sk_call, reserved), b_.getInt32(0));
    for (const size_t field : {offsetof(sk_call, workspace), offsetof(sk_call, fault)})
      put(call, field, get(given, field));
    put(call, offsetof(sk_call, workspace_stride),
        b_.CreateLoad(b_.getInt64Ty(), at(given, offsetof(sk_call, workspace_stride))));
    b_.CreateCall(&original, {call, f->getArg(1), f->getArg(2), f->getArg(3)});
    b_.CreateRetVoid();
  }

 private:
  llvm::Value* bytes(size_t n) {
    auto* a = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), std::max<size_t>(n, 1)));
    a->setAlignment(llvm::Align(16));
    return a;
  }
  llvm::Value* at(llvm::Value* base, size_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
  }
  void put(llvm::Value* base, size_t offset, llvm::Value* value) { b_.CreateStore(value, at(base, offset)); }
  llvm::Value* get(llvm::Value* base, size_t offset) {
    return b_.CreateLoad(b_.getPtrTy(), at(base, offset));
  }

  llvm::Value* tensors(const std::vector<exec::NativeTensor>& list, llvm::Value* given) {
    auto* out = bytes(list.size() * sizeof(sk_tensor));
    for (size_t i = 0; i < list.size(); ++i) {
      const exec::NativeTensor& t = list[i];
      const size_t base = i * sizeof(sk_tensor);
      put(out, base + offsetof(sk_tensor, data), get(given, base + offsetof(sk_tensor, data)));
      for (size_t d = 0; d < SK_MAX_RANK; ++d) {
        put(out, base + offsetof(sk_tensor, dim) + 8 * d,
            b_.getInt64(d < t.dim.size() ? static_cast<uint64_t>(t.dim[d]) : 0));
        put(out, base + offsetof(sk_tensor, stride) + 8 * d,
            b_.getInt64(d < t.stride.size() ? static_cast<uint64_t>(t.stride[d]) : 0));
      }
      put(out, base + offsetof(sk_tensor, rank), b_.getInt32(static_cast<uint32_t>(t.dim.size())));
      put(out, base + offsetof(sk_tensor, dtype), b_.getInt32(t.dtype));
      put(out, base + offsetof(sk_tensor, layout), b_.getInt32(t.layout));
      put(out, base + offsetof(sk_tensor, reserved), b_.getInt32(0));
    }
    return out;
  }

  llvm::Value* attributes() {
    auto* out = bytes(kernel_.attrs.size() * sizeof(sk_attr));
    for (size_t i = 0; i < kernel_.attrs.size(); ++i) {
      const exec::NativeAttr& a = kernel_.attrs[i];
      if (!a.is_list) {
        put(out, i * sizeof(sk_attr), b_.getInt64(a.bits));
        continue;
      }
      std::vector<uint64_t> values(a.list.begin(), a.list.end());
      auto* data = llvm::ConstantDataArray::get(module_.getContext(), values);
      auto* global = new llvm::GlobalVariable(module_, data->getType(), true,
                                              llvm::GlobalValue::PrivateLinkage, data, "list");
      put(out, i * sizeof(sk_attr), global);
      put(out, i * sizeof(sk_attr) + 8, b_.getInt64(values.size()));
    }
    return out;
  }

  llvm::Module& module_;
  const exec::NativeKernel& kernel_;
  llvm::IRBuilder<> b_;
};

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.InlinerThreshold = kInlineThreshold;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // The other kernels of the file go before anything is spent on them.
  llvm::GlobalDCEPass().run(module, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

}  // namespace

Expected<std::unique_ptr<llvm::Module>> specialise(const exec::NativeKernel& kernel,
                                                   const std::string& symbol, llvm::LLVMContext& context,
                                                   llvm::TargetMachine& machine) {
  const std::string name = "sk_kernel_" + std::string(info(kernel.code).name);
  const std::string_view piece = bitcode_of(name);
  if (piece.empty())
    return tl::unexpected(
        Error{ErrorKind::Environment, "the JIT was built without the bitcode of `" + name + "`", {}});
  auto parsed = llvm::parseBitcodeFile({{piece.data(), piece.size()}, name}, context);
  if (!parsed)
    return tl::unexpected(
        Error{ErrorKind::Internal,
              "the bitcode of `" + name + "` cannot be read: " + llvm::toString(parsed.takeError()),
              {}});
  auto module = std::move(*parsed);
  llvm::Function* original = module->getFunction(name);
  Wrapper(*module, kernel).write(*original, symbol);
  for (llvm::Function& f : *module)
    if (!f.isDeclaration() && f.getName() != symbol) {
      f.setComdat(nullptr);
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  std::string wrong;
  llvm::raw_string_ostream out(wrong);
  if (llvm::verifyModule(*module, &out))
    return tl::unexpected(
        Error{ErrorKind::Internal, "the clone of `" + name + "` is not valid: " + wrong, {}});
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  optimise(*module, machine);
  return module;
}

}  // namespace skdsl::jit
