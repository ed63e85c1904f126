// fix — the edits of reports, applied to a text
//
// Accepted edits are kept sorted by place; what overlaps one of them is not accepted, so that a text never
// holds half of one edit and half of another.
#include "compiler/diag/fix.h"

#include <algorithm>

namespace skdsl::diag {
namespace {

/// Whether both change the same bytes, or one inserts inside what the other replaces.
bool overlap(const Span& a, const Span& b) {
  if (a.begin == a.end && b.begin == b.end) return false;
  if (a.begin == a.end) return b.begin < a.begin && a.begin < b.end;
  if (b.begin == b.end) return a.begin < b.begin && b.begin < a.end;
  return a.begin < b.end && b.begin < a.end;
}

bool same(const Edit& a, const Edit& b) {
  return a.span.begin == b.span.begin && a.span.end == b.span.end && a.text == b.text;
}

enum class Fit : uint8_t { New, Known, No };
Fit fit(const std::vector<Edit>& accepted, const Edit& edit, size_t size) {
  if (edit.span.begin > edit.span.end || edit.span.end > size) return Fit::No;
  for (const Edit& other : accepted) {
    if (same(other, edit)) return Fit::Known;
    if (overlap(other.span, edit.span)) return Fit::No;
  }
  return Fit::New;
}

std::string joined(std::string_view text, std::vector<Edit> edits) {
  // At one place what is inserted stands before what is replaced.
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.span.begin, a.span.end) < std::pair(b.span.begin, b.span.end);
  });
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits) {
    out.append(text.substr(at, edit.span.begin - at));
    out += edit.text;
    at = edit.span.end;
  }
  out.append(text.substr(at));
  return out;
}

}  // namespace

std::string apply_edits(std::string_view text, std::span<const Edit> edits) {
  std::vector<Edit> accepted;
  for (const Edit& edit : edits) {
    if (fit(accepted, edit, text.size()) == Fit::New) accepted.push_back(edit);
  }
  return joined(text, std::move(accepted));
}

Applied apply_fixes(std::string_view text, uint32_t file, std::span<const Fix> fixes) {
  Applied out;
  std::vector<Edit> accepted;
  for (const Fix& fix : fixes) {
    if (fix.edits.empty()) continue;
    std::vector<Edit> fresh;
    const bool fits = std::all_of(fix.edits.begin(), fix.edits.end(), [&](const Edit& edit) {
      const Fit how = edit.span.file == file ? fit(accepted, edit, text.size()) : Fit::No;
      // Edits of one fix must not overlap each other either.
      if (how == Fit::No || fit(fresh, edit, text.size()) == Fit::No) return false;
      if (how == Fit::New) fresh.push_back(edit);
      return true;
    });
    if (!fits) {
      ++out.left_out;
      continue;
    }
    ++out.applied;
    accepted.insert(accepted.end(), fresh.begin(), fresh.end());
  }
  out.text = joined(text, std::move(accepted));
  return out;
}

}  // namespace skdsl::diag
