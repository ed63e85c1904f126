// phases — the model's phases, scripts and plain functions as functions of the program
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::DType;
using plan::Type;
using plan::ValueId;

Elaborator::Elaborator(const Modules& modules, const Options& options, diag::Engine& diags)
    : modules_(modules), options_(options), diags_(diags) {
  for (const DTypeName& n : kDTypeNames)
    if (n.torch == options.builtins.dtype) act_ = plan::dtype_of(n.type);
}

plan::Function& Elaborator::new_function(const std::string& name, plan::Phase phase, Span at) {
  plan::Function& fn = program_.functions.emplace_back();
  fn.name = name;
  fn.phase = phase;
  fn.loc = loc(at);
  fn.body = fn.add_region();
  return fn;
}

std::vector<ValueId> Elaborator::flatten_result(Frame& f, const Value& v, Span at) {
  std::vector<ValueId> out;
  if (v.is(Value::Kind::None)) return out;
  const auto add = [&](const Value& x) {
    const ValueId id = x.is(Value::Kind::List) ? to_tensor(f, x, at) : to_ir(f, x, at);
    if (id != plan::kNone) out.push_back(id);
  };
  if (v.is(Value::Kind::Tuple))
    for (const Value& x : v.items) add(x);
  else if (!v.poison())
    add(v);
  return out;
}

void Elaborator::finish_function(Frame& f, Span at) {
  for (const auto& [name, where] : f.builder->open_scopes)
    report(where, diag::Id::SuperKernelUnbalanced, fmt::format("scope `{}` is opened and never closed", name))
        .help(fmt::format("write `scope_end \"{}\"` in the same body", name));
  const auto ids = flatten_result(f, f.result, at);
  f.builder->fn->results.clear();
  for (const ValueId id : ids) f.builder->fn->results.push_back(type_of(f, id));
  emit(f, Opcode::Return, ids, {}, {}, at);
}

Value Elaborator::step_param(Builder& b, const std::string& name,
                             const std::function<Dim(std::string_view)>& size) {
  Value step = Value::make(Value::Kind::Step);
  const auto add = [&](std::string_view field, DType dtype, std::string_view dims_text) {
    std::vector<Dim> dims;
    for (std::string_view rest = dims_text; !rest.empty();) {
      const size_t comma = rest.find(", ");
      dims.push_back(size(rest.substr(0, comma)));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
    }
    const std::string full = name + "." + std::string(field);
    const ValueId id = b.fn->add_value(Type::tensor(dtype, std::move(dims)), full);
    b.fn->regions[b.fn->body].args.push_back(id);
    b.fn->param_names.push_back(full);
    step.items.edit().push_back(Value::ir(id));
  };
  const auto add_list = [&](std::string_view field) {
    if (step.items.size() >= phase_step_fields(b.phase)) return;
    const std::string full = name + "." + std::string(field);
    const ValueId id = b.fn->add_value(Type::host(plan::Kind::HostList), full);
    b.fn->regions[b.fn->body].args.push_back(id);
    b.fn->param_names.push_back(full);
    step.items.edit().push_back(Value::ir(id));
  };
#define SK_STEP_FIELD(field, dtype, dims, text) add(#field, DType::dtype, dims);
#define SK_STEP_LIST(field, of) add_list(#field);
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
  b.origins.resize(b.fn->values.size());
  return step;
}

/// A parameter of a function that the runtime calls, or that is checked without a caller: tensors of the
/// declared type.
Value Elaborator::root_param(Frame& f, NodeId param) {
  const ast::Ast& a = ast(f);
  const NodeId type = a.child(param, 0);
  const std::string name(a.text(param));
  Builder& b = *f.builder;
  if (a.kind(type) == Kind::TypeName && a.text(type) == "Step") {
    // T is the rows of the first vector parameter.
    Dim rows = Dim::symbol(program_.symbol("T"));
    for (const ValueId id : b.fn->regions[b.fn->body].args)
      if (type_of(f, id).rank() >= 1) {
        rows = type_of(f, id).dims[0];
        break;
      }
    return step_param(b, name, [&](std::string_view symbol) {
      return symbol == "T" ? rows : Dim::symbol(program_.symbol(symbol));
    });
  }
  if (a.kind(type) == Kind::TypeName) {
    const std::string_view word = a.text(type);
    if (word == "int") {  // any integer: a symbol of the run
      const plan::SymbolId s = program_.fresh_symbol(name);
      return Value::integer(Dim::symbol(s));
    }
    if (a.child(param, 1)) return eval(f, a.child(param, 1));
    return {};
  }
  const auto t = declared_tensor(f, type, true, DType::F32);
  if (!t) return {};
  const ValueId id = b.fn->add_value(*t, name);
  b.fn->regions[b.fn->body].args.push_back(id);
  b.fn->param_names.push_back(name);
  b.origins.resize(b.fn->values.size(), a.span(param));
  return Value::ir(id, a.span(param));
}

