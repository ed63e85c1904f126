#include "cli/import/family.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/diag/diag.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

namespace {

constexpr Family kFamilies[] = {
#define SK_FAMILY(architecture, model_type, model) {#architecture, #model_type, model},
#define SK_FAMILY_DEFAULT(model_type, key, value)
#define SK_FAMILY_RATIO(model_type, key, a, b)
#include "cli/import/families.def"
#undef SK_FAMILY
#undef SK_FAMILY_DEFAULT
#undef SK_FAMILY_RATIO
};

struct Default {
  std::string_view model_type, key;
  std::string_view value;  // JSON; "" for a ratio
  std::string_view a, b;
};
constexpr Default kDefaults[] = {
#define SK_FAMILY(architecture, model_type, model)
#define SK_FAMILY_DEFAULT(model_type, key, value) {#model_type, #key, value, "", ""},
#define SK_FAMILY_RATIO(model_type, key, a, b) {#model_type, #key, "", #a, #b},
#include "cli/import/families.def"
#undef SK_FAMILY
#undef SK_FAMILY_DEFAULT
#undef SK_FAMILY_RATIO
};

std::string known(std::string_view Family::* name) {
  std::string out;
  for (const Family& f : kFamilies) out += fmt::format("{}{}", out.empty() ? "" : ", ", f.*name);
  return out;
}

const Family* by(std::string_view Family::* name, std::string_view value) {
  for (const Family& f : kFamilies)
    if (f.*name == value) return &f;
  return nullptr;
}

tl::unexpected<Error> unknown(const std::string& where, std::string_view key, std::string_view value,
                              std::string_view Family::* name) {
  std::vector<std::string> names;
  for (const Family& f : kFamilies) names.emplace_back(f.*name);
  Error error{ErrorKind::Input,
              fmt::format("{}: `{}` is \"{}\", a family that is not known", where, key, value),
              {fmt::format("known are {}", known(name))}};
  if (const std::string near = diag::nearest(value, names); !near.empty())
    error.notes.push_back(fmt::format("the nearest is {}; another family has other mathematics", near));
  error.notes.emplace_back("help: name a model file for it with `--model FILE.sk`");
  return tl::unexpected(std::move(error));
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

Expected<const Family*> find_family(const Json& config, const std::string& where) {
  const Family* family = nullptr;
  const Json* const architectures = config.find("architectures");
  if (architectures && !architectures->is_null()) {
    if (!architectures->is_array())
      return fail(
          fmt::format("{}: `architectures` is {}; expected a list of names", where, to_json(*architectures)));
    for (const Json& name : architectures->as_array()) {
      if (!name.is_string())
        return fail(
            fmt::format("{}: `architectures` has the element {}; expected a name", where, to_json(name)));
      if (!family) family = by(&Family::architecture, name.as_string());
    }
    if (!family && !architectures->as_array().empty())
      return unknown(where, "architectures", architectures->as_array()[0].as_string(), &Family::architecture);
  }
  const Json* const type = config.find("model_type");
  if (!type || type->is_null()) {
    if (family) return family;
    return fail(
        fmt::format("{} has neither `architectures` nor `model_type`: the family is not known", where),
        {fmt::format("known are {}", known(&Family::architecture)),
         "help: name a model file with `--model FILE.sk`"});
  }
  if (!type->is_string())
    return fail(fmt::format("{}: `model_type` is {}; expected a name", where, to_json(*type)));
  if (family && family->model_type != type->as_string())
    return fail(fmt::format("{}: `architectures` names {} and `model_type` is \"{}\"; they must agree", where,
                            family->architecture, type->as_string()),
                {fmt::format("the model_type of {} is {}", family->architecture, family->model_type)});
  if (!family) family = by(&Family::model_type, type->as_string());
  if (!family) return unknown(where, "model_type", type->as_string(), &Family::model_type);
  return family;
}

std::vector<std::pair<std::string, Json>> family_defaults(
    const Family& family, const std::function<bool(std::string_view)>& left_out,
    const std::function<Json(std::string_view)>& value) {
  std::vector<std::pair<std::string, Json>> out;
  for (const Default& row : kDefaults) {
    if (row.model_type != family.model_type || !left_out(row.key)) continue;
    if (!row.value.empty()) {
      out.emplace_back(row.key, parse_json(row.value, "families.def").value_or(Json()));
      continue;
    }
    const Json a = value(row.a), b = value(row.b);
    if (a.is_int() && b.is_int() && b.as_int() > 0) out.emplace_back(row.key, a.as_int() / b.as_int());
  }
  return out;
}

Expected<std::string> find_model_file(const Family& family) {
  std::error_code ec;
  const fs::path here = fs::current_path(ec);
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  for (const fs::path& start : {here, program}) {
    for (fs::path at = start; !at.empty(); at = at.parent_path()) {
      const fs::path file = at / "examples" / family.model;
      if (fs::is_regular_file(file, ec)) {
        const fs::path shown = file.lexically_proximate(here);
        return shown.string().starts_with("..") ? file.string() : shown.string();
      }
      if (at == at.root_path()) break;
    }
  }
  return fail_environment(
      fmt::format("the model file examples/{} is neither here nor beside the program", family.model),
      {"help: name it with `--model FILE.sk`"});
}

}  // namespace skdsl::cli
