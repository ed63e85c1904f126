// options — the options of a super-kernel scope
//
// options.def is the one table of the graph-compile engine's keys; text comes from a scope's parentheses or
// as one string "key=value:key=value".
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::superkernel {

enum class OptionKind : uint8_t { Word, Number, PowerOfTwo, List, Text };

enum class Option : uint8_t {
#define SK_SUPERKERNEL_OPTION(Name, key, kind, values, default_text, text) Name,
#include "compiler/superkernel/options.def"
#undef SK_SUPERKERNEL_OPTION
  kCount
};

struct OptionRow {
  std::string_view key;
  OptionKind kind;
  std::string_view values;
  std::string_view default_text;
  std::string_view text;
};
const OptionRow& row(Option option);
/// Option::kCount when there is none of that key.
Option find_option(std::string_view key);

/// A refused option: which one ("" when the text itself is wrong) and why.
struct OptionError {
  std::string option;
  std::string message;
  std::string help;
  bool wrong_ratio = false;  // debug-aic-num to debug-aiv-num
  std::string nearest = {};  // of an unknown option: the key that was meant
};

class Options {
 public:
  /// What was given, else the default.
  std::string_view text(Option o) const;
  bool on(Option o) const { return text(o) == "1"; }
  uint32_t number(Option o) const;
  std::vector<std::string> list(Option o) const;
  bool given(Option o) const { return given_[static_cast<size_t>(o)]; }
  void set(Option o, std::string value);

  /// The options that were given, in the order of the table.
  std::string print() const;

 private:
  static constexpr size_t kOptions = static_cast<size_t>(Option::kCount);
  std::array<std::string, kOptions> values_;
  std::array<bool, kOptions> given_{};
};

/// One key with its value; the error says what is accepted.
tl::expected<void, OptionError> add_option(Options& options, std::string_view key, std::string_view value);

struct ParsedOptions {
  Options options;
  std::vector<std::string> warnings;  // parts that are no key=value
};
/// "key=value:key=value"; quotes around the whole and empty parts are dropped. `underscores`: a_b means a-b.
tl::expected<ParsedOptions, OptionError> parse_options(std::string_view text, bool underscores = false);

/// "Add, , MatMul," → {"Add", "MatMul"}.
std::vector<std::string> split_list(std::string_view text);

/// What a sub-kernel compile under capture makes of the string: early-start and debug-sync-all (0|1) and the
/// dcci lists; every other key is skipped (asc-devkit, super_kernel_option_parse.py, aclgraph).
tl::expected<ParsedOptions, OptionError> parse_sub_kernel_options(std::string_view text);

}  // namespace skdsl::superkernel
