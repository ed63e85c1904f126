// capture_options — the options of the capture engine
//
// npugraph_ex hands over two dictionaries, super_kernel_optimize_options and super_kernel_debug_options;
// capture_options.def is the one table of their keys. A value of the wrong Python type is an error; one out
// of range, a key given twice or an unknown key is a warning, and the default (or the first value) stays.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/base/json.h"

namespace skdsl::superkernel {

enum class CaptureDictionary : uint8_t { Optimize, Debug };
/// "super_kernel_optimize_options", "super_kernel_debug_options".
std::string_view name(CaptureDictionary dictionary);

enum class CaptureOptionKind : uint8_t { Number, Patterns, Extend, Strategies, Declared };

enum class CaptureOption : uint8_t {
#define SK_CAPTURE_OPTION(Name, ...) Name,
#include "compiler/superkernel/capture_options.def"
  kCount
};

enum class CaptureStrategy : uint8_t {
#define SK_CAPTURE_STRATEGY(Name, ...) Name,
#include "compiler/superkernel/capture_options.def"
  kCount
};

struct CaptureOptionRow {
  std::string_view key;
  CaptureDictionary dictionary;
  CaptureOptionKind kind;
  uint32_t default_value, low, high;
  std::string_view meaning;
};
const CaptureOptionRow& row(CaptureOption option);

struct CaptureStrategyRow {
  std::string_view key;
  uint32_t high;
  std::string_view meaning;
};
const CaptureStrategyRow& row(CaptureStrategy strategy);

/// bit 0 and bit 1 of value_breaker_bypass.
inline constexpr uint32_t kPairedWaits = 1, kUnpairedWaits = 2;

/// "key=value,value:key=value" in the order of the text.
using ExtendOptions = std::vector<std::pair<std::string, std::vector<std::string>>>;

class CaptureOptions {
 public:
  CaptureOptions();

  uint32_t number(CaptureOption o) const { return numbers_[static_cast<size_t>(o)]; }
  bool on(CaptureOption o) const { return number(o) == 1; }
  const std::vector<std::string>& patterns(CaptureOption o) const { return lists_[static_cast<size_t>(o)]; }
  /// Whether a kernel's function name is matched by one of the option's patterns.
  bool matches(CaptureOption o, std::string_view kernel) const;
  const ExtendOptions& extend(CaptureOption o) const {
    return extends_[o == CaptureOption::OptExtend ? 0 : 1];
  }
  uint32_t strategy(CaptureStrategy s) const { return strategies_[static_cast<size_t>(s)]; }
  /// It, or an option that switches it on.
  bool cross_core_check() const;

  bool given(CaptureOption o) const { return given_[static_cast<size_t>(o)]; }
  void set(CaptureOption o, uint32_t value);
  void set(CaptureOption o, std::vector<std::string> patterns);
  void set(CaptureOption o, ExtendOptions extend);
  void set(CaptureStrategy s, uint32_t value);

  /// The options that were given, "key=value:key=value" in the order of the table.
  std::string print() const;

 private:
  static constexpr size_t kOptions = static_cast<size_t>(CaptureOption::kCount);
  std::array<uint32_t, kOptions> numbers_{};
  std::array<std::vector<std::string>, kOptions> lists_;
  std::array<ExtendOptions, 2> extends_;
  std::array<uint32_t, static_cast<size_t>(CaptureStrategy::kCount)> strategies_{};
  std::array<bool, kOptions> given_{};
};

/// What Python raises: TypeError for something that is no dictionary, RuntimeError for a value of the wrong
/// type.
struct CaptureOptionError {
  bool type_error = false;
  std::string option;
  std::string message;
  std::string help;
};

struct ReadCaptureOptions {
  CaptureOptions options;
  std::vector<std::string> warnings;
};
/// The two dictionaries; null stands for None.
tl::expected<ReadCaptureOptions, CaptureOptionError> read_capture_options(const Json& optimize,
                                                                          const Json& debug);

/// The options of torch.compile with backend="npugraph_ex" that concern super kernels. Both dictionaries must
/// be dicts (or None) in any case, but are only read when super_kernel_optimize is True (it is False by
/// default).
struct CaptureConfig {
  bool optimize = false;
  ReadCaptureOptions read;
};
tl::expected<CaptureConfig, CaptureOptionError> read_capture_config(const Json& options);

/// An extend option; nothing and a reason when any part of it is wrong, since the whole string is ignored
/// then.
tl::expected<ExtendOptions, std::string> parse_extend(std::string_view text);
/// Characters of an extend option.
inline constexpr size_t kMaxExtendBytes = 1024;

/// Whether a pattern matches the whole name: `.` any character, `*` repeats the item before it, blanks around
/// it do not count; a pattern with any other character than letters, digits, `_`, `-`, or that begins with
/// `*`, matches nothing. Takes |pattern| * |name| steps.
bool matches_kernel(std::string_view pattern, std::string_view name);

/// The text that an offline compilation is given: both dictionaries as "key=value:key=a,b"; nothing when both
/// are None.
std::optional<std::string> option_string(const Json& optimize, const Json& debug);

}  // namespace skdsl::superkernel
