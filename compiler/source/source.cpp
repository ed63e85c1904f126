// source — reading files and finding lines
//
// A file is taken in whole and checked once: what comes after may rely on valid UTF-8 without NUL bytes.
#include "compiler/source/source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "compiler/source/overlay.h"
#include "runtime/base/assert.h"

namespace skdsl::source {
namespace {

/// Length of the UTF-8 sequence at `i`, or 0 when it is none (overlong forms and surrogates included).
size_t utf8_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const auto tail = [&](size_t k) { return (byte(k) & 0xc0u) == 0x80u; };
  const unsigned a = byte(i);
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a <= 0xdf) return tail(i + 1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    if (!tail(i + 1) || !tail(i + 2)) return 0;
    if (a == 0xe0 && byte(i + 1) < 0xa0) return 0;
    if (a == 0xed && byte(i + 1) > 0x9f) return 0;
    return 3;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    if (!tail(i + 1) || !tail(i + 2) || !tail(i + 3)) return 0;
    if (a == 0xf0 && byte(i + 1) < 0x90) return 0;
    if (a == 0xf4 && byte(i + 1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

std::optional<size_t> first_invalid_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    uint64_t eight = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + i, 8);
      if ((eight & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    }
    const size_t n = utf8_length(text, i);
    if (n == 0) return i;
    i += n;
  }
  return {};
}

/// The overlays by path. Files are read by several threads.
struct Overlays {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
};
Overlays& overlays() {
  static Overlays all;
  return all;
}

std::optional<std::string> overlaid(const std::string& path) {
  const std::lock_guard lock(overlays().mutex);
  const auto it = overlays().texts.find(path);
  return it == overlays().texts.end() ? std::nullopt : std::optional(it->second);
}

std::string place(std::string_view text, size_t at) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const size_t start = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t column = start == std::string_view::npos ? at + 1 : at - start;
  return fmt::format("byte {} (line {}, column {})", at, line, column);
}

}  // namespace

Overlay::Overlay(std::string path, std::string text) : path_(std::move(path)) {
  const std::lock_guard lock(overlays().mutex);
  overlays().texts[path_] = std::move(text);
}

Overlay::~Overlay() {
  const std::lock_guard lock(overlays().mutex);
  overlays().texts.erase(path_);
}

Expected<uint32_t> Sources::read(const std::string& path) {
  if (auto text = overlaid(path)) return add(path, std::move(*text));
  struct stat info{};
  if (path.find('\0') != std::string::npos) return fail_environment("a file name holds a NUL byte");
  if (::stat(path.c_str(), &info) != 0) {
    return fail_environment(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail_environment(fmt::format("`{}` is a directory, a file is expected", path),
                            {"help: name one of the files in it"});
  }
  if (!S_ISREG(info.st_mode)) {
    return fail_environment(fmt::format("`{}` is not a regular file", path),
                            {"help: copy its content into a file, or pass `-` to read from standard input"});
  }
  if (static_cast<uint64_t>(info.st_size) > kMaxFileBytes) {
    return fail_environment(
        fmt::format("`{}` has {} bytes, at most {} are read", path, info.st_size, kMaxFileBytes),
        {"help: split it into several files and `import` them"});
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!in) return fail_environment(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const size_t got = text.empty() ? 0 : std::fread(text.data(), 1, text.size(), in.get());
  if (std::ferror(in.get()) != 0) {
    return fail_environment(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  }
  text.resize(got);
  if (auto checked = check_text(path, text); !checked)
    return tl::unexpected<Error>(std::move(checked.error()));
  return add(path, std::move(text));
}

Expected<void> check_text(const std::string& name, std::string_view text) {
  if (text.size() > kMaxFileBytes) {
    return fail_environment(
        fmt::format("`{}` has {} bytes, at most {} are read", name, text.size(), kMaxFileBytes),
        {"help: split it into several files and `import` them"});
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(fmt::format("`{}` is not a text file: NUL at {}", name, place(text, nul)),
                {"help: a .sk file is UTF-8 text"});
  }
  if (const auto bad = first_invalid_utf8(text)) {
    return fail(fmt::format("`{}` is not valid UTF-8: 0x{:02x} at {}", name,
                            static_cast<unsigned>(static_cast<unsigned char>(text[*bad])), place(text, *bad)),
                {"help: save the file as UTF-8"});
  }
  return {};
}

uint32_t Sources::add(std::string name, std::string text) {
  SK_ASSERT(text.size() <= kMaxFileBytes, "spans hold 32-bit offsets; callers check with check_text");
  File& file = files_.emplace_back();
  file.name = std::move(name);
  file.text = std::move(text);
  file.line_starts.push_back(0);
  const char* const begin = file.text.data();
  const char* const end = begin + file.text.size();
  for (const char* at = begin; at < end;) {
    const char* const newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (newline == nullptr) break;
    at = newline + 1;
    file.line_starts.push_back(static_cast<uint32_t>(at - begin));
  }
  return static_cast<uint32_t>(files_.size() - 1);
}

std::string_view Sources::text(Span span) const {
  const std::string_view all = files_[span.file].text;
  const size_t begin = std::min<size_t>(span.begin, all.size());
  return all.substr(begin, span.end > begin ? span.end - begin : 0);
}

Loc Sources::loc(Span span) const {
  if (!span || span.file >= files_.size()) return {};
  const auto& starts = files_[span.file].line_starts;
  const auto after = std::upper_bound(starts.begin(), starts.end(), span.begin);
  const auto line = static_cast<uint32_t>(after - starts.begin());
  return {span.file, line, span.begin - starts[line - 1] + 1,
          span.end > span.begin ? span.end - span.begin : 0};
}

Span Sources::span(Loc loc) const {
  if (loc.file == 0 || loc.file >= files_.size()) return {};
  const auto& starts = files_[loc.file].line_starts;
  if (loc.line == 0 || loc.line > starts.size() || loc.column == 0) return {};
  const uint32_t begin = starts[loc.line - 1] + loc.column - 1;
  return {loc.file, begin, begin + loc.length};
}

std::string_view Sources::line(uint32_t file, uint32_t line) const {
  if (file >= files_.size()) return {};
  const auto& starts = files_[file].line_starts;
  if (line == 0 || line > starts.size()) return {};
  std::string_view text = files_[file].text;
  text = text.substr(starts[line - 1],
                     line < starts.size() ? starts[line] - starts[line - 1] : std::string_view::npos);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace skdsl::source
