#include "cli/repl/statements.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "cli/repl/document.h"
#include "cli/repl/show.h"
#include "compiler/passes/pass.h"
#include "runtime/model/session.h"
#include "runtime/model/weights.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;
using sema::Value;

namespace {

bool holds_tensor(const Value& v) {
  return v.is(Value::Kind::Ir) || std::any_of(v.items.begin(), v.items.end(), holds_tensor);
}

sema::Names statics_of(const sema::Names& names) {
  sema::Names out;
  for (const auto& [name, value] : names)
    if (!holds_tensor(value)) out.emplace(name, value);
  return out;
}

/// Numbers of the run become static values; tensors are numbered anew in `tensors`.
void settle(Value& v, const std::vector<exec::RuntimeValue>& results,
            const std::function<plan::ValueId(const Tensor&)>& keep) {
  if (v.is(Value::Kind::Ir)) {
    const exec::RuntimeValue& r = results.at(v.id);
    if (const auto* t = std::get_if<Tensor>(&r))
      v.id = keep(*t);
    else if (const auto* n = std::get_if<int64_t>(&r))
      v = Value::integer(*n);
    else if (const auto* x = std::get_if<double>(&r))
      v = Value::real(*x);
    else if (const auto* b = std::get_if<bool>(&r))
      v = Value::boolean(*b);
    else if (const auto* l = std::get_if<std::vector<int64_t>>(&r)) {
      std::vector<Value> items;
      for (const int64_t i : *l) items.push_back(Value::integer(i));
      v = Value::list(std::move(items));
    }
    return;
  }
  if (v.items.empty()) return;
  for (Value& item : v.items.edit()) settle(item, results, keep);
}

template <class Wanted>
bool any_op(const plan::Program& program, Wanted wanted) {
  for (const plan::Function& f : program.functions)
    for (const plan::Op& op : f.ops)
      if (wanted(op)) return true;
  return false;
}

void targets(const ast::Ast& a, NodeId node, std::vector<std::string>& out) {
  const auto add = [&](NodeId t) {
    if (a.kind(t) == Kind::Name) out.emplace_back(a.text(t));
    if (a.kind(t) == Kind::Tuple)
      for (const NodeId c : a.children(t))
        if (a.kind(c) == Kind::Name) out.emplace_back(a.text(c));
  };
  if (a.kind(node) == Kind::Assign) add(a.child(node, 0));
  if (a.kind(node) == Kind::Binding) out.emplace_back(a.text(node));
  for (const NodeId c : a.children(node))
    if (c) targets(a, c, out);
}

/// The text of a file without its top-level statements; lines stay where they are.
std::string declarations_of(const std::string& text) {
  const Document d(text);
  std::string out = text;
  for (const NodeId node : d.ast().children(d.ast().root)) {
    if (ast::group(d.ast().kind(node)) == ast::Group::Decl) continue;
    const Span s = d.ast().span(node);
    for (uint32_t i = s.begin; i < s.end; ++i)
      if (out[i] != '\n') out[i] = ' ';
  }
  return out;
}

std::string name_of(const Document& d, NodeId node) {
  const Kind k = d.ast().kind(node);
  if (k == Kind::Config) return "config";
  if (k == Kind::Import) return "import " + std::string(d.ast().text(node));
  return std::string(d.ast().text(node));
}

}  // namespace

std::string Statements::source(const std::string& first, const World& world) const {
  std::string out = first + "\n";
  for (const Definition& d : now_.definitions) out += d.text + "\n";
  out += declarations_of(world.text) + "\n";
  for (const Replay& r : now_.replays) out += r.text + "\n";
  return out;
}

