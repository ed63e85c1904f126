// host — the program's side of the JIT: opens its shared object when code is first needed
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "jit/cache/keys.h"
#include "jit/engine/engine.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

/// The engine of this build, opened once in a process. Looked for beside the program, in lib/ beside its folder, and
/// where it was built. Error: what was tried.
Expected<Engine*> engine();

/// What the engine and this build add to the keys of objects.
BuildKey build_key(const Engine& engine);

class Compiler final : public exec::NativeCompiler {
 public:
  /// Told what is wrong with the cache; the run goes on.
  using Warn = std::function<void(const std::string&)>;
  explicit Compiler(ObjectCache cache = ObjectCache({}), Warn warn = {}) : cache_(std::move(cache)), warn_(std::move(warn)) {}

  /// Opens the engine beside other work, since loading LLVM takes longer than linking a step.
  void open_early();
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override;

 private:
  void warn(const std::string& trouble);

  ObjectCache cache_;
  Warn warn_;
  std::set<std::string> warned_;  // each trouble is told once
  std::jthread opening_;
};

}  // namespace skdsl::jit
