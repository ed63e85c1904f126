#include "compiler/lint/fix.h"

#include <algorithm>
#include <vector>

namespace skdsl::lint {

namespace {

constexpr int kMaxRounds = 32;

size_t language_errors(const Result& r) {
  return static_cast<size_t>(std::count_if(r.findings.begin(), r.findings.end(), [](const auto& d) {
    return d.severity == diag::Severity::Error && diag::rule(d.id).id.size() > 5;
  }));
}

}  // namespace

Applied apply_fixes(std::string_view text, uint32_t file, std::span<const diag::Diagnostic> findings,
                    diag::Applicability trust) {
  std::vector<diag::Edit> edits;
  Applied out;
  const auto clash = [](const Span& a, const Span& b) {
    // Two insertions at one place would come in an order that nobody chose.
    return a.begin == b.begin || (a.begin < b.end && b.begin < a.end);
  };
  for (const diag::Diagnostic& d : findings) {
    const diag::Fix& fix = d.fix;
    if (fix.edits.empty() || fix.applicability == diag::Applicability::None) continue;
    if (fix.applicability == diag::Applicability::Unsafe && trust != diag::Applicability::Unsafe) continue;
    const bool here = std::all_of(fix.edits.begin(), fix.edits.end(), [&](const diag::Edit& e) {
      return e.span.file == file && e.span.begin <= e.span.end && e.span.end <= text.size();
    });
    const bool free = here && std::none_of(fix.edits.begin(), fix.edits.end(), [&](const diag::Edit& e) {
                        return std::any_of(edits.begin(), edits.end(),
                                           [&](const diag::Edit& o) { return clash(e.span, o.span); });
                      });
    if (!free) continue;
    edits.insert(edits.end(), fix.edits.begin(), fix.edits.end());
    ++out.fixes;
  }
  std::sort(edits.begin(), edits.end(),
            [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  size_t at = 0;
  for (const diag::Edit& e : edits) {
    if (e.span.begin < at) continue;  // edits of one fix that overlap: the first counts
    out.text += text.substr(at, e.span.begin - at);
    out.text += e.text;
    at = e.span.end;
  }
  out.text += text.substr(at);
  return out;
}

Applied fix_all(const std::string& name, std::string text, const Options& options,
                diag::Applicability trust) {
  Applied out{std::move(text), 0};
  const auto lint = [&](source::Sources& sources, uint32_t* file) {
    *file = sources.add(name, out.text);
    return check(*file, sources, options);
  };
  size_t errors = 0;
  std::string before;
  size_t before_fixes = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    source::Sources sources;
    uint32_t file = 0;
    const Result r = lint(sources, &file);
    const size_t now = language_errors(r);
    if (round > 0 && now > errors) return {std::move(before), before_fixes};
    errors = now;
    Applied next = apply_fixes(out.text, file, r.findings, trust);
    if (next.fixes == 0 || next.text == out.text) break;
    before = std::move(out.text);
    before_fixes = out.fixes;
    out.text = std::move(next.text);
    out.fixes += next.fixes;
  }
  return out;
}

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out.push_back(text.substr(0, end == text.npos ? text.size() : end + 1));
    text.remove_prefix(out.back().size());
  }
  return out;
}

struct Line {
  char sign;
  std::string_view text;
};

/// The lines of both texts in one list: common ones once. Longest common subsequence, where it is small
/// enough.
std::vector<Line> compare(std::span<const std::string_view> a, std::span<const std::string_view> b) {
  std::vector<Line> out;
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const auto x = a.subspan(head, a.size() - head - tail), y = b.subspan(head, b.size() - head - tail);
  for (size_t i = 0; i < head; ++i) out.push_back({' ', a[i]});
  constexpr size_t kMost = 4'000'000;
  if (x.empty() || y.empty() || x.size() > kMost / y.size()) {
    for (const auto line : x) out.push_back({'-', line});
    for (const auto line : y) out.push_back({'+', line});
  } else {
    const size_t w = y.size() + 1;
    std::vector<uint32_t> best((x.size() + 1) * w, 0);
    for (size_t i = x.size(); i-- > 0;)
      for (size_t k = y.size(); k-- > 0;)
        best[i * w + k] = x[i] == y[k] ? best[(i + 1) * w + k + 1] + 1
                                       : std::max(best[(i + 1) * w + k], best[i * w + k + 1]);
    size_t i = 0, k = 0;
    while (i < x.size() || k < y.size()) {
      if (i < x.size() && k < y.size() && x[i] == y[k]) {
        out.push_back({' ', x[i]});
        ++i, ++k;
      } else if (i < x.size() && (k == y.size() || best[(i + 1) * w + k] >= best[i * w + k + 1])) {
        out.push_back({'-', x[i++]});
      } else {
        out.push_back({'+', y[k++]});
      }
    }
  }
  for (size_t i = a.size() - tail; i < a.size(); ++i) out.push_back({' ', a[i]});
  return out;
}

}  // namespace

std::string unified_diff(const std::string& name, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto a = lines_of(before), b = lines_of(after);
  const std::vector<Line> lines = compare(a, b);
  constexpr size_t kAround = 3;
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  size_t old_line = 1, new_line = 1;
  for (size_t i = 0; i < lines.size();) {
    if (lines[i].sign == ' ') {
      ++i, ++old_line, ++new_line;
      continue;
    }
    // From here back and on to the next long stretch of common lines.
    size_t begin = i;
    for (size_t k = 0; k < kAround && begin > 0 && lines[begin - 1].sign == ' '; ++k) --begin;
    size_t end = i, quiet = 0;
    while (end < lines.size() && quiet <= 2 * kAround) quiet = lines[end++].sign == ' ' ? quiet + 1 : 0;
    if (quiet > kAround) end -= quiet - kAround;
    size_t old_count = 0, new_count = 0;
    for (size_t k = begin; k < end; ++k) old_count += lines[k].sign != '+', new_count += lines[k].sign != '-';
    out += fmt::format("@@ -{},{} +{},{} @@\n", old_line - (i - begin), old_count, new_line - (i - begin),
                       new_count);
    for (size_t k = begin; k < end; ++k) {
      out += lines[k].sign;
      out += lines[k].text;
      if (!lines[k].text.ends_with('\n')) out += "\n\\ No newline at end of file\n";
    }
    for (; i < end; ++i) old_line += lines[i].sign != '+', new_line += lines[i].sign != '-';
  }
  return out;
}

}  // namespace skdsl::lint
