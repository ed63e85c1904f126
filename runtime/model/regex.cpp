#include "runtime/model/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "runtime/base/assert.h"
#include "runtime/base/utf8.h"
#include "runtime/model/regex_syntax.h"

namespace skdsl::model {

namespace {

constexpr size_t kMaxPatternBytes = 1 << 16;
constexpr uint32_t kMatchLimit = 10'000'000;  // backtracking steps of one search
constexpr uint32_t kHeapLimitKib = 64 * 1024;

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* p) const { Free(p); }
};
using CompileContext =
    std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context, pcre2_compile_context_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>>;

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  if (pcre2_get_error_message(code, buffer, sizeof buffer) < 0) return fmt::format("error {}", code);
  return reinterpret_cast<const char*>(buffer);
}

size_t character_bytes(std::string_view text, size_t at) {
  size_t n = 1;
  while (at + n < text.size() && (static_cast<uint8_t>(text[at + n]) & 0xc0) == 0x80) ++n;
  return n;
}

Regex character_class(std::string_view members) {
  auto regex = Regex::compile(fmt::format("[{}]", members), Regex::Syntax::Regex, "built-in class");
  SK_ASSERT(regex.has_value(), "the built-in classes are valid patterns");
  return std::move(*regex);
}

bool matches(const Regex& regex, std::string_view character) {
  const auto found = regex.find_all(character);
  return found && !found->empty();
}

}  // namespace

Expected<Regex> Regex::compile(std::string_view pattern, Syntax syntax, const std::string& where) {
  std::string rewritten;
  if (syntax == Syntax::Regex) {
    auto text = pcre2_pattern(pattern, where);
    if (!text) return tl::unexpected(text.error());
    rewritten = std::move(*text);
    pattern = rewritten;
  }
  const CompileContext context(pcre2_compile_context_create(nullptr));
  SK_ASSERT(context, "memory for a compile context");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_max_pattern_length(context.get(), kMaxPatternBytes);
  uint32_t options = PCRE2_UTF;
  if (syntax == Syntax::Literal) {
    options |= PCRE2_LITERAL;
  } else {
    options |= PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  }
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                                   &error, &offset, context.get());
  if (!code) {
    return fail(
        fmt::format("{}: the pattern is no regular expression that we understand: {} (at its byte {})", where,
                    message_of(error), offset));
  }
  Regex regex;
  regex.code_ = std::shared_ptr<const void>(code, [](const void* p) {
    pcre2_code_free(const_cast<pcre2_code*>(static_cast<const pcre2_code*>(p)));
  });
  regex.where_ = where;
  return regex;
}

Expected<Regex> Regex::of_pattern(const Json* pattern, const std::string& place) {
  const Json* regex = pattern ? pattern->find("Regex") : nullptr;
  const Json* text = pattern ? pattern->find("String") : nullptr;
  const Json* source = regex ? regex : text;
  if (!source || !source->is_string() || pattern->as_object().size() != 1) {
    return fail(
        fmt::format("{}: expected {{\"Regex\": \"…\"}} or {{\"String\": \"…\"}} as `pattern`", place));
  }
  return compile(source->as_string(), regex ? Syntax::Regex : Syntax::Literal, place);
}

Expected<std::vector<Regex::Range>> Regex::find_all(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const MatchContext context(pcre2_match_context_create(nullptr));
  const MatchData data(pcre2_match_data_create_from_pattern(code, nullptr));
  SK_ASSERT(context && data, "memory for a search");
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);

  std::vector<Range> found;
  size_t at = 0;
  while (at <= text.size()) {
    const int rc = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                               PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc < 0) {
      return fail(fmt::format("{}: the pattern cannot be matched against a text of {} bytes: {}", where_,
                              text.size(), message_of(rc)),
                  {"help: the pattern backtracks too much, or this is no tokenizer that skdsl understands"});
    }
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data.get());
    const size_t begin = range[0];
    const size_t end = range[1];
    // `\K` can move the start of a match; one that runs backwards would cut the text into nonsense.
    if (begin > end || begin < at)
      return fail(fmt::format("{}: a match of the pattern begins behind its end", where_));
    const bool directly_behind = !found.empty() && found.back().second == end;
    if (begin == end && directly_behind) {
      at += at < text.size() ? character_bytes(text, at) : 1;
      continue;
    }
    found.emplace_back(begin, end);
    at = end;
  }
  return found;
}

bool is_word_character(std::string_view character) {
  static const Regex regex = character_class(kWordClass);
  return matches(regex, character);
}

bool is_white_space(std::string_view character) {
  static const Regex regex = character_class(kSpaceClass);
  return matches(regex, character);
}

}  // namespace skdsl::model
