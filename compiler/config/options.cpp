#include "compiler/config/options.h"

#include "compiler/config/run_config.h"

namespace skdsl::config {

namespace {

void put(bool& field, const Json& value) { field = value.is_bool() && value.as_bool(); }
void put(int64_t& field, const Json& value) { field = value.is_int() ? value.as_int() : 0; }
void put(std::string& field, const Json& value) { field = value.is_string() ? value.as_string() : ""; }
void put(Json& field, const Json& value) { field = value; }
template <class T>
void put(std::optional<T>& field, const Json& value) {
  if (value.is_null()) {
    field.reset();
  } else {
    put(field.emplace(), value);
  }
}

}  // namespace

NpuGraphOptions npugraph_options(const Settings& settings) {
  const RunContext context;
  const RunView view(settings, context);
  NpuGraphOptions out;
#define SK_NPU(field, ...) put(out.field, view.at("npugraph_ex." #field).value);
#include "compiler/config/run_keys.def"
  return out;
}

GeOptions ge_options(const Settings& settings) {
  const RunContext context;
  const RunView view(settings, context);
  GeOptions out;
#define SK_GE(field, key, ...) put(out.field, view.at("ge." key).value);
#include "compiler/config/run_keys.def"
  return out;
}

}  // namespace skdsl::config
