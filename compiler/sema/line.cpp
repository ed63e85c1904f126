#include "compiler/sema/line.h"

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::NodeId;
using plan::ValueId;

namespace {

/// Whether a value means something beyond the elaboration that made it.
bool outlives(const Value& v) {
  switch (v.kind) {
    case Value::Kind::Poison:
    case Value::Kind::Weight:
    case Value::Kind::State:
    case Value::Kind::Event:
    case Value::Kind::Instance:
    case Value::Kind::Decl:
    case Value::Kind::Method:
    case Value::Kind::Group:
    case Value::Kind::TensorMethod:
      return false;
    default:
      break;
  }
  for (const Value& item : v.items)
    if (!outlives(item)) return false;
  return true;
}

template <class Number>
void renumber(Value& v, const Number& number) {
  if (v.is(Value::Kind::Ir)) v.id = number(v.id);
  v.origin = {};
  if (v.items.empty()) return;
  for (Value& item : v.items.edit()) renumber(item, number);
}

}  // namespace

/// The inputs as parameters of the script, the replayed statements, and the names. `statements` keeps the new
/// ones.
void Elaborator::begin_line(Frame& f, std::vector<NodeId>& statements) {
  plan::Function& fn = *f.builder->fn;
  std::vector<ValueId> inputs;
  for (const plan::Type& type : line_->inputs) {
    inputs.push_back(fn.add_value(type, fmt::format("input{}", inputs.size())));
    fn.regions[fn.body].args.push_back(inputs.back());
    fn.param_names.push_back(fmt::format("input{}", inputs.size() - 1));
  }
  f.builder->origins.resize(fn.values.size());
  const size_t replays = std::min(line_->replays.size(), statements.size()),
               first = statements.size() - replays;
  for (size_t i = 0; i < replays; ++i) {
    for (const auto& [name, value] : line_->replays[i]) f.locals[name] = value;
    exec(f, statements[first + i]);
  }
  statements.resize(first);
  for (const auto& [name, value] : line_->names) {
    Value v = value;
    renumber(v, [&](ValueId id) { return inputs.at(id); });
    f.locals[name] = std::move(v);
  }
}

/// What the names stand for becomes the result of the script.
void Elaborator::end_line(Frame& f) {
  ElaboratedLine& out = *line_out_;
  out.works = !f.builder->fn->ops.empty();
  std::vector<Value> results;
  const auto keep = [&](Value& v) {
    renumber(v, [&](ValueId id) {
      results.push_back(Value::ir(id));
      return static_cast<ValueId>(results.size() - 1);
    });
  };
  Value& shown = out.shown;
  if (shown.is(Value::Kind::Weight) || shown.is(Value::Kind::State)) shown = Value::ir(to_ir(f, shown, {}));
  if (shown.poison()) {
    shown = Value::none();
  } else if (!outlives(shown)) {
    out.shown_text = describe(&f, shown);
    shown = Value::none();
  }
  keep(shown);
  for (const auto& [name, value] : f.locals) {
    if (!outlives(value)) {
      out.unkept.insert(name);
      continue;
    }
    keep(out.names[name] = value);
  }
  out.results = results.size();
  f.result = Value::list(std::move(results), Value::Kind::Tuple);
}

std::optional<Elaborated> Elaborator::run_line(const Line& line, ElaboratedLine& out) {
  line_ = &line;
  line_out_ = &out;
  return run();
}

std::optional<Elaborated> Elaborator::run_decode() {
  decode_only_ = true;
  return run();
}

std::optional<ElaboratedLine> elaborate_line(const Modules& modules, const Options& options, const Line& line,
                                             diag::Engine& diags) {
  if (modules.size() == 0) return {};
  ElaboratedLine out;
  auto elaborated = Elaborator(modules, options, diags).run_line(line, out);
  if (!elaborated) return {};
  out.elaborated = std::move(*elaborated);
  return out;
}

std::optional<Elaborated> elaborate_decode(const Modules& modules, const Options& options,
                                           diag::Engine& diags) {
  if (modules.size() == 0) return {};
  return Elaborator(modules, options, diags).run_decode();
}

}  // namespace skdsl::sema
