// What differs: the members of \s, \w and \b (Unicode properties there, a list of their own in PCRE2), \h (a
// hexadecimal digit), \uXXXX, the option `m` (a dot matches a line's end), `{1,3}+` (not possessive), and
// classes inside classes.
#include "runtime/model/regex_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/model/regex.h"

namespace skdsl::model {

namespace {

constexpr std::string_view kHexClass = "0-9a-fA-F";

/// An escape that names a set of characters: the members for use in brackets, and whether it is their
/// complement.
struct SetEscape {
  char letter;
  std::string_view members;
  bool complement;
};
constexpr SetEscape kSetEscapes[] = {
    {'s', kSpaceClass, false}, {'S', kSpaceClass, true}, {'w', kWordClass, false}, {'W', kWordClass, true},
    {'d', "\\p{Nd}", false},   {'D', "\\p{Nd}", true},   {'h', kHexClass, false},  {'H', kHexClass, true},
};
/// Complements that can stand inside brackets.
std::string_view complement_in_class(char letter) {
  return letter == 'S' ? "\\P{White_Space}" : letter == 'D' ? "\\P{Nd}" : "";
}

class Translation {
 public:
  Translation(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

  Expected<std::string> run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      Expected<void> done;
      if (c == '\\') {
        done = escape();
      } else if (in_class_) {
        done = class_member(c);
      } else if (c == '[') {
        begin_class();
      } else if (c == '(' && pattern_.substr(at_).starts_with("(?")) {
        group();
      } else if (c == '{') {
        done = interval();
      } else {
        copy(1);
      }
      if (!done) return tl::unexpected(done.error());
    }
    return out_;
  }

 private:
  void copy(size_t n) {
    out_ += pattern_.substr(at_, n);
    at_ += n;
  }
  tl::unexpected<Error> refused(std::string_view what) const {
    return fail(
        fmt::format("{}: the pattern has {} at its byte {}; that is not supported", where_, what, at_));
  }

  Expected<void> escape() {
    const char letter = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    const auto row = std::find_if(std::begin(kSetEscapes), std::end(kSetEscapes),
                                  [&](const SetEscape& e) { return e.letter == letter; });
    if (row != std::end(kSetEscapes)) {
      if (!in_class_) {
        out_ += fmt::format("[{}{}]", row->complement ? "^" : "", row->members);
      } else if (!row->complement) {
        out_ += row->members;
      } else if (const auto members = complement_in_class(letter); !members.empty()) {
        out_ += members;
      } else {
        return refused(fmt::format("`\\{}` inside brackets", letter));
      }
      at_ += 2;
    } else if (letter == 'b' && !in_class_) {
      out_ += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWordClass);
      at_ += 2;
    } else if (letter == 'B' && !in_class_) {
      out_ += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWordClass);
      at_ += 2;
    } else if (letter == 'u') {
      const std::string_view digits = pattern_.substr(at_ + 2, 4);
      if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos)
        return refused("`\\u` without four hexadecimal digits");
      out_ += fmt::format("\\x{{{}}}", digits);
      at_ += 6;
    } else if (letter == 'Q' || letter == 'E' || letter == 'y' || letter == 'Y' || letter == 'C') {
      return refused(fmt::format("`\\{}`", letter));
    } else if (letter == 'p' || letter == 'P' || letter == 'x') {
      const size_t close =
          pattern_.substr(at_).starts_with("\\x{") || letter != 'x' ? pattern_.find('}', at_) : at_ + 1;
      copy(close == pattern_.npos ? 2 : close + 1 - at_);
    } else {
      copy(2);
    }
    return {};
  }

  void begin_class() {
    in_class_ = true;
    copy(1);
    if (at_ < pattern_.size() && pattern_[at_] == '^') copy(1);
    if (at_ < pattern_.size() && pattern_[at_] == ']') {
      out_ += "\\]";  // the first one is a member
      ++at_;
    }
  }
  Expected<void> class_member(char c) {
    if (c == '[') return refused("a class inside a class");
    if (pattern_.substr(at_).starts_with("&&")) return refused("an intersection `&&` of classes");
    if (c == ']') in_class_ = false;
    copy(1);
    return {};
  }

  /// Options: `m` is what PCRE2 calls `s`.
  void group() {
    copy(2);
    const size_t end = std::min(pattern_.find_first_not_of("imx-", at_), pattern_.size());
    const bool options = end < pattern_.size() && (pattern_[end] == ':' || pattern_[end] == ')');
    for (; options && at_ < end; ++at_) out_ += pattern_[at_] == 'm' ? 's' : pattern_[at_];
  }

  Expected<void> interval() {
    const size_t end = pattern_.find_first_not_of("0123456789,", at_ + 1);
    if (end != pattern_.npos && end > at_ + 1 && pattern_[end] == '}') {
      if (end + 1 < pattern_.size() && pattern_[end + 1] == '+') return refused("`+` behind an interval");
      copy(end + 1 - at_);
    } else {
      copy(1);
    }
    return {};
  }

  std::string_view pattern_;
  const std::string& where_;
  std::string out_;
  size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

Expected<std::string> pcre2_pattern(std::string_view pattern, const std::string& where) {
  return Translation(pattern, where).run();
}

}  // namespace skdsl::model
