#include "jit/emit/emit.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "jit/cache/symbols.h"
#include "jit/emit/repeats.h"

namespace skdsl::jit {

using exec::NativeFunction;
using exec::NativeKernel;
using exec::NativeOp;
using exec::NativeStep;

namespace {

// With the switch `copies` a super kernel exists so often; worker w runs copy w mod kCopies.
constexpr uint32_t kCopies = 4;
// Lines of 64 bytes that the switch `preload` pulls.
constexpr uint32_t kCodeLines = 8, kWeightLines = 16;

static_assert(offsetof(exec::NativeFrame, lanes) == 0,
              "the emitted code loads it from the start of the frame");

class Emitter {
 public:
  Emitter(const NativeStep& step, llvm::LLVMContext& context, const EmitOptions& options)
      : step_(step),
        context_(context),
        module_(std::make_unique<llvm::Module>("skdsl " + step.name, context)),
        b_(context),
        di_(*module_),
        debug_(options.debug_info) {}

  std::unique_ptr<llvm::Module> run() {
    if (debug_) start_debug();
    for (const NativeFunction& f : step_.functions)
      functions_.push_back(f.plain ? std::vector<llvm::Function*>{} : superkernel(f));
    step();
    if (debug_) di_.finalize();
    return std::move(module_);
  }

 private:
  // What the body of a launch refers to.
  struct Scope {
    llvm::Value *frame, *table, *worker, *lanes, *number, *launch;
    llvm::DISubprogram* place = nullptr;
  };

  llvm::Type* i32() { return b_.getInt32Ty(); }
  llvm::PointerType* ptr() { return b_.getPtrTy(); }
  llvm::Value* add(llvm::Value* base, uint64_t n) {
    if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(base))
      return llvm::ConstantInt::get(base->getType(), c->getZExtValue() + n);
    return n == 0 ? base : b_.CreateAdd(base, llvm::ConstantInt::get(base->getType(), n));
  }
  llvm::FunctionCallee external(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> args) {
    llvm::FunctionCallee f = module_->getOrInsertFunction(name, llvm::FunctionType::get(result, args, false));
    auto* function = llvm::cast<llvm::Function>(f.getCallee());
    function->setDoesNotThrow();
    return f;
  }
  llvm::FunctionCallee kernel(const NativeKernel& k) {
    return external(kernel_symbol(k, step_.options.static_kernels), b_.getVoidTy(),
                    {ptr(), i32(), i32(), i32()});
  }

  // ---- debug info: calls stand at the places of their operators

