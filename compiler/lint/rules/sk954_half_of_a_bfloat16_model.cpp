// A checkpoint that was trained in bfloat16, run in float16: activations beyond 65504 are infinite.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk954_half_of_a_bfloat16_model(const Context& c, Report& report) {
  const std::string dtype = c.modules ? c.builtins->dtype : c.run->text("model_config.dtype");
  if (dtype.find("16") == dtype.npos || dtype.find("bf") != dtype.npos) return;
  const config::Setting* trained = nullptr;
  for (const config::Setting& s : c.run->settings().items)
    if ((s.key == "torch_dtype" || (s.key == "dtype" && s.layer == config::Layer::HfConfig)) &&
        s.value.is_string())
      trained = &s;
  if (!trained || trained->value.as_string().find("bfloat16") == std::string::npos) return;
  const config::Effective& given = c.run->at("model_config.dtype");
  report.at(given.span, trained->value.as_string())
      .note(fmt::format("torch_dtype = {} ({})", trained->value.as_string(), trained->origin))
      .note(fmt::format("dtype = {} ({})", dtype, given.origin))
      .help("run it in bfloat16");
}

}  // namespace skdsl::lint::rules_impl
