// processor — the processor that this runs on, as part of the key of an object
#pragma once
#include <string>

namespace skdsl::jit {

/// Architecture, name and every feature that code generation may look at; the same text on every core. LLVM
/// is not asked, so that a start from the cache need not open it.
const std::string& processor();

}  // namespace skdsl::jit
