#include "runtime/exec/guards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace skdsl::exec {

using plan::Kind;

const CaptureReasonRow& row(CaptureReason reason) {
  static constexpr CaptureReasonRow kRows[] = {
#define SK_CAPTURE_REASON(Name, word, text) {word, text},
#include "runtime/exec/capture_reasons.def"
#undef SK_CAPTURE_REASON
  };
  return kRows[static_cast<size_t>(reason)];
}

std::vector<ListRole> list_roles(const plan::Function& f) {
  const auto& params = f.regions[f.body].args;
  std::vector<ListRole> out(params.size(), ListRole::Unused);
  for (size_t i = 0; i < params.size(); ++i) {
    if (f.values[params[i]].type.kind != Kind::HostList) continue;
    for (const plan::Region& r : f.regions)
      for (const plan::OpId id : r.ops) {
        const plan::Op& op = f.ops[id];
        for (const plan::ValueId v : op.operands) {
          if (v != params[i]) continue;
          if (!info(op.code).has_kernel() && op.code != Opcode::ToTensor) out[i] = ListRole::Read;
          if (out[i] == ListRole::Unused) out[i] = ListRole::Refreshed;
        }
      }
  }
  return out;
}

std::vector<Guard> guards_of(const plan::Function& f, const std::vector<RuntimeValue>& args,
                             const std::vector<ListRole>& roles, bool dynamic) {
  std::vector<Guard> out;
  const auto& params = f.regions[f.body].args;
  for (size_t i = 0; i < args.size() && i < params.size(); ++i) {
    const std::string& name = f.param_names[i];
    if (const auto* t = std::get_if<Tensor>(&args[i])) {
      out.push_back({CaptureReason::DType, name + ".dtype", std::string(dtype_name(t->dtype()))});
      out.push_back({CaptureReason::Shape, name + ".rank", std::to_string(t->view.rank)});
      for (uint32_t d = 0; d < t->view.rank; ++d) {
        const int64_t n = t->view.dim[d];
        out.push_back({dynamic && n < 2 ? CaptureReason::ZeroOne : CaptureReason::Shape,
                       fmt::format("{}.shape[{}]", name, d), std::to_string(n), dynamic && n >= 2});
      }
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&args[i])) {
      if (roles[i] == ListRole::Unused) continue;
      out.push_back({CaptureReason::ListLength, fmt::format("len({})", name), std::to_string(list->size())});
      // With dynamic a list that kernels alone read needs no guard: its values are refreshed.
      if (!dynamic || roles[i] == ListRole::Read)
        out.push_back({CaptureReason::HostList, name, fmt::format("[{}]", fmt::join(*list, ", ")), dynamic});
    } else if (const auto* n = std::get_if<int64_t>(&args[i])) {
      out.push_back({CaptureReason::HostValue, name, std::to_string(*n), dynamic});
    } else {
      out.push_back({CaptureReason::HostValue, name, text(args[i])});
    }
  }
  // What a script gives as a number is a constant of its function; a dynamic graph has a symbol in its place.
  for (const auto& [name, value] : f.fixed) out.push_back({CaptureReason::HostValue, name, value, dynamic});
  return out;
}

std::vector<std::pair<std::string, int64_t>> bindings_of(const plan::Program& program,
                                                         const plan::Function& f,
                                                         const std::vector<RuntimeValue>& args) {
  std::map<std::string, int64_t> out;
  const auto& params = f.regions[f.body].args;
  const auto bind = [&](const plan::Dim& dim, int64_t size) {
    if (const auto s = dim.as_symbol()) out.emplace(program.symbols[*s], size);
  };
  for (size_t i = 0; i < args.size() && i < params.size(); ++i) {
    const plan::Type& type = f.values[params[i]].type;
    if (const auto* n = std::get_if<int64_t>(&args[i]); n && type.kind == Kind::HostInt)
      bind(type.dims[0], *n);
    if (const auto* t = std::get_if<Tensor>(&args[i]); t && t->view.rank == type.rank())
      for (uint32_t d = 0; d < t->view.rank; ++d) bind(type.dims[d], t->view.dim[d]);
  }
  return {out.begin(), out.end()};
}

std::string key_text(const std::vector<Guard>& guards) {
  std::string out;
  for (const Guard& g : guards) out += fmt::format("{}={};", g.name, g.value);
  return out;
}

std::string constants_text(const std::vector<Guard>& guards) {
  std::string out;
  for (const Guard& g : guards) out += g.symbolic ? g.name + "=*;" : fmt::format("{}={};", g.name, g.value);
  return out;
}

const Guard* first_difference(const std::vector<Guard>& now, const std::vector<Guard>& before,
                              const Guard** old, bool constants_only) {
  for (const Guard& g : now)
    for (const Guard& b : before) {
      if (b.name != g.name || b.value == g.value) continue;
      if (constants_only && g.symbolic && b.symbolic) continue;
      *old = &b;
      return &g;
    }
  return nullptr;
}

}  // namespace skdsl::exec
