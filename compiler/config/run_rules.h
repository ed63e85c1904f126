// run_rules — rules over several keys of a run config, one function each
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "compiler/config/run_config.h"

namespace skdsl::config {

/// What a rule reports with: the place is the last key that a file gives, the others are named in notes.
class RuleReport {
 public:
  RuleReport(const RunView& view, diag::Id id, diag::Engine& diags) : view_(view), id_(id), diags_(diags) {}

  /// `keys` are paths, the one to blame first. `instead` is what its value should be, when that is known. The
  /// handle takes other edits.
  diag::Engine::Builder say(std::initializer_list<std::string_view> keys, const std::string& message,
                            const std::string& help, std::string_view instead = "");
  diag::Engine::Builder say(std::span<const std::string> keys, const std::string& message,
                            const std::string& help, std::string_view instead = "");
  /// The edit that gives a key a value: where the file has the key, else beside another key of its section.
  void set(diag::Engine::Builder said, std::string_view path, const std::string& value) const;
  /// The edit that takes a key away; none when no file gives it.
  void drop(diag::Engine::Builder said, std::string_view path) const;
  /// About the environment; `key` is the key that does not go with it.
  std::string environment(const char* name) const;

 private:
  const RunView& view_;
  diag::Id id_;
  diag::Engine& diags_;
};

struct RunRule {
  std::string_view name;
  diag::Id id;
  std::string_view source;
  void (*check)(const RunView& view, RuleReport& report);
};
std::span<const RunRule> run_rules();

#define SK_RUN_RULE(function, diagnostic, source) void function(const RunView& view, RuleReport& report);
namespace rules {
#include "compiler/config/run_rules.def"
}

}  // namespace skdsl::config
