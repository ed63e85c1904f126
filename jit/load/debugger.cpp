#include "jit/load/debugger.h"

#include <cstdint>
#include <mutex>

// The names and layouts below are gdb's (its manual, "JIT Compilation Interface"): it stops in the function
// and reads the list.
namespace skdsl::jit {
struct DebuggerEntry {
  DebuggerEntry* next = nullptr;
  DebuggerEntry* previous = nullptr;
  const char* object = nullptr;
  uint64_t bytes = 0;
  std::string storage;  // behind what gdb reads
};
}  // namespace skdsl::jit

extern "C" {
enum SkdslDebuggerAction : uint32_t { kSkdslNothing = 0, kSkdslRegister = 1, kSkdslUnregister = 2 };
struct SkdslDebuggerDescriptor {
  uint32_t version;
  uint32_t action;
  skdsl::jit::DebuggerEntry* relevant;
  skdsl::jit::DebuggerEntry* first;
};
// NOLINTBEGIN(bugprone-reserved-identifier)
__attribute__((used)) SkdslDebuggerDescriptor __jit_debug_descriptor = {1, kSkdslNothing, nullptr, nullptr};
__attribute__((used, noinline)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
// NOLINTEND(bugprone-reserved-identifier)
}

namespace skdsl::jit {

namespace {
std::mutex& list_mutex() {
  static std::mutex mutex;
  return mutex;
}
void tell(DebuggerEntry* entry, SkdslDebuggerAction action) {
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action = kSkdslNothing;
  __jit_debug_descriptor.relevant = nullptr;
}
}  // namespace

ForDebugger::ForDebugger(std::string object) : entry_(std::make_unique<DebuggerEntry>()) {
  entry_->storage = std::move(object);
  entry_->object = entry_->storage.data();
  entry_->bytes = entry_->storage.size();
  const std::lock_guard lock(list_mutex());
  entry_->next = __jit_debug_descriptor.first;
  if (entry_->next) entry_->next->previous = entry_.get();
  __jit_debug_descriptor.first = entry_.get();
  tell(entry_.get(), kSkdslRegister);
}

ForDebugger::~ForDebugger() {
  const std::lock_guard lock(list_mutex());
  if (entry_->previous)
    entry_->previous->next = entry_->next;
  else
    __jit_debug_descriptor.first = entry_->next;
  if (entry_->next) entry_->next->previous = entry_->previous;
  tell(entry_.get(), kSkdslUnregister);
}

std::string_view newest_for_debugger() {
  const std::lock_guard lock(list_mutex());
  const DebuggerEntry* first = __jit_debug_descriptor.first;
  return first ? std::string_view(first->object, first->bytes) : std::string_view();
}

}  // namespace skdsl::jit
