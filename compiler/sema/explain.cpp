// explain — what a call that failed was most likely meant to be
//
// Only what works when it is tried becomes a fix. Trials make no reports; the first one that works wins, so
// likely ones come first: a value for the option that is wrong, then another order of the arguments, then
// another order of those of the layers that take part.
#include <algorithm>
#include <filesystem>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::Type;

namespace {

constexpr int kMaxTrials = 150;           // of one compilation
constexpr size_t kMaxExplained = 8;       // reports
constexpr const char* kTrialPath = "?";   // of instances that are made to try them
constexpr uint64_t kTrialWork = 200'000;  // evaluated nodes of one trial

}  // namespace

bool Elaborator::quietly(const std::function<bool()>& what) {
  if (++trials_ > kMaxTrials) return false;
  const diag::Engine::Quiet quiet(diags_);
  const uint64_t work = work_;
  const int depth = call_depth_;
  const size_t dropped = diags_.dropped();
  const bool ok = what() && diags_.dropped() == dropped && work_ - work < kTrialWork;
  work_ = work;
  call_depth_ = depth;
  return ok;
}

void Elaborator::explain_call(Frame& f, Span call, const std::vector<CallArg>& args, Instance* callee,
                              size_t first, const Works& works) {
  if (diags_.all().size() > kMaxExplained || work_reported_) return;
  while (first < diags_.all().size() && diags_.all()[first].severity != diag::Severity::Error) ++first;
  if (first >= diags_.all().size()) return;
  const diag::Diagnostic& d = diags_.all()[first];
  // A word in two spellings needs no other explanation.
  switch (d.id) {
    case diag::Id::UnknownName:
    case diag::Id::UnknownOp:
    case diag::Id::UnknownMember:
    case diag::Id::UnknownType:
    case diag::Id::UnknownArgument:
    case diag::Id::RecursiveCall:
    case diag::Id::DivisionByZero:
      return;
    default:
      break;
  }
  // What is right with the fix has nothing else to report.
  if (explain_values(f, call, args, first, works) || explain_order(args, first, works) ||
      explain_layers(f, args, callee, first, works))
    diags_.forget_from(first + 1);
}

bool Elaborator::explain_values(Frame& f, Span call, const std::vector<CallArg>& args, size_t first,
                                const Works& works) {
  const Span at = diags_.all()[first].span;
  size_t i = 0;
  while (i < args.size() && !(args[i].span == at && !args[i].name.empty())) ++i;
  if (i == args.size()) return false;
  if (!diags_.all()[first].fix.edits.empty() && diags_.all()[first].id == diag::Id::BadValue) return false;
  const std::string& name = args[i].name;
  const auto take = [&](Value value, const std::string& text) {
    std::vector<CallArg> others = args;
    others[i].value = std::move(value);
    if (!quietly([&] { return works(others, nullptr); })) return false;
    diags_.at(first).no_fix().did_you_mean(at, text);
    return true;
  };
  // A value of the same name is what most options are given.
  if (auto same = lookup(f, name, at); same && !same->poison() && !same->is(Value::Kind::Op) &&
                                       diags_.sources().text(at) != name && take(*same, name))
    return true;
  std::vector<CallArg> others = args;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
  if (quietly([&] { return works(others, nullptr); })) {
    // With the comma before it, or the one behind when it is the first.
    const std::string_view text = diags_.sources().text(call.file);
    Span gone{at.file, args[i].name_span.begin, at.end};
    const size_t before = text.find_last_not_of(" \t\n\r", gone.begin - 1);
    const size_t after = text.find_first_not_of(" \t\n\r", gone.end);
    if (before != std::string_view::npos && text[before] == ',') {
      gone.begin = static_cast<uint32_t>(before);
    } else if (after != std::string_view::npos && text[after] == ',') {
      gone.end = static_cast<uint32_t>(text.find_first_not_of(" \t\n\r", after + 1));
    }
    diags_.at(first).no_fix().help(fmt::format("without `{}` its default is taken", name)).fix(gone, "");
    return true;
  }
  for (const int64_t n : {1, 0, 2, 3, -1})
    if (take(Value::integer(n), fmt::format("{}", n))) return true;
  for (const bool b : {true, false})
    if (take(Value::boolean(b), b ? "true" : "false")) return true;
  return take(Value::real(1.0), "1.0");
}

bool Elaborator::explain_order(const std::vector<CallArg>& args, size_t first, const Works& works) {
  for (size_t gap = 1; gap < args.size(); ++gap)
    for (size_t i = 0; i + gap < args.size(); ++i) {
      const size_t j = i + gap;
      if (!args[i].name.empty() || !args[j].name.empty() || args[i].span.file == 0) continue;
      if (diags_.sources().text(args[i].span) == diags_.sources().text(args[j].span)) continue;
      std::vector<CallArg> others = args;
      std::swap(others[i].value, others[j].value);
      if (!quietly([&] { return works(others, nullptr); })) continue;
      diags_.at(first)
          .no_fix()
          .note(args[i].span, fmt::format("arguments {} and {} seem to be swapped", i + 1, j + 1))
          .note(args[j].span, "this is the other one")
          .help(fmt::format("with arguments {} and {} in the other order the call is right", i + 1, j + 1))
          .fix(args[i].span, std::string(diags_.sources().text(args[j].span)))
          .fix(args[j].span, std::string(diags_.sources().text(args[i].span)));
      return true;
    }
  return false;
}

