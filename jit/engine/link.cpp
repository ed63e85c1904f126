#include "jit/engine/link.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h>
#include <llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h>

#include <utility>

#include "jit/load/perf_map.h"

namespace skdsl::jit {

namespace orc = llvm::orc;

namespace {

tl::unexpected<Error> trouble(llvm::Error error) {
  return tl::unexpected(
      Error{ErrorKind::Internal, "machine code cannot be linked: " + llvm::toString(std::move(error)), {}});
}

// Notes the functions of every object as it is linked.
class FunctionList : public orc::ObjectLinkingLayer::Plugin {
 public:
  std::vector<Function>& functions;
  explicit FunctionList(std::vector<Function>& list) : functions(list) {}

  void modifyPassConfig(orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& config) override {
    config.PostAllocationPasses.push_back([this](llvm::jitlink::LinkGraph& graph) {
      for (const auto* s : graph.defined_symbols())
        if (s->hasName() && s->isCallable())
          functions.push_back({s->getName().str(), s->getAddress().getValue(), s->getSize()});
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}
};

class LinkedObjects final : public Linked {
 public:
  static Expected<std::unique_ptr<Linked>> make(std::span<const Object> objects,
                                                std::span<const exec::NativeSymbol> symbols) {
    auto process = orc::SelfExecutorProcessControl::Create();
    if (!process) return trouble(process.takeError());
    auto self = std::make_unique<LinkedObjects>();
    self->session_ = std::make_unique<orc::ExecutionSession>(std::move(*process));
    orc::ExecutionSession& session = *self->session_;
    // Errors come back through lookup; the default would print them.
    session.setErrorReporter([list = &self->errors_](llvm::Error e) {
      *list += (list->empty() ? "" : "; ") + llvm::toString(std::move(e));
    });
    self->layer_ =
        std::make_unique<orc::ObjectLinkingLayer>(session, session.getExecutorProcessControl().getMemMgr());
    self->layer_->addPlugin(std::make_unique<orc::DebugObjectManagerPlugin>(
        session,
        std::make_unique<orc::EPCDebugObjectRegistrar>(
            session, orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderGDBWrapper)),
        /*RequireDebugSections=*/true, /*AutoRegisterCode=*/true));
    self->layer_->addPlugin(std::make_unique<FunctionList>(self->functions_));
    self->dylib_ = &session.createBareJITDylib("skdsl");
    orc::SymbolMap known;
    for (const exec::NativeSymbol& s : symbols)
      known[session.intern(s.name)] = {orc::ExecutorAddr::fromPtr(s.address),
                                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    if (auto e = self->dylib_->define(orc::absoluteSymbols(std::move(known)))) return trouble(std::move(e));
    for (const Object& object : objects) {
      // The debug object keeps the bytes' place in memory, so each has a buffer of its own.
      if (auto e = self->layer_->add(*self->dylib_, llvm::MemoryBuffer::getMemBufferCopy(object, "skdsl")))
        return trouble(std::move(e));
    }
    return self;
  }
  ~LinkedObjects() override {
    if (session_)
      if (auto e = session_->endSession()) llvm::consumeError(std::move(e));
  }

  Expected<const void*> find(const std::string& symbol) const override {
    auto found = session_->lookup({dylib_}, session_->intern(symbol));
    if (!found) {
      auto error = trouble(found.takeError());
      if (!errors_.empty()) error.value().notes.push_back(errors_);
      return error;
    }
    if (!std::exchange(written_, true)) write_perf_map(functions_);
    return found->getAddress().toPtr<const void*>();
  }
  uint64_t code_bytes() const override {
    uint64_t bytes = 0;
    for (const auto& f : functions_) bytes += f.size;
    return bytes;
  }

 private:
  std::vector<Function> functions_;
  mutable bool written_ = false;
  std::string errors_;  // what linking reported beside the look-up that failed
  std::unique_ptr<orc::ExecutionSession> session_;
  std::unique_ptr<orc::ObjectLinkingLayer> layer_;
  orc::JITDylib* dylib_ = nullptr;
};

}  // namespace

Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects,
                                       std::span<const exec::NativeSymbol> symbols) {
  return LinkedObjects::make(objects, symbols);
}

}  // namespace skdsl::jit
