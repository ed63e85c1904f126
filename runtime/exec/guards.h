// guards — what must be the same for a captured graph to serve a call
//
// Sizes, dtypes, host numbers, values or lengths of host lists. Each guard has a name ("x.shape[0]") and the
// value seen.
#pragma once
#include <string>
#include <vector>

#include "runtime/exec/value.h"
#include "runtime/plan/plan.h"

namespace skdsl::exec {

enum class CaptureReason : uint8_t {
#define SK_CAPTURE_REASON(Name, word, text) Name,
#include "runtime/exec/capture_reasons.def"
#undef SK_CAPTURE_REASON
  kCount
};
struct CaptureReasonRow {
  std::string_view word, text;
};
const CaptureReasonRow& row(CaptureReason reason);

struct Guard {
  CaptureReason reason = CaptureReason::Shape;  // what a change would be
  std::string name, value;
  bool symbolic = false;  // with dynamic: a change makes another capture, not another compiled graph
};

/// What a parameter that is a host list is to a function.
enum class ListRole : uint8_t {
  Unused,
  Refreshed,  // only kernels read it: its values are written into the graph before each replay
  Read,       // also read on the host: its values are part of the graph
};
std::vector<ListRole> list_roles(const plan::Function& function);

/// The guards of a call. With `dynamic` sizes of at least 2 and host integers are symbolic.
std::vector<Guard> guards_of(const plan::Function& function, const std::vector<RuntimeValue>& args,
                             const std::vector<ListRole>& roles, bool dynamic);

/// What the symbols of the parameters stand for in a call, sorted by name.
std::vector<std::pair<std::string, int64_t>> bindings_of(const plan::Program& program,
                                                         const plan::Function& function,
                                                         const std::vector<RuntimeValue>& args);

/// All of them as one text: the key of a capture.
std::string key_text(const std::vector<Guard>& guards);
/// Those that are constants: the key of a compiled graph.
std::string constants_text(const std::vector<Guard>& guards);
/// The first guard whose value differs, else null; guards of one function stand in one order.
const Guard* first_difference(const std::vector<Guard>& now, const std::vector<Guard>& before,
                              const Guard** old, bool constants_only);

}  // namespace skdsl::exec