Instance* Elaborator::producer(const Frame& f, const Value& v) const {
  if (!v.is(Value::Kind::Ir) || !f.builder) return nullptr;
  for (const plan::Op& op : f.builder->fn->ops)
    if (op.code == Opcode::Call &&
        std::find(op.results.begin(), op.results.end(), v.id) != op.results.end()) {
      const auto it = by_path_.find(op.path);
      return it == by_path_.end() ? nullptr : it->second;
    }
  return nullptr;
}

void Elaborator::note_made(diag::Engine::Builder& r, const Instance* instance) {
  const auto it = made_.find(instance);
  if (it == made_.end() || it->second.args.empty()) return;
  r.note(it->second.call, fmt::format("`{}` is made here", instance->path));
}

bool Elaborator::explain_layers(Frame& f, const std::vector<CallArg>& args, Instance* callee, size_t first,
                                const Works& works) {
  /// Tries instance `which` with two arguments in the other order.
  const auto remade = [&](Instance* which, const std::function<bool(Instance*)>& fits) {
    const auto it = made_.find(which);
    if (it == made_.end()) return false;
    const Made made = it->second;
    for (size_t i = 0; i + 1 < made.args.size(); ++i) {
      const CallArg &x = made.args[i], &y = made.args[i + 1];
      if (!x.name.empty() || !y.name.empty() || same(x.value, y.value)) continue;
      std::vector<CallArg> others = made.args;
      std::swap(others[i].value, others[i + 1].value);
      Instance* other = nullptr;
      const bool ok = quietly([&] {
        other = instantiate(f, which->decl, others, kTrialPath, which->prefix, made.call);
        return other != nullptr && fits(other);
      });
      if (!ok) continue;
      diags_.at(first)
          .no_fix()
          .note(x.span, fmt::format("arguments {} and {} seem to be swapped", i + 1, i + 2))
          .help(fmt::format("made with arguments {} and {} in the other order `{}` fits", i + 1, i + 2,
                            which->path))
          .fix(x.span, std::string(diags_.sources().text(y.span)))
          .fix(y.span, std::string(diags_.sources().text(x.span)));
      return true;
    }
    return false;
  };
  if (callee && remade(callee, [&](Instance* other) { return works(args, other); })) return true;
  for (size_t i = 0; i < args.size(); ++i) {
    Instance* const made_by = producer(f, args[i].value);
    if (!made_by) continue;
    // The call that made the value, with the operands that it had.
    std::vector<CallArg> given;
    size_t result = 0;
    for (const plan::Op& op : f.builder->fn->ops) {
      const auto it = std::find(op.results.begin(), op.results.end(), args[i].value.id);
      if (it == op.results.end()) continue;
      result = static_cast<size_t>(it - op.results.begin());
      for (const plan::ValueId id : op.operands) given.push_back({"", Value::ir(id), args[i].span, {}});
      break;
    }
    const bool fits = remade(made_by, [&](Instance* other) {
      const NodeId phase = resolve_phase(f, other, args[i].span);
      if (!phase) return false;
      Value v = call_instance(f, other, phase, given, args[i].span);
      if (v.is(Value::Kind::Tuple)) v = result < v.items.size() ? v.items[result] : Value{};
      if (v.poison()) return false;
      std::vector<CallArg> others = args;
      others[i].value = v;
      return works(others, callee);
    });
    if (fits) return true;
  }
  return false;
}

