// checked — a run config as text, through all checks
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/config/run_config.h"

namespace skdsl::testing {

/// What the checks say about a text.
struct Checked {
  source::Sources sources;
  diag::Engine diags{sources};
  config::Settings settings;
  config::RunContext context;
  std::map<std::string, std::string> environment;

  explicit Checked(const std::string& path, std::map<std::string, std::string> env = {},
                   std::string mode = "", bool strict = false, bool lenient = false)
      : environment(std::move(env)) {
    diags.strict = strict;
    settings.lenient = lenient;
    context.mode_flag = std::move(mode);
    context.environment = [this](const char* name) -> const char* {
      const auto it = environment.find(name);
      return it == environment.end() ? nullptr : it->second.c_str();
    };
    auto read = config::read_run_config(path, context, settings, diags);
    readable = read.has_value();
    if (!diags.has_errors()) config::check_run_settings(context, settings, diags);
    if (!diags.has_errors()) config::check_run_rules(config::RunView(settings, context), diags);
  }

  bool readable = false;

  std::string ids() const {
    std::string out;
    for (const diag::Diagnostic& d : diags.all())
      out += (out.empty() ? "" : " ") + std::string(diag::rule(d.id).id);
    return out;
  }
  bool has(std::string_view id) const {
    return (" " + ids() + " ").find(" " + std::string(id) + " ") != std::string::npos;
  }
  /// Everything as a person sees it.
  std::string text() const {
    std::string out;
    for (const diag::Diagnostic& d : diags.all()) out += diag::to_human(d, sources, false) + "\n";
    return out;
  }
};

}  // namespace skdsl::testing