  void start_debug() {
    module_->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module_->addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
    unit_ = di_.createCompileUnit(llvm::dwarf::DW_LANG_C, file_of({}), "skdsl", true, "", 0, "",
                                  llvm::DICompileUnit::LineTablesOnly);
  }
  llvm::DIFile* file_of(const Loc& loc) {
    std::string name;
    if (!step_.files.empty())
      name = step_.files[loc.line != 0 && loc.file < step_.files.size() ? loc.file : 0];
    return di_.createFile(name.empty() ? "skdsl" : name, ".");
  }
  llvm::DISubprogram* subprogram(llvm::Function* f, const Loc& loc) {
    if (!debug_) return nullptr;
    auto* type = di_.createSubroutineType(di_.getOrCreateTypeArray({}));
    auto* s = di_.createFunction(file_of(loc), f->getName(), f->getName(), file_of(loc), loc.line, type,
                                 loc.line, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
    f->setSubprogram(s);
    return s;
  }
  void at(const Scope& scope, const Loc& loc) {
    if (!scope.place) return;
    llvm::DIScope* in = scope.place;
    if (loc.line != 0 && file_of(loc) != scope.place->getFile())
      in = di_.createLexicalBlockFile(scope.place, file_of(loc));
    b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, loc.line, loc.column, in));
  }
  void nowhere(const Scope& scope) {
    if (scope.place) b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, 0, 0, scope.place));
  }

  // ---- the body of a launch

  llvm::Value* call_of(const Scope& s, size_t k) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.table, k * sizeof(sk_call));
  }

  void phase(const NativeFunction& f, const NativeOp& op, const Scope& s) {
    const NativeKernel& k = f.kernels[op.kernel];
    const bool one = k.alone || step_.solo;
    at(s, k.loc);
    b_.CreateCall(kernel(k), {call_of(s, op.kernel), b_.getInt32(op.phase), one ? b_.getInt32(0) : s.worker,
                              one ? b_.getInt32(1) : s.lanes});
  }

  // The number of a meeting is that of the launch's boundary and its place in the function.
  void meet(const NativeOp& op, const Scope& s) {
    nowhere(s);
    b_.CreateCall(external("sk_native_meet", b_.getVoidTy(), {ptr(), i32(), b_.getInt64Ty(), i32()}),
                  {s.frame, s.worker, add(s.number, op.meeting), b_.getInt32(op.how)});
  }

  void prefetch_line(llvm::Value* base, uint32_t line) {
    auto* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), base, line * 64);
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ptr()},
                       {address, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
  }
  // The first lines of the code, and of this kernel's weights.
  void prefetch(const NativeFunction& f, const NativeOp& op, const Scope& s) {
    const NativeKernel& k = f.kernels[op.kernel];
    at(s, k.loc);
    for (uint32_t line = 0; line < kCodeLines; ++line) prefetch_line(kernel(k).getCallee(), line);
    for (const uint32_t w : k.weights) {
      auto* in = b_.CreateLoad(ptr(), call_of(s, op.kernel));
      auto* data =
          b_.CreateLoad(ptr(), b_.CreateConstInBoundsGEP1_64(
                                   b_.getInt8Ty(), in, w * sizeof(sk_tensor) + offsetof(sk_tensor, data)));
      for (uint32_t line = 0; line < kWeightLines; ++line) prefetch_line(data, line);
    }
  }
  void touch(const NativeOp& op, const Scope& s) {
    nowhere(s);
    prefetch_line(call_of(s, op.kernel), 0);
    for (const size_t list : {offsetof(sk_call, in), offsetof(sk_call, out), offsetof(sk_call, attr)})
      prefetch_line(
          b_.CreateLoad(ptr(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), call_of(s, op.kernel), list)),
          0);
  }

  // Runs of ops of the first worker alone stand behind one branch.
  void body(const NativeFunction& f, const Scope& s) {
    for (size_t i = 0; i < f.ops.size();) {
      const auto first_only = [&](size_t at) {
        return !step_.solo && at < f.ops.size() && f.ops[at].kind == NativeOp::Kind::Call &&
               f.kernels[f.ops[at].kernel].alone;
      };
      if (first_only(i)) {
        nowhere(s);
        auto* function = b_.GetInsertBlock()->getParent();
        auto* then = llvm::BasicBlock::Create(context_, "first", function);
        auto* done = llvm::BasicBlock::Create(context_, "all", function);
        b_.CreateCondBr(b_.CreateICmpEQ(s.worker, b_.getInt32(0)), then, done);
        b_.SetInsertPoint(then);
        for (; first_only(i); ++i) phase(f, f.ops[i], s);
        nowhere(s);
        b_.CreateBr(done);
        b_.SetInsertPoint(done);
        continue;
      }
      const NativeOp& op = f.ops[i++];
      switch (op.kind) {
        case NativeOp::Kind::Call:
          phase(f, op, s);
          break;
        case NativeOp::Kind::Meet:
          meet(op, s);
          break;
        case NativeOp::Kind::Prefetch:
          prefetch(f, op, s);
          break;
        case NativeOp::Kind::Touch:
          touch(op, s);
          break;
      }
    }
    check_faults(f, s);
  }

  // One branch for all kernels of the launch that can meet an index out of range.
  void check_faults(const NativeFunction& f, const Scope& s) {
    nowhere(s);
    llvm::Value* any = nullptr;
    for (size_t k = 0; k < f.kernels.size(); ++k) {
      if (!f.kernels[k].may_fault) continue;
      const uint64_t offset =
          f.kernels.size() * sizeof(sk_call) + k * sizeof(sk_fault) + offsetof(sk_fault, code);
      auto* code = b_.CreateLoad(i32(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.table, offset));
      any = any ? b_.CreateOr(any, code) : code;
    }
    if (!any) return;
    auto* function = b_.GetInsertBlock()->getParent();
    auto* bad = llvm::BasicBlock::Create(context_, "fault", function);
    auto* good = llvm::BasicBlock::Create(context_, "good", function);
    b_.CreateCondBr(b_.CreateICmpNE(any, b_.getInt32(0)), bad, good);
    b_.SetInsertPoint(bad);
    b_.CreateCall(external("sk_native_fault", b_.getVoidTy(), {ptr(), i32()}), {s.frame, s.launch});
    b_.CreateBr(good);
    b_.SetInsertPoint(good);
  }

  // ---- functions

  llvm::Function* define(const std::string& name, llvm::ArrayRef<llvm::Type*> args,
                         llvm::GlobalValue::LinkageTypes linkage) {
    auto* f =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), args, false), linkage, name, *module_);
    f->setDoesNotThrow();
    f->addFnAttr("frame-pointer", "all");
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", f));
    b_.SetCurrentDebugLocation({});
    return f;
  }

  std::vector<llvm::Function*> superkernel(const NativeFunction& f) {
    std::vector<llvm::Function*> out;
    const uint32_t copies = step_.options.copies && !step_.solo ? kCopies : 1;
    for (uint32_t copy = 0; copy < copies; ++copy) {
      const std::string name = copy == 0 ? f.name : f.name + ".copy" + std::to_string(copy);
      auto* function = define(name, {ptr(), ptr(), i32(), i32(), b_.getInt64Ty(), i32()},
                              llvm::GlobalValue::ExternalLinkage);
      Scope s{function->getArg(0), function->getArg(1), function->getArg(2),
              function->getArg(3), function->getArg(4), function->getArg(5)};
      const char* names[] = {"frame", "table", "worker", "lanes", "number", "launch"};
      for (unsigned i = 0; i < 6; ++i) function->getArg(i)->setName(names[i]);
      s.place = subprogram(function, f.kernels.empty() ? Loc{} : f.kernels[0].loc);
      body(f, s);
      nowhere(s);
      b_.CreateRetVoid();
      out.push_back(function);
    }
    return out;
  }

  void enter(size_t id, const Scope& s) {
    const NativeFunction& f = step_.functions[id];
    if (f.plain) return body(f, s);
    nowhere(s);
    llvm::Value* args[] = {s.frame, s.table, s.worker, s.lanes, s.number, s.launch};
    auto* type = functions_[id][0]->getFunctionType();
    if (functions_[id].size() == 1) {
      b_.CreateCall(type, functions_[id][0], args);
      return;
    }
    auto* function = b_.GetInsertBlock()->getParent();
    auto* done = llvm::BasicBlock::Create(context_, "called", function);
    auto* which = b_.CreateSwitch(b_.CreateAnd(s.worker, kCopies - 1), done, kCopies);
    for (uint32_t copy = 0; copy < kCopies; ++copy) {
      auto* block = llvm::BasicBlock::Create(context_, "copy", function);
      which->addCase(b_.getInt32(copy), block);
      b_.SetInsertPoint(block);
      b_.CreateCall(type, functions_[id][copy], args);
      b_.CreateBr(done);
    }
    b_.SetInsertPoint(done);
  }

  // One launch: its boundary, then what it runs. Who has no part in either goes on to `next` at once.
  void launch(size_t index, const Scope& s, llvm::Value* tables, llvm::BasicBlock* leave) {
    const exec::NativeLaunch& l = step_.launches[index];
    const NativeFunction& f = step_.functions[l.function];
    auto* function = leave->getParent();
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context_, name, function); };
    nowhere(s);
    const bool first_only = !step_.solo && f.first_only();
    auto* next = first_only ? block("next") : nullptr;
    const auto others_skip = [&] {
      auto* first = block("first");
      b_.CreateCondBr(b_.CreateICmpEQ(s.worker, b_.getInt32(0)), first, next);
      b_.SetInsertPoint(first);
    };
    const bool others_meet = (l.how & exec::kOthers) != 0;
    if (first_only && !others_meet) others_skip();
    auto* go = block("go");
    auto* stopped =
        b_.CreateCall(external("sk_native_boundary", i32(), {ptr(), i32(), b_.getInt64Ty(), i32(), i32()}),
                      {s.frame, s.worker, s.number, s.launch, b_.getInt32(l.how)});
    b_.CreateCondBr(b_.CreateICmpNE(stopped, b_.getInt32(0)), leave, go);
    b_.SetInsertPoint(go);
    if (first_only && others_meet) others_skip();
    Scope inside = s;
    inside.table =
        b_.CreateLoad(ptr(), b_.CreateInBoundsGEP(ptr(), tables, b_.CreateZExt(s.launch, b_.getInt64Ty())));
    enter(l.function, inside);
    if (!first_only) return;
    nowhere(s);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }

  void step() {
    auto* function = define(step_.name, {ptr(), ptr(), i32()}, llvm::GlobalValue::ExternalLinkage);
    const char* names[] = {"frame", "tables", "worker"};
    for (unsigned i = 0; i < 3; ++i) function->getArg(i)->setName(names[i]);
    Scope s{function->getArg(0), nullptr, function->getArg(2), nullptr, nullptr, nullptr};
    s.place = subprogram(function, {});
    auto* leave = llvm::BasicBlock::Create(context_, "leave", function);
    nowhere(s);
    s.lanes = step_.solo ? static_cast<llvm::Value*>(b_.getInt32(1)) : b_.CreateLoad(i32(), s.frame, "lanes");
    uint64_t number = 0;
    for (const Stretch& stretch : stretches(step_.launches)) {
      uint64_t round = 0;  // meetings in one round
      for (size_t j = 0; j < stretch.period; ++j)
        round += 1 + step_.functions[step_.launches[stretch.first + j].function].meetings;
      if (stretch.times == 1)
        write_out(stretch, s, b_.getInt64(number), b_.getInt32(static_cast<uint32_t>(stretch.first)), leave);
      else
        loop(stretch, s, number, round, leave);
      number += round * stretch.times;
    }
    nowhere(s);
    b_.CreateBr(leave);
    b_.SetInsertPoint(leave);
    b_.CreateRetVoid();
    // Textual order is the order of the code.
    leave->moveAfter(&function->back());
  }

  void write_out(const Stretch& stretch, Scope s, llvm::Value* number, llvm::Value* launch_number,
                 llvm::BasicBlock* leave) {
    auto* tables = leave->getParent()->getArg(1);
    uint64_t past = 0;
    for (size_t j = 0; j < stretch.period; ++j) {
      s.number = add(number, past);
      s.launch = add(launch_number, j);
      launch(stretch.first + j, s, tables, leave);
      past += 1 + step_.functions[step_.launches[stretch.first + j].function].meetings;
    }
  }

  void loop(const Stretch& stretch, Scope s, uint64_t number, uint64_t round, llvm::BasicBlock* leave) {
    auto* function = leave->getParent();
    nowhere(s);
    auto* before = b_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(context_, "layers", function);
    auto* after = llvm::BasicBlock::Create(context_, "after_layers", function);
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* n = b_.CreatePHI(b_.getInt64Ty(), 2, "number");
    auto* l = b_.CreatePHI(i32(), 2, "launch");
    n->addIncoming(b_.getInt64(number), before);
    l->addIncoming(b_.getInt32(static_cast<uint32_t>(stretch.first)), before);
    write_out(stretch, s, n, l, leave);
    nowhere(s);
    auto* next_n = add(n, round);
    auto* next_l = add(l, stretch.period);
    n->addIncoming(next_n, b_.GetInsertBlock());
    l->addIncoming(next_l, b_.GetInsertBlock());
    b_.CreateCondBr(
        b_.CreateICmpULT(next_l,
                         b_.getInt32(static_cast<uint32_t>(stretch.first + stretch.period * stretch.times))),
        head, after);
    b_.SetInsertPoint(after);
  }

  const NativeStep& step_;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> b_;
  llvm::DIBuilder di_;
  bool debug_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::vector<std::vector<llvm::Function*>>
      functions_;  // by distinct function and copy; none for ordinary tasks
};

}  // namespace

std::unique_ptr<llvm::Module> emit(const NativeStep& step, llvm::LLVMContext& context,
                                   const EmitOptions& options) {
  return Emitter(step, context, options).run();
}

}  // namespace skdsl::jit
