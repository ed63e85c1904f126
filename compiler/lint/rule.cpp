#include "compiler/lint/rule.h"

#include <array>

#include "compiler/lint/edit.h"

namespace skdsl::lint {

using namespace plan;

namespace {
constexpr bool Open = false, Locked = true;
constexpr Rule kRules[] = {
#define SK_LINT_COMPILER(Row, lock) {diag::Id::Row, Needs::Compiler, lock, nullptr},
#define SK_LINT_RULE(Row, function, needs, lock) {diag::Id::Row, Needs::needs, lock, rules_impl::function},
#include "compiler/lint/rules.def"
};
}  // namespace

std::string_view name(Needs needs) {
  constexpr std::string_view kNames[] = {"compiler", "text", "tree", "config", "program", "plan"};
  return kNames[static_cast<size_t>(needs)];
}

std::span<const Rule> rules() { return kRules; }

const Rule* find(diag::Id id) {
  static const auto kIndex = [] {
    std::array<const Rule*, static_cast<size_t>(diag::Id::kCount)> index{};
    for (const Rule& r : kRules) index[static_cast<size_t>(r.id)] = &r;
    return index;
  }();
  return id < diag::Id::kCount ? kIndex[static_cast<size_t>(id)] : nullptr;
}

std::string Context::describe(OpId id) const {
  const Op& o = op(id);
  return o.path.empty() || o.loc.file == file ? fmt::format("`{}`", info(o.code).name)
                                              : fmt::format("`{}` of `{}`", info(o.code).name, o.path);
}

Span Context::place(OpId id) const {
  const Op& o = op(id);
  if (o.loc.file == file || !calls) return span(o.loc);
  for (std::string path = o.path; !path.empty();
       path.resize(path.rfind('.') == std::string::npos ? 0 : path.rfind('.')))
    if (const auto it = calls->find(path); it != calls->end() && it->second.file == file)
      return span(it->second);
  return span(o.loc);
}

std::string_view Context::written_name(OpId id) const {
  const Span where = place(id);
  const ast::NodeId statement = statement_at(*this, where);
  if (!statement || ast().kind(statement) != ast::Kind::Assign) return {};
  const ast::NodeId target = ast().child(statement, 0);
  return ast().kind(target) == ast::Kind::Name && ast().span(ast().child(statement, 1)) == where
             ? ast().text(target)
             : std::string_view();
}

std::string_view Context::event(OpId id) const {
  std::string_view text = sources.text(span(op(id).loc));
  for (const std::string_view word : {"record", "wait"})
    if (text.starts_with(word)) text.remove_prefix(word.size());
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

const plan::Context* Context::around(OpId id, plan::Context::Kind kind) const {
  for (ContextId c = op(id).context; c != kNone; c = program->contexts[c].parent)
    if (program->contexts[c].kind == kind) return &program->contexts[c];
  return nullptr;
}

Context::Cores Context::cores(OpId id) const {
  Cores out{chip.aic, chip.aiv, false};
  bool aic = false, aiv = false;
  for (ContextId c = op(id).context; c != kNone; c = program->contexts[c].parent) {
    if (program->contexts[c].kind != plan::Context::Kind::Cores) continue;
    out.limited = true;
    for (const auto& [key, value] : program->contexts[c].options) {
      bool& known = key == "aic" ? aic : aiv;
      if (known) continue;
      known = true;
      (key == "aic" ? out.aic : out.aiv) = std::stoll(value);
    }
  }
  return out;
}

std::string_view Context::weight_path(ValueId value) const {
  while (value != kNone) {
    const OpId made = order->definer(value);
    if (made == kNone) return {};
    if (op(made).code == Opcode::Weight) return std::get<std::string>(op(made).attrs[0]);
    if (!info(op(made).code).has(kView)) return {};
    value = op(made).operands[0];
  }
  return {};
}

int64_t Context::bytes(const Type& type) const {
  int64_t n = type.dtype == DType::Stored ? 2 : static_cast<int64_t>(dtype_bytes(abi_dtype(type.dtype)));
  for (const Dim& d : type.dims) {
    if (!d.is_constant()) return -1;
    if (__builtin_mul_overflow(n, d.constant(), &n)) return -1;
  }
  return n;
}

void Report::note_instance(diag::Engine::Builder& report, OpId op) const {
  const Op& o = context_.op(op);
  if (o.loc.file == context_.file) return;
  const Span there = context_.span(o.loc);
  if (there != context_.place(op))
    report.note(there, fmt::format("it is `{}` here, in the layer `{}`", info(o.code).name, o.path));
  else if (!o.path.empty())
    report.note(fmt::format("in the layer `{}`", o.path));
}

}  // namespace skdsl::lint
