// fix — the edits of reports, applied to a text
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diag.h"

namespace skdsl::diag {

/// `text` after `edits`, whose spans are bytes of it (their `file` is not looked at). Edits may come in any
/// order; insertions at one place keep theirs. One that overlaps an earlier one of the list, or reaches
/// beyond the text, is left out; equal ones count once.
std::string apply_edits(std::string_view text, std::span<const Edit> edits);

struct Applied {
  std::string text;
  size_t applied = 0;
  size_t left_out = 0;  // fixes that overlap an earlier one or have an edit in another file
};

/// `text`, which is that of `file`, after the fixes: each as a whole or not at all, earlier ones first.
Applied apply_fixes(std::string_view text, uint32_t file, std::span<const Fix> fixes);

}  // namespace skdsl::diag
