#include "runtime/exec/gears.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace skdsl::exec {

namespace {

// What a padding request has in the fields of the step; the rest is zero.
struct Filler {
  std::string_view field;
  int64_t value;  // of each new row, or what it adds to the row before
  bool running_sum;
};
constexpr Filler kFillers[] = {
    {"slot_mapping", -1, false},
    {"actual_seq_lengths_q", 1, false},
    {"actual_seq_lengths_cu_q", 1, true},
    {"actual_seq_lengths_cu_kv", 0, true},
};

Filler filler_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  std::string_view field =
      dot == std::string::npos ? std::string_view() : std::string_view(parameter).substr(dot + 1);
  if (field.ends_with("_list")) field.remove_suffix(5);
  for (const Filler& f : kFillers)
    if (f.field == field) return f;
  return {"", 0, false};
}

bool is_gear_symbol(const Gears& gears, const plan::Dim& dim) {
  const auto s = dim.as_symbol();
  return s && std::find(gears.symbols.begin(), gears.symbols.end(), *s) != gears.symbols.end();
}

bool mentions(const Gears& gears, const plan::Dim& dim) {
  for (const plan::SymbolId s : dim.symbols())
    if (std::find(gears.symbols.begin(), gears.symbols.end(), s) != gears.symbols.end()) return true;
  return false;
}

/// Is the field one entry for each request, as a list?
bool is_step_list(const plan::Function& f, size_t i) {
  return f.values[f.regions[f.body].args[i]].type.kind == plan::Kind::HostList &&
         f.param_names[i].find('.') != std::string::npos;
}

}  // namespace

Gears gears_of(const plan::Program& program, const plan::Function& f) {
  Gears out;
  for (const plan::OpId id : f.regions[f.body].ops) {
    const plan::Op& op = f.ops[id];
    if (op.code != Opcode::Gears) continue;
    for (const plan::Dim& d : std::get<std::vector<plan::Dim>>(op.attrs[0]))
      out.sizes.push_back(d.is_constant() ? d.constant() : 0);
    out.loc = op.loc;
  }
  if (out.sizes.empty()) return out;
  std::sort(out.sizes.begin(), out.sizes.end());
  out.sizes.erase(std::unique(out.sizes.begin(), out.sizes.end()), out.sizes.end());
  const auto& params = f.regions[f.body].args;
  const auto add = [&](const plan::Type& t) {
    if (!t.is_tensor() || t.rank() == 0) return false;
    const auto s = t.dims[0].as_symbol();
    if (s && std::find(out.symbols.begin(), out.symbols.end(), *s) == out.symbols.end())
      out.symbols.push_back(*s);
    return s.has_value();
  };
  bool first = true;
  for (size_t i = 0; i < params.size(); ++i) {
    const plan::Type& t = f.values[params[i]].type;
    if (first && t.is_tensor()) {
      if (!add(t)) out.wrong = "the first size of its first tensor parameter is no symbol";
      first = false;
    }
    if (f.param_names[i].ends_with(".kv_len")) add(t);
  }
  if (first) out.wrong = "it has no tensor parameter";
  for (const plan::ValueId v : params) {
    const plan::Type& t = f.values[v].type;
    for (size_t d = 0; t.is_tensor() && d < t.rank(); ++d)
      if (mentions(out, t.dims[d]) && (d > 0 || !is_gear_symbol(out, t.dims[d])))
        out.wrong =
            fmt::format("a parameter is {}; rows can be added to the first size only", program.text(t));
  }
  for (const plan::Type& t : f.results)
    for (size_t d = 0; d < t.rank(); ++d)
      if (t.is_tensor() && mentions(out, t.dims[d]) && (d > 0 || !is_gear_symbol(out, t.dims[d])))
        out.wrong = fmt::format("a result is {}; rows can be cut off the first size only", program.text(t));
  return out;
}

std::optional<int64_t> fitting_gear(const Gears& gears, int64_t rows) {
  const auto it = std::lower_bound(gears.sizes.begin(), gears.sizes.end(), rows);
  return it == gears.sizes.end() ? std::nullopt : std::optional(*it);
}

GearRows rows_of(const Gears& gears, const plan::Function& f, const std::vector<RuntimeValue>& args) {
  GearRows out;
  bool first = true;
  const auto& params = f.regions[f.body].args;
  for (size_t i = 0; i < params.size() && i < args.size(); ++i) {
    const auto* t = std::get_if<Tensor>(&args[i]);
    const plan::Type& type = f.values[params[i]].type;
    if (!t || !type.is_tensor() || type.rank() == 0 || t->view.rank == 0 ||
        !is_gear_symbol(gears, type.dims[0]))
      continue;
    if (first) out.rows = t->view.dim[0];
    out.one_row_each &= t->view.dim[0] == out.rows;
    first = false;
  }
  return out;
}

Expected<std::vector<RuntimeValue>> padded(const Gears& gears, const plan::Function& f,
                                           const std::vector<RuntimeValue>& args, int64_t to,
                                           TensorPool& pool) {
  std::vector<RuntimeValue> out = args;
  const auto& params = f.regions[f.body].args;
  for (size_t i = 0; i < params.size() && i < args.size(); ++i) {
    const Filler fill = filler_of(f.param_names[i]);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&args[i]); list && is_step_list(f, i)) {
      auto& longer = std::get<std::vector<int64_t>>(out[i]);
      while (static_cast<int64_t>(longer.size()) < to)
        longer.push_back(fill.value + (fill.running_sum && !longer.empty() ? longer.back() : 0));
      continue;
    }
    const auto* t = std::get_if<Tensor>(&args[i]);
    const plan::Type& type = f.values[params[i]].type;
    if (!t || !type.is_tensor() || type.rank() == 0 || t->view.rank == 0 ||
        !is_gear_symbol(gears, type.dims[0]))
      continue;
    std::vector<int64_t> shape = t->shape();
    const int64_t from = shape[0];
    if (from >= to) continue;
    shape[0] = to;
    auto made = pool.zeros(t->dtype(), shape);
    if (!made) return tl::unexpected(made.error());
    if (t->bytes() > 0) std::memcpy(made->view.data, t->view.data, static_cast<size_t>(t->bytes()));
    if (t->dtype() == SK_I32 && t->view.rank == 1) {
      auto* p = made->data<int32_t>();
      for (int64_t r = from; r < to; ++r)
        p[r] = static_cast<int32_t>(fill.value + (fill.running_sum && r > 0 ? p[r - 1] : 0));
    }
    out[i] = std::move(*made);
  }
  return out;
}

std::vector<RuntimeValue> cut(const Gears& gears, const plan::Function& f, std::vector<RuntimeValue> results,
                              int64_t rows) {
  for (size_t i = 0; i < results.size() && i < f.results.size(); ++i) {
    auto* t = std::get_if<Tensor>(&results[i]);
    if (!t || f.results[i].rank() == 0 || !is_gear_symbol(gears, f.results[i].dims[0])) continue;
    std::vector<int64_t> shape = t->shape();
    shape[0] = std::min(shape[0], rows);
    t->view = contiguous_view(t->dtype(), shape, t->view.data);
  }
  return results;
}

}  // namespace skdsl::exec
