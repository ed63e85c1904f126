// host — the program's side of the JIT: opens its shared object when code is first needed
#pragma once
#include <memory>
#include <string>

#include "jit/engine/engine.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

/// The engine of this build, opened once in a process. Looked for beside the program, in lib/ beside its folder, and
/// where it was built. Error: what was tried.
Expected<Engine*> engine();

class Compiler final : public exec::NativeCompiler {
 public:
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override;
};

}  // namespace skdsl::jit
