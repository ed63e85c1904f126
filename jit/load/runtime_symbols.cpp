#include "jit/load/runtime_symbols.h"

#include <cstring>

namespace skdsl::jit {

std::vector<exec::NativeSymbol> runtime_symbols() {
  std::vector<exec::NativeSymbol> out = exec::native_symbols();
  out.push_back({"memcpy", reinterpret_cast<const void*>(&std::memcpy)});
  out.push_back({"memmove", reinterpret_cast<const void*>(&std::memmove)});
  out.push_back({"memset", reinterpret_cast<const void*>(&std::memset)});
  out.push_back({"memcmp", reinterpret_cast<const void*>(&std::memcmp)});
  out.push_back({"bcmp", reinterpret_cast<const void*>(&std::memcmp)});
  return out;
}

}  // namespace skdsl::jit