/// The phase `word` of a model or draft, from its declaration or from a `forward`, which serves both.
void Elaborator::build_root_phase(Instance* model, NodeId phase, std::string_view word) {
  const Module& m = modules_[model->decl.module];
  const ast::Ast& a = m.ast;
  const std::string_view declared = a.text(phase);
  const plan::Phase built = word == "decode" ? plan::Phase::Decode : plan::Phase::Prefill;
  const bool draft = a.kind(model->decl.node) == Kind::Draft;
  const plan::Phase of_function = !draft                         ? built
                                  : built == plan::Phase::Decode ? plan::Phase::DraftDecode
                                                                 : plan::Phase::DraftPrefill;
  const std::string what = fmt::format("`{}` of `{}`", declared, a.text(model->decl.node));
  plan::Function& fn =
      new_function(fmt::format("{}.{}", a.text(model->decl.node), word), of_function, a.span(phase));
  Builder b;
  b.fn = &fn;
  b.region = fn.body;
  b.phase = built;
  Frame f;
  f.module = model->decl.module;
  f.builder = &b;
  f.self = model;
  f.phase_word = declared;
  for (const NodeId p : a.children(a.child(phase, 0))) f.locals[std::string(a.text(p))] = root_param(f, p);
  // B and W are the runtime's words for requests and table columns.
  for (const char* symbol : {"B", "W"})
    if (!f.locals.contains(symbol)) f.locals[symbol] = Value::integer(Dim::symbol(program_.symbol(symbol)));
  exec_block(f, a.child(phase, 2));
  if (!check_result(f, a.child(phase, 1), phase, what)) return;
  finish_function(f, a.span(phase));
  if (of_function == plan::Phase::Decode && fn.results.size() >= 1 && fn.results[0].rank() >= 1 &&
      fn.results[0].dims.back().is_constant())
    out_.vocab_size = fn.results[0].dims.back().constant();
}

/// The phases of the model or of the draft; a draft's instances stand below its name.
void Elaborator::build_model(NodeId model) {
  const Module& m = modules_.main();
  const ast::Ast& a = m.ast;
  const bool draft = a.kind(model) == Kind::Draft;
  Frame f;
  Instance* instance =
      instantiate(f, {0, model}, {}, draft ? std::string(a.text(model)) : "", "", a.name_span(model));
  if (!instance) return;
  for (const std::string_view word : {"prefill", "decode"}) {
    if (decode_only_ && word == "prefill") continue;
    NodeId phase = phase_node(*instance, word);
    if (!phase) phase = phase_node(*instance, "forward");
    if (!phase) {
      report(a.name_span(model), diag::Id::NoPhase,
             fmt::format("{} `{}`", draft ? "draft" : "model", a.text(model)), word);
      continue;
    }
    build_root_phase(instance, phase, word);
  }
}

void Elaborator::build_script() {
  const Module& m = modules_.main();
  plan::Function& fn = new_function("main", plan::Phase::None, m.ast.span(m.ast.root));
  Builder b;
  b.fn = &fn;
  b.region = fn.body;
  Frame f;
  f.builder = &b;
  f.is_script = true;
  std::vector<NodeId> statements = m.script;
  if (line_) begin_line(f, statements);
  for (const NodeId s : statements) {
    if (ast::group(m.ast.kind(s)) == ast::Group::Decl) {
      report(m.ast.span(s), diag::Id::Misplaced,
             fmt::format("{} stands at top level", ast::name(m.ast.kind(s))));
      continue;
    }
    if (line_ && m.ast.kind(s) == Kind::ExprStmt)
      line_out_->shown = eval(f, m.ast.child(s, 0));
    else
      exec(f, s);
    if (f.returned) {
      report(m.ast.span(s), diag::Id::Misplaced, "`return` stands outside a function");
      break;
    }
    if (work_reported_) break;
  }
  f.result = Value::none();
  if (line_) end_line(f);
  finish_function(f, m.ast.span(m.ast.root));
  out_.has_script = true;
}

