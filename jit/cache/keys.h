// keys — what compiled objects depend on
#pragma once
#include "jit/cache/object_cache.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

/// Of the machine and the build: "target", "llvm", "skdsl", "jit".
struct BuildKey {
  std::string target, llvm, skdsl, jit;
};
/// The parts that all keys of a machine and build share.
CacheKey key_of(const BuildKey& build);
CacheKey key_of(const exec::NativeStep& step, const BuildKey& build);
/// Of a kernel compiled for its shapes.
CacheKey key_of(const exec::NativeKernel& kernel, const BuildKey& build);

/// Operator, shapes and attributes of a kernel, as 64 hexadecimal digits.
std::string fingerprint(const exec::NativeKernel& kernel);

}  // namespace skdsl::jit
