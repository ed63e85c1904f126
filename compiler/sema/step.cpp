// step — `Step(kv_len = […])` and `print(…)`: what scripts have instead of the runtime's loop
#include <functional>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using plan::ValueId;

Value Elaborator::call_print(Frame& f, std::vector<CallArg> args, Span at) {
  // Values known now become text; the others are filled in by the run at {}.
  std::string format;
  std::vector<ValueId> operands;
  bool ok = true;
  const std::function<void(const Value&, Span)> add = [&](const Value& v, Span where) {
    if (v.is(Value::Kind::List) || v.is(Value::Kind::Tuple)) {
      format += v.is(Value::Kind::List) ? '[' : '(';
      for (size_t i = 0; i < v.items.size(); ++i) {
        if (i) format += ", ";
        add(v.items[i], where);
      }
      format += v.is(Value::Kind::List) ? ']' : ')';
    } else if (v.is(Value::Kind::Ir) || v.is(Value::Kind::Weight) || v.is(Value::Kind::State) ||
               (v.is(Value::Kind::Int) && !v.dim.is_constant())) {
      const ValueId id = to_ir(f, v, where);
      ok &= id != plan::kNone;
      operands.push_back(id);
      format += "{}";
    } else {
      const bool shown = v.is(Value::Kind::Int) || v.is(Value::Kind::Float) || v.is(Value::Kind::Bool) ||
                         v.is(Value::Kind::Str) || v.is(Value::Kind::DType) || v.is(Value::Kind::Dict) ||
                         v.is(Value::Kind::None);
      for (const char c : shown ? text_of(v) : describe(&f, v))
        format += c == '{' ? "{{" : c == '}' ? "}}" : std::string(1, c);
    }
  };
  for (const CallArg& a : args) {
    if (&a != &args.front()) format += ' ';
    add(a.value, a.span);
  }
  if (!ok) return {};
  if (f.builder->const_only) {
    report(at, diag::Id::ConstNotPure, f.builder->const_name, "`print`");
    return {};
  }
  emit(f, Opcode::Print, std::move(operands), {format}, {}, at);
  return Value::none();
}

Value Elaborator::make_step(Frame& f, std::vector<CallArg> args, Span at) {
  if (!f.builder) return {};
  std::optional<std::vector<int64_t>> kv, q;
  const auto ints = [&](const CallArg& a) -> std::optional<std::vector<int64_t>> {
    if (!a.value.is(Value::Kind::List)) {
      report(a.span, diag::Id::TypeMismatch, fmt::format("`{}` of Step", a.name), describe(&f, a.value),
             "a list of integers");
      return {};
    }
    std::vector<int64_t> out;
    for (const Value& v : a.value.items) {
      const auto i = constant_int(v, a.span, fmt::format("`{}` of Step", a.name));
      if (!i) return {};
      out.push_back(*i);
    }
    return out;
  };
  for (CallArg& a : args) {
    if (a.name.empty()) a.name = "kv_len";
    if (a.name == "kv_len" || a.name == "actual_seq_lengths_kv") {
      kv = ints(a);
      if (!kv) return {};
    } else if (a.name == "q_len" || a.name == "actual_seq_lengths_q") {
      q = ints(a);
      if (!q) return {};
    } else {
      auto r = report(a.name_span, diag::Id::UnknownArgument, "`Step`", a.name);
      const std::string near =
          diag::nearest(a.name, {"kv_len", "q_len", "actual_seq_lengths_kv", "actual_seq_lengths_q"});
      if (near.empty())
        r.help("it takes kv_len = […] and q_len = […]");
      else
        r.did_you_mean(a.name_span, near);
      return {};
    }
  }
  if (!kv) {
    report(at, diag::Id::MissingArgument, "`Step`", "kv_len");
    return {};
  }
  if (kv->empty()) {
    report(at, diag::Id::BadValue, "Step has no requests")
        .help("give one length for each: Step(kv_len = [5, 3])");
    return {};
  }
  const config::Builtins& built = options_.builtins;
  if (!q) q = std::vector<int64_t>(kv->size(), 1);
  const int64_t width = (built.max_seq_len + built.block_size - 1) / built.block_size;
  const int64_t blocks = builtin_value("kv_blocks").dim.constant();
  bool ok = q->size() == kv->size();
  if (!ok)
    report(at, diag::Id::BadValue,
           fmt::format("Step has {} kv_len and {} q_len; one each for every request", kv->size(), q->size()));
  for (size_t i = 0; ok && i < kv->size(); ++i) {
    if ((*kv)[i] < 0 || (*q)[i] < 0 || ((*kv)[i] > 0 && (*q)[i] > (*kv)[i]) || (*kv)[i] > built.max_seq_len) {
      report(at, diag::Id::BadValue,
             fmt::format(
                 "request {} of Step has kv_len {} and q_len {}; 0 <= q_len <= kv_len <= max_seq_len ({})", i,
                 (*kv)[i], (*q)[i], built.max_seq_len));
      ok = false;
    }
  }
  const int64_t needed = 1 + static_cast<int64_t>(kv->size()) * width;
  if (ok && needed > blocks) {
    report(at, diag::Id::BadValue,
           fmt::format("Step has {} requests, which need {} cache blocks; there are {}", kv->size(), needed,
                       blocks))
        .help(fmt::format("--set batch_size={} makes room", kv->size()));
    ok = false;
  }
  if (!ok) return {};
  std::vector<Value> position, slot, table, cu_q, cu_kv, q_list, kv_list;
  int64_t sum_q = 0, sum_kv = 0;
  const auto push = [](std::vector<Value>& out, int64_t v) { out.push_back(Value::integer(v)); };
  for (size_t b = 0; b < kv->size(); ++b) {
    const int64_t first_block = 1 + static_cast<int64_t>(b) * width;
    for (int64_t r = 0; r < (*q)[b]; ++r) {
      const int64_t p = (*kv)[b] - (*q)[b] + r;
      const bool writes = (*kv)[b] > 0;  // a padding row writes nothing
      push(position, writes ? p : 0);
      push(slot,
           writes ? (first_block + p / built.block_size) * built.block_size + p % built.block_size : -1);
    }
    std::vector<Value> row;
    for (int64_t w = 0; w < width; ++w) push(row, w * built.block_size < (*kv)[b] ? first_block + w : 0);
    table.push_back(Value::list(std::move(row)));
    push(q_list, (*q)[b]);
    push(kv_list, (*kv)[b]);
    push(cu_q, sum_q += (*q)[b]);
    push(cu_kv, sum_kv += (*kv)[b]);
  }
  Value step = Value::make(Value::Kind::Step);
  for (std::vector<Value>* field : {&position, &slot, &table, &kv_list, &q_list, &kv_list, &cu_q, &cu_kv}) {
    const ValueId id = to_tensor(f, Value::list(*field), at, plan::DType::I32);
    if (id == plan::kNone) return {};
    step.items.edit().push_back(Value::ir(id, at));
  }
  // A decode of npugraph_ex may read the lengths as host lists.
  if (options_.builtins.exe_mode == kCaptureMode) {
    const auto add_list = [&](std::string_view of) {
      for (size_t k = 0; k < std::size(kStepFields); ++k)
        if (kStepFields[k].name == of) {
          step.items.edit().push_back(emit_inferred(f, Opcode::ToList, {step.items[k].id}, {}, at, {}, {}));
          return;
        }
    };
#define SK_STEP_FIELD(field, dtype, dims, text)
#define SK_STEP_LIST(field, of) add_list(#of);
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
  }
  step.origin = at;
  return step;
}

}  // namespace skdsl::sema