Expected<std::vector<exec::RuntimeValue>> Statements::call(sema::ElaboratedLine& line, const Prepared& p) {
  plan::Program& program = line.elaborated.program;
  const sk_dtype stored = synthetic_dtype(p);
  // Only what no line before has loaded.
  plan::Program fresh;
  fresh.symbols = program.symbols;
  for (const plan::WeightDecl& w : program.weights)
    if (!now_.weights.contains(w.path)) fresh.weights.push_back(w);
  if (!fresh.weights.empty()) {
    model::WeightOptions wo;
    wo.synthetic_seed = p.synthetic_seed;
    wo.synthetic_dtype = stored;
    auto weights =
        model::Weights::load(fresh, p.checkpoint && !p.synthetic_seed ? &*p.checkpoint : nullptr, wo);
    if (!weights && !p.synthetic_seed) {
      // A layer made alone has no place in a checkpoint of a whole model.
      wo.synthetic_seed = 0;
      weights = model::Weights::load(fresh, nullptr, wo);
      context_.out.flush();
      if (weights)
        context_.err << fmt::format(
            "info: `{}` is not in {}: new weights of this line are synthetic (seed 0)\n",
            fresh.weights.front().path, p.weights_folder);
    }
    if (!weights) return tl::unexpected(weights.error());
    for (const plan::WeightDecl& w : fresh.weights) now_.weights[w.path] = *weights->find(w.path);
  }
  model::SessionOptions so;
  so.interrupt = &interrupt_;
  so.print = [this](std::string_view text) { context_.out << text; };
  const bool writes = any_op(program, [](const plan::Op& op) { return info(op.code).has(kInPlace); });
  const bool states = any_op(
      program, [](const plan::Op& op) { return op.code == Opcode::State || op.code == Opcode::StateAssign; });
  auto session = model::Session::create(
      program,
      [this](const std::string& path) -> const Tensor* {
        const auto it = now_.weights.find(path);
        return it == now_.weights.end() ? nullptr : &it->second;
      },
      std::move(so));
  if (!session) return tl::unexpected(session.error());
  if (states)
    for (auto& [path, fresh] : (*session)->bindings().states) {
      const auto it = now_.states.find(path);
      if (it != now_.states.end() && it->second.shape() == fresh.shape() &&
          it->second.dtype() == fresh.dtype())
        fresh = copy_of(it->second);
    }
  std::vector<exec::RuntimeValue> args;
  // What is written in place is written to copies, so that a failing line leaves no trace.
  for (const Tensor& t : now_.tensors) args.emplace_back(writes ? copy_of(t) : t);
  auto results = (*session)->call("main", std::move(args));
  if (!results) return results;
  if (states)
    for (auto& [path, t] : (*session)->bindings().states) now_.states[path] = copy_of(t);
  // Results may stand in memory of the session.
  for (exec::RuntimeValue& r : *results)
    if (auto* t = std::get_if<Tensor>(&r)) {
      const auto same = std::find_if(now_.tensors.begin(), now_.tensors.end(), [&](const Tensor& x) {
        return x.view.data == t->view.data && x.shape() == t->shape() && t->contiguous();
      });
      *t = same == now_.tensors.end() ? copy_of(*t) : *same;
    }
  return results;
}

bool Statements::execute(const std::string& source, const World& world, bool show_values,
                         sema::ElaboratedLine* left) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  const std::filesystem::path folder = std::filesystem::path(world.options.file).parent_path();
  modules.load_text((folder / "<input>").string(), source);
  const auto told = [&] {
    context_.out.flush();
    return report(diags, context_);
  };
  if (diags.has_errors()) {
    told();
    return false;
  }
  ModelOptions options = world.options;
  options.mode = "eager";
  now_.requests = std::max(now_.requests, sema::script_requests(modules));
  auto prepared = prepare(modules, options, now_.requests);
  if (!prepared) {
    context_.out.flush();
    report_failure(prepared.error(), diags, context_);
    return false;
  }
  sema::Line line;
  line.names = now_.names;
  for (const Tensor& t : now_.tensors) {
    std::vector<plan::Dim> dims;
    for (const int64_t n : t.shape()) dims.emplace_back(n);
    line.inputs.push_back(plan::Type::tensor(plan::dtype_of(t.dtype()), std::move(dims)));
  }
  for (const Replay& r : now_.replays) line.replays.push_back(r.statics);
  auto elaborated = sema::elaborate_line(modules, prepared->compile.sema, line, diags);
  if (!elaborated || !passes::run(elaborated->elaborated.program, prepared->compile.passes, diags) ||
      diags.has_errors()) {
    told();
    return false;
  }
  auto results = call(*elaborated, *prepared);
  told();
  if (!results) {
    context_.out.flush();
    report(results.error(), context_);
    return false;
  }
  std::vector<Tensor> tensors;
  const auto keep = [&](const Tensor& t) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].view.data == t.view.data && tensors[i].shape() == t.shape())
        return static_cast<plan::ValueId>(i);
    tensors.push_back(t);
    return static_cast<plan::ValueId>(tensors.size() - 1);
  };
  now_.names.clear();
  for (auto& [name, value] : elaborated->names) {
    settle(value, *results, keep);
    now_.names.emplace(name, std::move(value));
  }
  now_.tensors = std::move(tensors);
  if (show_values) {
    std::vector<Tensor> shown;
    settle(elaborated->shown, *results, [&](const Tensor& t) {
      shown.push_back(t);
      return static_cast<plan::ValueId>(shown.size() - 1);
    });
    if (!elaborated->shown_text.empty())
      context_.out << elaborated->shown_text << '\n';
    else if (!elaborated->shown.is(Value::Kind::None))
      context_.out << show(elaborated->shown, shown) << '\n';
  }
  *left = std::move(*elaborated);
  return true;
}

