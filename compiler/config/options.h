// options — the options of the two graph back ends as plain structs, one typed field for each row of
// run_keys.def
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "compiler/config/config.h"
#include "compiler/config/run_keys.h"

namespace skdsl::config {

namespace detail {
template <KeyType T>
struct Field;
template <>
struct Field<KeyType::Bool> {
  using Type = bool;
};
template <>
struct Field<KeyType::Int> {
  using Type = int64_t;
};
template <>
struct Field<KeyType::Float> {
  using Type = double;
};
template <>
struct Field<KeyType::Str> {
  using Type = std::string;
};
template <>
struct Field<KeyType::Choice> {
  using Type = std::string;
};
template <>
struct Field<KeyType::OptBool> {
  using Type = std::optional<bool>;
};
template <>
struct Field<KeyType::OptInt> {
  using Type = std::optional<int64_t>;
};
template <>
struct Field<KeyType::OptStr> {
  using Type = std::optional<std::string>;
};
template <>
struct Field<KeyType::OptChoice> {
  using Type = std::optional<std::string>;
};
template <>
struct Field<KeyType::OptDict> {
  using Type = Json;
};
}  // namespace detail

/// Options of npugraph_ex. `dynamic`, `static_kernel_compile` and `super_kernel_optimize` follow
/// enable_dynamic_graph, enable_static_kernel and enable_superkernel of the run config when they are not
/// given themselves.
struct NpuGraphOptions {
#define SK_NPU(field, type, ...) detail::Field<KeyType::type>::Type field{};
#include "compiler/config/run_keys.def"
};

/// CompilerConfig of ge_graph; a field is the key with `_` for its dots.
struct GeOptions {
#define SK_GE(field, key, type, ...) detail::Field<KeyType::type>::Type field{};
#include "compiler/config/run_keys.def"
};

/// The effective options: defaults of the table under what the settings give. Values that do not fit their
/// row are left at the default; check_run_settings and read_run_config have reported them.
NpuGraphOptions npugraph_options(const Settings& settings);
GeOptions ge_options(const Settings& settings);

}  // namespace skdsl::config
