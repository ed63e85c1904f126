#include "cli/jit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skdsl::cli {

Expected<exec::NativeOptions> native_options(const ModelOptions& options, const exec::CaptureOptions& capture,
                                             const std::string& mode) {
  exec::NativeOptions out;
  out.static_kernels = mode == "npugraph_ex" ? capture.static_kernel_compile : options.static_kernels;
  for (const std::string& given : options.jit_option) {
    const size_t equal = given.find('=');
    const std::string name = given.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : given.substr(equal + 1);
    bool* into = nullptr;
    std::vector<std::string> names;
#define SK_NATIVE_OPTION(option, on, text) \
  names.emplace_back(#option);             \
  if (name == #option) into = &out.option;
#include "runtime/exec/native_options.def"
#undef SK_NATIVE_OPTION
    if (!into) {
      const std::string meant = diag::nearest(name, names);
      return tl::unexpected(Error{ErrorKind::Usage,
                                  fmt::format("--jit-option {}: there is no switch `{}`", given, name),
                                  {meant.empty() ? fmt::format("help: there are {}", fmt::join(names, ", "))
                                                 : fmt::format("help: did you mean `{}`?", meant)}});
    }
    if (value != "on" && value != "off")
      return tl::unexpected(Error{ErrorKind::Usage,
                                  fmt::format("--jit-option {}: `{}` is neither on nor off", given, value),
                                  {fmt::format("help: write {}=on", name)}});
    *into = value == "on";
  }
  return out;
}

std::unique_ptr<jit::Compiler> native_compiler(diag::Engine& diags) {
  return std::make_unique<jit::Compiler>(jit::ObjectCache::standard(), [&diags](const std::string& trouble) {
    diags.report({}, diag::Id::ObjectCache, trouble);
  });
}

}  // namespace skdsl::cli
