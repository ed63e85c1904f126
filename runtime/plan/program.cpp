#include "runtime/plan/program.h"

#include <algorithm>
#include <charconv>

namespace skdsl::plan {

namespace {
struct DTypeRow {
  DType type;
  sk_dtype abi;
  std::string_view name;
};
constexpr DTypeRow kDTypes[] = {
    {DType::None, SK_NONE, "none"}, {DType::F32, SK_F32, "f32"},    {DType::BF16, SK_BF16, "bf16"},
    {DType::F16, SK_F16, "f16"},    {DType::I8, SK_I8, "i8"},       {DType::I32, SK_I32, "i32"},
    {DType::I64, SK_I64, "i64"},    {DType::Bool, SK_BOOL, "bool"}, {DType::Stored, SK_NONE, "stored"},
};
}  // namespace

DType dtype_of(sk_dtype t) {
  for (const DTypeRow& r : kDTypes)
    if (r.abi == t) return r.type;
  return DType::None;
}

sk_dtype abi_dtype(DType t) { return kDTypes[static_cast<size_t>(t)].abi; }

std::string_view name(DType t) { return kDTypes[static_cast<size_t>(t)].name; }

std::optional<DType> dtype_named(std::string_view text) {
  for (const DTypeRow& r : kDTypes)
    if (r.type != DType::None && r.name == text) return r.type;
  return {};
}

Attr default_attr(const Param& param) {
  const std::string_view text = param.default_text;
  if (text.empty() || text == "none") return {};
  switch (param.attr) {
    case AttrType::Int: {
      int64_t x = 0;
      std::from_chars(text.data(), text.data() + text.size(), x);
      return Dim(x);
    }
    case AttrType::Float: {
      double x = 0;
      std::from_chars(text.data(), text.data() + text.size(), x);
      return x;
    }
    case AttrType::Bool:
      return text == "true";
    case AttrType::DType:
      return dtype_named(text).value_or(DType::None);
    case AttrType::Str:
    case AttrType::Choice:
      return std::string(text);
    case AttrType::IntList:
      return std::vector<Dim>{};
  }
  return {};
}

std::string_view name(Phase phase) {
  constexpr std::string_view kNames[] = {"none", "prefill", "decode", "draft_prefill", "draft_decode"};
  return kNames[static_cast<size_t>(phase)];
}

ValueId Function::add_value(Type type, std::string value_name) {
  values.push_back({std::move(type), std::move(value_name)});
  return static_cast<ValueId>(values.size() - 1);
}

RegionId Function::add_region() {
  regions.emplace_back();
  return static_cast<RegionId>(regions.size() - 1);
}

OpId Function::add_op(RegionId region, Op op, const std::vector<Type>& result_types) {
  for (const Type& t : result_types) op.results.push_back(add_value(t));
  ops.push_back(std::move(op));
  const auto id = static_cast<OpId>(ops.size() - 1);
  regions[region].ops.push_back(id);
  return id;
}

SymbolId Program::symbol(std::string_view symbol_name) {
  const auto it = std::find(symbols.begin(), symbols.end(), symbol_name);
  if (it != symbols.end()) return static_cast<SymbolId>(it - symbols.begin());
  symbols.emplace_back(symbol_name);
  return static_cast<SymbolId>(symbols.size() - 1);
}

SymbolId Program::fresh_symbol(std::string_view base) {
  for (size_t n = symbols.size();; ++n) {
    std::string candidate = std::string(base) + std::to_string(n);
    if (std::find(symbols.begin(), symbols.end(), candidate) == symbols.end()) return symbol(candidate);
  }
}

std::string Program::text(const Dim& dim) const {
  return dim.text([&](SymbolId s) { return symbols[s]; });
}

std::string Program::text(const Type& type) const {
  switch (type.kind) {
    case Kind::HostInt:
      return type.dims.size() == 1 ? "int(" + text(type.dims[0]) + ")" : "int(?)";
    case Kind::HostFloat:
      return "float";
    case Kind::HostBool:
      return "bool";
    case Kind::HostList:
      return "list";
    case Kind::Tensor:
      break;
  }
  std::string out(name(type.dtype));
  out += '[';
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i) out += ", ";
    out += text(type.dims[i]);
  }
  return out + "]";
}

Function* Program::find(std::string_view function_name) {
  for (Function& f : functions)
    if (f.name == function_name) return &f;
  return nullptr;
}

const Function* Program::find(std::string_view function_name) const {
  return const_cast<Program*>(this)->find(function_name);
}

}  // namespace skdsl::plan
