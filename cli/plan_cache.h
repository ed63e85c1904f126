// plan_cache — compiled programs and static graphs, beside the objects of the JIT
//
// The key of a program is all that compiling it reads: the texts of the files, the settings, the passes and
// this build. What reported anything is compiled anew each time, so that it is told again; so is what is
// small.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "jit/cache/object_cache.h"

namespace skdsl::cli {

class PlanCache {
 public:
  PlanCache(jit::ObjectCache cache, diag::Engine& diags) : cache_(std::move(cache)), diags_(diags) {}

  /// What skdsl::compile gives, from here when it is here. An entry that is damaged is a warning and none.
  std::optional<sema::Elaborated> compile(const sema::Modules& modules, const CompileOptions& options);
  /// The hook of skdsl::graph_compiler, which looks here first; for graphs of the program that `compile`
  /// gave.
  plan::CompileHook graph_compiler(schedule::ScheduleOptions options);
  /// Whether the program was here.
  bool found() const { return found_; }

  /// Keeps what was not here: `compiled` and the graphs made of it. After the run, so that no token waits for
  /// it.
  void keep(const sema::Elaborated& compiled);

 private:
  size_t reports() const { return diags_.all().size() + diags_.omitted(); }
  std::optional<sema::Elaborated> find(const sema::Modules& modules, const CompileOptions& options);
  std::optional<std::string> get(const jit::CacheKey& key);
  void put(const jit::CacheKey& key, const std::string& bytes);

  jit::ObjectCache cache_;
  diag::Engine& diags_;
  jit::CacheKey program_;               // empty: not to be cached
  bool found_ = false, quiet_ = false;  // compiling reported nothing
  std::vector<std::pair<jit::CacheKey, std::string>> graphs_;
};

}  // namespace skdsl::cli
