// linked — objects and what linking makes of them, whoever links
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::jit {

/// A relocatable object, as bytes.
using Object = std::string;

/// A function of linked code.
struct Function {
  std::string name;
  uint64_t address = 0, size = 0;
};

/// Linked objects; the code goes with it.
class Linked {
 public:
  virtual ~Linked() = default;
  /// The address of a function; the first call may link what it needs.
  virtual Expected<const void*> find(const std::string& symbol) const = 0;
  /// Bytes of machine code.
  virtual uint64_t code_bytes() const = 0;
};

}  // namespace skdsl::jit