/// A function that nothing calls is checked with the symbols of its own signature.
void Elaborator::check_function(NodeId node) {
  const ast::Ast& a = modules_.main().ast;
  // What an integer or a flag decides is known at a call only; such functions are checked there.
  for (const NodeId p : a.children(a.child(node, 0)))
    if (const NodeId t = a.child(p, 0);
        a.kind(t) != Kind::TypeTensor && a.text(t) != "Step" && !a.child(p, 1))
      return;
  const size_t functions = program_.functions.size();
  const std::string name = "check." + std::string(a.text(node));
  plan::Function& fn = new_function(name, plan::Phase::None, a.span(node));
  Builder b;
  b.fn = &fn;
  b.region = fn.body;
  Frame f;
  f.builder = &b;
  bool ok = true;
  for (const NodeId p : a.children(a.child(node, 0))) {
    Value v = root_param(f, p);
    ok &= !v.poison();
    f.locals[std::string(a.text(p))] = std::move(v);
  }
  exec_block(f, a.child(node, 2));
  if (ok) check_result(f, a.child(node, 1), node, fmt::format("`{}`", a.text(node)));
  while (program_.functions.size() > functions) program_.functions.pop_back();
}

std::optional<Elaborated> Elaborator::run() {
  const Module& m = modules_.main();
  program_.files.clear();
  resolve_config();
  // Mistakes in the configuration would repeat in everything built on it.
  if (diags_.has_errors()) return {};
  for (const char* symbol : {"T", "B", "W"}) program_.symbol(symbol);
  for (const auto& [name, node] : m.decls)
    if (m.ast.kind(node) == Kind::Fn) {
      call_depth_ = 0;
      check_function(node);
    }
  out_.default_weights = default_weights_of(modules_);
  NodeId draft = 0;
  for (const NodeId node : m.ast.children(m.ast.root)) {
    if (m.ast.kind(node) == Kind::Replace)
      report(m.ast.name_span(node), diag::Id::RecordedOnly,
             fmt::format("replace `{}` is recorded only: nothing is computed from it", m.ast.text(node)));
    if (m.ast.kind(node) != Kind::Draft) continue;
    if (draft)
      report(m.ast.name_span(node), diag::Id::Misplaced, "a second `draft` stands in the file")
          .note(m.ast.name_span(draft), "the first one is here");
    else
      draft = node;
  }
  if (draft) {
    out_.draft = std::string(m.ast.text(draft));
    // Members of the draft stand below its name, those of the model below none.
    for (const NodeId member : m.model ? m.ast.children(m.model) : std::span<const NodeId>())
      if (m.ast.text(member) == out_.draft && m.ast.kind(member) != Kind::PhaseDecl)
        report(m.ast.name_span(member), diag::Id::DuplicateName, out_.draft)
            .note(m.ast.name_span(draft), "the draft has this name");
  }
  const bool script = !m.script.empty();
  if (script && options_.run_script) {
    build_script();
  } else if (m.model) {
    out_.model = std::string(m.ast.text(m.model));
    build_model(m.model);
    if (draft && options_.draft) build_model(draft);
  }
  program_.files.resize(1);
  for (uint32_t i = 1; i < diags_.sources().size(); ++i) program_.files.push_back(diags_.sources().name(i));
  if (diags_.has_errors()) return {};
  return std::move(out_);
}

std::optional<Elaborated> elaborate(const Modules& modules, const Options& options, diag::Engine& diags) {
  if (modules.size() == 0) return {};
  return Elaborator(modules, options, diags).run();
}

std::string default_weights_of(const Modules& modules) {
  const Module& m = modules.main();
  if (!m.model) return "";
  for (const NodeId n : m.ast.children(m.model))
    if (m.ast.kind(n) == Kind::DefaultWeights) return std::string(m.ast.text(n));
  return "";
}

bool declares_config(const Modules& modules, std::string_view key) {
  const Module& m = modules.main();
  if (!m.config) return false;
  const size_t dot = key.find('.');
  for (const NodeId n : m.ast.children(m.config)) {
    if (m.ast.kind(n) == Kind::ConfigEntry && (m.ast.text(n) == key || m.ast.text(n) == key.substr(0, dot)))
      return true;
    if (m.ast.kind(n) == Kind::ConfigGroup && m.ast.text(n) == key.substr(0, dot)) return true;
  }
  return false;
}

int64_t script_requests(const Modules& modules) {
  const Module& m = modules.main();
  int64_t most = 0;
  const std::function<void(NodeId)> walk = [&](NodeId n) {
    if (m.ast.kind(n) == Kind::Call && m.ast.text(m.ast.child(n, 0)) == "Step")
      for (const NodeId arg : m.ast.children(n).subspan(1))
        if (m.ast.kind(m.ast.child(arg, 0)) == Kind::List)
          most = std::max(most, static_cast<int64_t>(m.ast.children(m.ast.child(arg, 0)).size()));
    for (const NodeId c : m.ast.children(n)) walk(c);
  };
  for (const NodeId s : m.script) walk(s);
  return most;
}

}  // namespace skdsl::sema
