// source — the texts that a run has read, and where bytes stand in them
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace skdsl::source {

/// Longest file that is read: beyond it a clear error.
inline constexpr uint64_t kMaxFileBytes = 256u << 20;

/// What every source text must be: valid UTF-8 without NUL bytes, at most kMaxFileBytes. `name` is for the
/// message.
Expected<void> check_text(const std::string& name, std::string_view text);

class Sources {
 public:
  /// Reads a file: a regular file of valid UTF-8 without NUL bytes, at most kMaxFileBytes. Gives its number
  /// (from 1).
  Expected<uint32_t> read(const std::string& path);
  /// Adds a text that satisfies check_text under a name ("<stdin>").
  uint32_t add(std::string name, std::string text);

  std::string_view text(uint32_t file) const { return files_[file].text; }
  std::string_view text(Span span) const;
  const std::string& name(uint32_t file) const { return files_[file].name; }
  size_t size() const { return files_.size(); }  // file 0 is "nowhere"

  /// 1-based line and column (in bytes) of a span, and its length.
  Loc loc(Span span) const;
  Span span(Loc loc) const;
  std::string_view line(uint32_t file, uint32_t line) const;  // without its end

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<uint32_t> line_starts;
  };
  std::deque<File> files_{{}};
};

}  // namespace skdsl::source
