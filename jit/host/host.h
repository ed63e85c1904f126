// host — the program's side of the JIT: code from the cache, and its shared object opened when there is none
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

/// The engine of this build, opened once in a process. Looked for beside the program, in lib/ beside its
/// folder, and where it was built. Error: what was tried.
Expected<Engine*> engine();

/// What this processor and the engine of this build add to the keys of objects; the engine is not opened for
/// it.
Expected<BuildKey> build_key();

class Compiler final : public exec::NativeCompiler {
 public:
  /// Told what is wrong with the cache; the run goes on.
  using Warn = std::function<void(const std::string&)>;
  explicit Compiler(ObjectCache cache = ObjectCache({}), Warn warn = {})
      : cache_(std::move(cache)), warn_(std::move(warn)) {}

  /// Whether the cache has nothing of this build, so that the engine will be needed.
  bool cold() const;
  /// Opens the engine beside other work.
  void open_early();
  /// Objects that are all in the cache are linked by jit/load; else the missing ones are compiled and ORC
  /// links.
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override;

 private:
  struct Part;
  static std::vector<Part> parts_of(const exec::NativeStep& step, const BuildKey& build);
  bool look_up(std::vector<Part>& parts);
  Expected<std::unique_ptr<Linked>> load_cached(std::vector<Part>& parts);
  Expected<std::unique_ptr<Linked>> compile_missing(std::vector<Part>& parts, Engine& engine);
  void warn(const std::string& trouble);

  ObjectCache cache_;
  Warn warn_;
  std::set<std::string> warned_;  // each trouble is told once
  std::jthread opening_;
};

}  // namespace skdsl::jit
