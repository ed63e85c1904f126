// capture_scope — scopes around captured tasks
//
// torch.npu.super_kernel_scope_begin and _end leave marker kernels on a stream. What counts for grouping is
// the set of names that are open at a task; a scope without a name keeps its tasks apart, whatever else is
// open.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/superkernel/capture_task.h"

namespace skdsl::superkernel {

inline constexpr size_t kMaxScopeNameBytes = 255;
inline constexpr size_t kMaxScopeNames = 1024;

struct TaskScopes {
  std::vector<std::vector<uint32_t>> open;            // by task: indices of `names`, growing
  std::vector<std::optional<CaptureReason>> unfused;  // by task: because of its scopes
  std::vector<std::string> names;                     // in order of their first begin
  std::vector<std::string> warnings;                  // unclosed scopes, stray ends
};
/// Plays the markers of each stream: an end closes the latest open begin of its name. A begin belongs to the
/// scope it opens, an end to the one it closes. An empty name or one of more than 255 bytes is an error.
tl::expected<TaskScopes, OptionError> read_scopes(const std::vector<CaptureTask>& tasks);

/// "a_b" for an open set; "none" when it is empty.
std::string scope_text(const std::vector<uint32_t>& open, const std::vector<std::string>& names);

/// One call of super_kernel_scope_begin or _end as the graph check of npugraph_ex sees it.
struct ScopeCall {
  bool begin = false;
  std::optional<std::string> name;
};
enum class ScopeTrouble : uint8_t { EndWithoutOpenBegin, NoMatchingBegin, BeginWithoutEnd };
struct ScopePairs {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // begin, end
  std::optional<ScopeTrouble> trouble;
  uint32_t at = 0;  // the call in trouble
  std::string message;
};
/// Pairs the calls of a graph; an end closes the oldest open begin of its name, interleaving is legal.
ScopePairs check_scopes(const std::vector<ScopeCall>& calls);

/// One `with` block around an op in torchair.scope.
struct ScopeFrame {
  bool superkernel = false;
  std::optional<std::string> scope;  // superkernel; nothing = None
  std::string options;
  std::optional<std::string> stream;
};
struct ScopeAttributes {
  std::string scope, options;  // "" = none
  std::string stream;
};
/// What an op inside the frames (outermost first) is marked with: the innermost frame of a kind counts.
ScopeAttributes scope_attributes(const std::vector<ScopeFrame>& frames);

}  // namespace skdsl::superkernel
