// elaborate — from checked syntax to the program layer of a Plan
//
// One walk: configuration is resolved, layers are instantiated, phases run symbolically and leave IR behind.
// Names, types, shapes and dtypes are checked on the way; a value that failed is poison and says nothing
// more.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/config/config.h"
#include "compiler/diag/diag.h"
#include "compiler/sema/module.h"
#include "runtime/plan/program.h"

namespace skdsl::sema {

struct Options {
  config::Settings settings;
  config::Builtins builtins;
  bool run_script = true;  // build top-level statements as the function "main"
  bool draft = false;      // build the phases of the `draft` too
};

/// One configuration key after all layers.
struct EffectiveValue {
  std::string key;
  std::string value;
  config::Layer layer = config::Layer::Default;
  std::string origin;
};

struct Elaborated {
  plan::Program program;
  std::string model;            // the model's name; "" when the file has none
  std::string draft;            // the draft's name; "" when the file has none
  std::string default_weights;  // folder beside the file, or ""
  bool has_script = false;      // the program has "main"
  std::vector<EffectiveValue> config;
  std::vector<std::string> harmless_keys;  // of config.json: read and without effect
  int64_t vocab_size = 0;                  // last dim of the decode result, when constant
};

/// Nothing when errors were reported.
std::optional<Elaborated> elaborate(const Modules& modules, const Options& options, diag::Engine& diags);

/// The folder that the model names in `default_weights`, found without elaborating; "" when there is none.
std::string default_weights_of(const Modules& modules);
/// Whether the main file's `config` has a key, a dict or group of which it is a member, or a group of this
/// name.
bool declares_config(const Modules& modules, std::string_view key);
/// The most requests that a `Step(…)` of the script has; 0 without one. Scripts get cache blocks for as many.
int64_t script_requests(const Modules& modules);

}  // namespace skdsl::sema