std::optional<std::vector<std::string>> Elaborator::sizes_for(Frame& f, NodeId type, const Type& actual) {
  const ast::Ast& a = ast(f);
  if (diags_.quiet() || !type || a.kind(type) != Kind::TypeTensor || trials_ > kMaxTrials) return {};
  // What is shipped inside the program is not for its user to change.
  if (f.module != 0 && !std::filesystem::exists(modules_[f.module].path)) return {};
  const auto old = a.children(type);
  const auto text_at = [&](NodeId n) { return std::string(diags_.sources().text(a.span(n))); };
  const auto value = [&](NodeId n) -> std::optional<Dim> {
    if (a.kind(n) == Kind::Name) {
      const auto v = lookup(f, a.text(n), a.span(n));
      return v && v->is(Value::Kind::Int) ? std::optional(v->dim) : std::nullopt;
    }
    std::optional<Dim> out;
    quietly([&] {
      const Value v = eval(f, n);
      if (v.is(Value::Kind::Int)) out = v.dim;
      return true;
    });
    --trials_;  // sizes are cheap
    return out;
  };
  // Sizes that other types of the file are written with, the nearest first.
  std::vector<NodeId> nearby;
  for (NodeId n = 1; n < a.size(); ++n)
    if (a.kind(n) == Kind::TypeTensor && n != type)
      for (const NodeId d : a.children(n)) nearby.push_back(d);
  const auto distance = [&](NodeId n) {
    const uint32_t x = a.span(n).begin, y = a.span(type).begin;
    return x < y ? y - x : x - y;
  };
  std::stable_sort(nearby.begin(), nearby.end(),
                   [&](NodeId x, NodeId y) { return distance(x) < distance(y); });
  if (nearby.size() > 40) nearby.resize(40);
  std::vector<std::string> sizes;
  size_t next = 0;  // of the old sizes
  for (size_t i = 0; i < actual.dims.size(); ++i) {
    const Dim& want = actual.dims[i];
    std::string word;
    const auto matches = [&](NodeId n) {
      const auto v = value(n);
      return v && *v == want;
    };
    if (old.size() == actual.dims.size()) {
      if (matches(old[i])) word = text_at(old[i]);
    } else {
      for (size_t k = next; k < old.size() && word.empty(); ++k)
        if (matches(old[k])) {
          word = text_at(old[k]);
          next = k + 1;
        }
    }
    for (size_t k = 0; k < nearby.size() && word.empty(); ++k)
      if (matches(nearby[k])) word = text_at(nearby[k]);
    if (word.empty() && want.is_constant()) word = fmt::format("{}", want.constant());
    if (word.empty())
      for (const auto& [local, v] : f.locals)
        if (v.is(Value::Kind::Int) && v.dim == want && is_symbol_name(local)) word = local;
    // A size that has no name here yet gets that of its symbol, or one that is free.
    if (const auto symbol = want.as_symbol(); word.empty() && symbol) {
      if (!unbacked_.contains(*symbol) && is_symbol_name(program_.text(want))) word = program_.text(want);
      for (const char* free : {"N", "M", "K", "L"})
        if (word.empty() && !lookup(f, free, {}) &&
            std::find(sizes.begin(), sizes.end(), free) == sizes.end())
          word = free;
    }
    if (word.empty()) return {};
    sizes.push_back(std::move(word));
  }
  return sizes;
}

void Elaborator::note_declared(const Frame& f, const std::vector<plan::ValueId>& operands, size_t first) {
  for (const plan::ValueId id : operands) {
    if (id == plan::kNone) continue;
    for (const plan::Op& op : f.builder->fn->ops) {
      if (op.code != Opcode::Weight && op.code != Opcode::State) continue;
      if (std::find(op.results.begin(), op.results.end(), id) == op.results.end()) continue;
      const auto* const path = std::get_if<std::string>(&op.attrs[0]);
      if (const auto it = path ? declared_at_.find(*path) : declared_at_.end(); it != declared_at_.end())
        diags_.at(first).note(it->second, fmt::format("`{}` is declared here", *path));
    }
  }
}

void Elaborator::suggest_alone(Frame& f, NodeId size, size_t first) {
  const ast::Ast& a = ast(f);
  if (diags_.quiet() || diags_.all().size() <= first || a.kind(size) != Kind::Binary) return;
  const diag::Diagnostic& d = diags_.all()[first];
  const std::string word(diags_.sources().text(d.span));
  if (d.id != diag::Id::UnknownName || !is_symbol_name(word)) return;
  diags_.at(first)
      .no_fix()
      .help(fmt::format("a size that a signature names first stands alone: `{}`", word))
      .fix(a.span(size), word);
}

bool Elaborator::told_misfit(const Frame& f, NodeId type,
                             const std::optional<std::vector<std::string>>& sizes) {
  return sizes && !told_types_.insert({{f.module, type}, *sizes}).second;
}

void Elaborator::suggest_type(diag::Engine::Builder& r, Frame& f, NodeId type,
                              const std::optional<std::vector<std::string>>& sizes, const Type& actual) {
  if (!sizes) return;
  const ast::Ast& a = ast(f);
  const auto declared = dtype_named(f, type);
  std::string dtype(a.text(type));
  if (declared && *declared != actual.dtype && *declared != plan::DType::Stored)
    dtype = actual.dtype == act_ ? "act" : std::string(plan::name(actual.dtype));
  const std::string text = fmt::format("{}[{}]", dtype, fmt::join(*sizes, ", "));
  r.help(fmt::format("the value would fit `{}`", text));
  const auto old = a.children(type);
  if (dtype != a.text(type) || old.size() != sizes->size()) {
    r.fix(a.span(type), text);
    return;
  }
  bool noted = false;
  for (size_t i = 0; i < old.size(); ++i) {
    if (diags_.sources().text(a.span(old[i])) == (*sizes)[i]) continue;
    if (!noted) r.note(a.span(old[i]), fmt::format("`{}` would fit here", (*sizes)[i]));
    noted = true;
    r.fix(a.span(old[i]), (*sizes)[i]);
  }
}

}  // namespace skdsl::sema