bool Statements::statement(const std::string& text, const std::vector<std::string>& assigned, bool plain,
                           const World& world) {
  const sema::Names before = statics_of(now_.names);
  sema::ElaboratedLine left;
  if (!execute(source(text, world), world, true, &left)) return false;
  std::vector<std::string> layers;
  for (const std::string& name : assigned)
    if (left.unkept.contains(name)) layers.push_back(name);
  if (layers.empty()) return true;
  if (!plain || left.works) {
    context_.out.flush();
    for (const std::string& name : layers)
      context_.err << fmt::format(
          "warning: `{}` is not kept: layers and weights are kept by a plain `name = ...` that computes "
          "nothing else\n",
          name);
    return true;
  }
  std::string bare = text;
  bare.erase(0, bare.find_first_not_of(" \n"));
  now_.replays.push_back({std::move(bare), std::move(layers), before});
  return true;
}

bool Statements::run(const std::string& input, uint32_t line, const World& world) {
  const Document d(input);
  if (d.broken()) {
    // Again under the name and at the place that messages tell.
    source::Sources sources;
    diag::Engine diags(sources);
    sema::Modules modules(diags);
    modules.load_text("<input>", std::string(line - 1, '\n') + input);
    context_.out.flush();
    report(diags, context_);
    return false;
  }
  const State saved = now_;
  for (const NodeId node : d.ast().children(d.ast().root)) {
    const Span s = d.ast().span(node);
    const std::string text(d.text(s));
    const Loc at = [&] {
      const std::string_view before = std::string_view(input).substr(0, s.begin);
      const size_t start = before.rfind('\n');
      return Loc{
          1, line + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')),
          static_cast<uint32_t>(start == std::string_view::npos ? before.size() : before.size() - start - 1),
          0};
    }();
    const std::string placed = std::string(at.line - 1, '\n') + std::string(at.column, ' ') + text;
    bool good = true;
    if (ast::group(d.ast().kind(node)) == ast::Group::Decl) {
      const std::string name = name_of(d, node);
      std::erase_if(now_.definitions, [&](const Definition& x) { return x.name == name; });
      now_.weights.clear();
      sema::ElaboratedLine left;
      good = execute(source(placed + "\n0", world), world, false, &left);
      if (good) now_.definitions.push_back({name, text});
    } else {
      std::vector<std::string> assigned;
      const Kind kind = d.ast().kind(node);
      targets(d.ast(), node, assigned);
      good = statement(placed, assigned, kind == Kind::Assign || kind == Kind::Let, world);
      const bool value = kind == Kind::ExprStmt && !text.starts_with("print(") && !text.starts_with("dump ");
      now_.log.push_back(value ? "print(" + text + ")" : text);
    }
    if (!good) {
      now_ = saved;
      return false;
    }
  }
  context_.out.flush();
  return true;
}

std::vector<std::string> Statements::names() const {
  std::set<std::string> out;
  for (const auto& [name, value] : now_.names) out.insert(name);
  for (const Replay& r : now_.replays) out.insert(r.names.begin(), r.names.end());
  for (const Definition& d : now_.definitions)
    if (d.name != "config" && !d.name.starts_with("import ")) out.insert(d.name);
  return {out.begin(), out.end()};
}

std::string Statements::list() const {
  std::string out;
  for (const auto& [name, value] : now_.names) {
    std::string text = value.is(Value::Kind::Ir) && value.id < now_.tensors.size()
                           ? describe(now_.tensors[value.id].view)
                           : show(value, now_.tensors);
    text = text.substr(0, text.find('\n'));
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    out += fmt::format("  {:<12} {}\n", name, text);
  }
  for (const Replay& r : now_.replays)
    for (const std::string& name : r.names)
      if (!now_.names.contains(name)) out += fmt::format("  {:<12} {}\n", name, r.text.substr(0, 60));
  for (const Definition& d : now_.definitions)
    out += fmt::format("  {:<12} {}\n", d.name, d.text.substr(0, std::min<size_t>(d.text.find('\n'), 60)));
  return out;
}

std::string Statements::program() const {
  std::string out;
  for (const Definition& d : now_.definitions) out += d.text + "\n";
  for (const std::string& line : now_.log) out += line + "\n";
  return out;
}

void Statements::clear() { now_ = {}; }

}  // namespace skdsl::cli::repl
