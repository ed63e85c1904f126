#include "compiler/lint/script_calls.h"

#include <algorithm>

namespace skdsl::lint {

std::vector<DecodeCall> decode_calls(const Context& c) {
  std::vector<DecodeCall> out;
  if (!c.function || c.function->name != "main") return out;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Call) continue;
    const auto& callee = std::get<std::string>(op.attrs[0]);
    const plan::Function* f = c.program->find(callee);
    if (!f || !plan::is_decode(f->phase)) continue;
    DecodeCall call;
    call.op = id;
    call.callee = f;
    call.decode = callee.substr(0, callee.find('#'));
    for (size_t i = 0; i < op.operands.size() && i < f->param_names.size(); ++i) {
      if (op.operands[i] == plan::kNone) continue;
      const plan::Type& type = c.function->values[op.operands[i]].type;
      if (!type.is_tensor()) continue;
      for (size_t axis = 0; axis < type.rank(); ++axis) {
        call.sizes.push_back(type.dims[axis].is_constant() ? type.dims[axis].constant() : -1);
        call.names.push_back(fmt::format("{}.shape[{}]", f->param_names[i], axis));
        if (call.sizes.size() == 1) call.rows = call.sizes[0];
        if (f->param_names[i].ends_with(".kv_len")) call.requests = call.sizes.back();
      }
    }
    call.gears =
        std::any_of(f->ops.begin(), f->ops.end(), [](const plan::Op& o) { return o.code == Opcode::Gears; });
    out.push_back(std::move(call));
  }
  return out;
}

bool comparable(const DecodeCall& a, const DecodeCall& b) {
  return a.decode == b.decode && a.names == b.names;
}

}  // namespace skdsl::lint
