// debugger — tells gdb of linked objects, through its JIT interface
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace skdsl::jit {

struct DebuggerEntry;

/// An object that gdb knows for as long as this lives.
class ForDebugger {
 public:
  /// `object`: an ELF object with debug information whose sections have their addresses.
  explicit ForDebugger(std::string object);
  ~ForDebugger();
  ForDebugger(const ForDebugger&) = delete;
  ForDebugger& operator=(const ForDebugger&) = delete;

 private:
  std::unique_ptr<DebuggerEntry> entry_;
};

/// The object that gdb would read first; empty when it knows none.
std::string_view newest_for_debugger();

}  // namespace skdsl::jit
