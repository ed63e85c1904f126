// family — which model file runs a config.json
//
// One table, families.def.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::cli {

struct Family {
  std::string_view architecture;  // LlamaForCausalLM
  std::string_view model_type;    // llama
  std::string_view model;         // llama.sk, of examples/
};
std::span<const Family> families();

/// The family that `architectures` and `model_type` name, which must agree; `where` names the file in
/// messages.
Expected<const Family*> find_family(const Json& config, const std::string& where);

/// What keys mean that a config leaves out: those of `family` for which `left_out` is true, with the default
/// of transformers' configuration class. `value` gives other keys' values.
std::vector<std::pair<std::string, Json>> family_defaults(
    const Family& family, const std::function<bool(std::string_view)>& left_out,
    const std::function<Json(std::string_view)>& value);

/// The path of a family's model file: in a folder `examples` of the working folder or of the program's, or of
/// one above these.
Expected<std::string> find_model_file(const Family& family);

}  // namespace skdsl::cli
