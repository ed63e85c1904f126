// print — the text form of programs
//
//   func "M.decode" decode (ids = %0 : i32[T]) -> (f32[T, 64]) loc(1:9:3+6) {
//     %1 = weight {path = "embed.w"} : stored[512, 64]
//     %2:h = embedding %0, %1 : f32[T, 64] ctx(3) loc(1:10:7+10) path "embed"
//     return %2
//   }
//
// Values are numbered in the order of their definitions, so equal programs print alike whatever their ids.
// Programs that do not verify print too: ids that lead nowhere show as ?n.
#include <fmt/format.h>

#include "runtime/plan/plan.h"
#include "runtime/plan/text.h"

namespace skdsl::plan {

namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string run() {
    out_ = "program\n";
    for (size_t i = 1; i < p_.files.size(); ++i) line("file {} {}", i, text::quoted(p_.files[i]));
    for (const std::string& s : p_.symbols) line("symbol {}", text::symbol(s));
    for (size_t i = 0; i < p_.contexts.size(); ++i) context(i, p_.contexts[i]);
    for (size_t i = 0; i < p_.constants.size(); ++i) line("constant {} {}", i, text::of(p_.constants[i]));
    for (const WeightDecl& w : p_.weights) weight(w);
    for (const ConstDecl& c : p_.consts)
      line("const {} : {} = {} {}{}", text::quoted(c.path), text::of(p_, c.type), text::quoted(c.function),
           c.result, loc(c.loc));
    for (const StateDecl& s : p_.states)
      line("state {} : {}{}{}{}", text::quoted(s.path), text::of(p_, s.type),
           s.uninitialized ? " uninitialized" : "", s.rebound ? " rebound" : "", loc(s.loc));
    for (const std::string& u : p_.unused_sources) line("unused {}", text::quoted(u));
    for (const Function& f : p_.functions) function(f);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  static std::string loc(const Loc& l) { return l == Loc{} ? "" : " " + text::of(l); }

  void context(size_t id, const Context& c) {
    std::string s = fmt::format("context {} {} {}", id, text::name(c.kind), text::quoted(c.name));
    if (!c.options.empty()) {
      s += " {";
      for (size_t i = 0; i < c.options.size(); ++i)
        s += (i ? ", " : "") + text::quoted(c.options[i].first) + " = " + text::quoted(c.options[i].second);
      s += "}";
    }
    if (c.parent != kNone) s += fmt::format(" parent {}", c.parent);
    line("{}{}", s, loc(c.loc));
  }

  void weight(const WeightDecl& w) {
    std::string s = fmt::format("weight {} : {}", text::quoted(w.path), text::of(p_, w.type));
    for (size_t i = 0; i < w.sources.size(); ++i) {
      s += i ? ", [" : " from [";
      for (size_t k = 0; k < w.sources[i].size(); ++k) s += (k ? ", " : "") + text::quoted(w.sources[i][k]);
      s += "]";
    }
    line("{}{}{}", s, w.stacked ? " stacked" : "", loc(w.loc));
  }

  void function(const Function& f) {
    f_ = &f;
    numbers_.assign(f.values.size(), kNone);
    printed_.assign(f.regions.size(), false);
    next_ = 0;
    out_ += "func " + text::quoted(f.name) + " " + std::string(name(f.phase)) + " (";
    if (f.body < f.regions.size()) {
      const auto& args = f.regions[f.body].args;
      for (size_t i = 0; i < args.size(); ++i) {
        if (i) out_ += ", ";
        out_ += text::word(i < f.param_names.size() ? f.param_names[i] : "") + " = ";
        define(args[i]);
        out_ += " : " + type_of(args[i]);
      }
    }
    out_ += ") -> (";
    for (size_t i = 0; i < f.results.size(); ++i) out_ += (i ? ", " : "") + text::of(p_, f.results[i]);
    out_ += ")" + loc(f.loc) + " {\n";
    region_ops(f.body, 1);
    out_ += "}\n";
  }

  void region_ops(RegionId id, int depth) {
    if (id >= f_->regions.size() || printed_[id] || depth > kMaxRegionDepth) {
      out_ += fmt::format("{:{}}?region {}\n", "", depth * 2, id);
      return;
    }
    printed_[id] = true;
    for (const OpId op : f_->regions[id].ops) {
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      if (op < f_->ops.size())
        this->op(f_->ops[op], depth);
      else
        out_ += fmt::format("?op {}", op);
      out_ += '\n';
    }
  }

  void op(const Op& op, int depth) {
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (i) out_ += ", ";
      define(op.results[i]);
    }
    if (!op.results.empty()) out_ += " = ";
    out_ += op.code < Opcode::kCount ? info(op.code).name : "?";
    for (size_t i = 0; i < op.operands.size(); ++i) {
      out_ += i ? ", " : " ";
      use(op.operands[i]);
    }
    attributes(op);
    for (size_t i = 0; i < op.results.size(); ++i) out_ += (i ? ", " : " : ") + type_of(op.results[i]);
    if (op.context != kNone) out_ += fmt::format(" ctx({})", op.context);
    out_ += loc(op.loc);
    if (!op.path.empty()) out_ += " path " + text::quoted(op.path);
    for (const RegionId r : op.regions) {
      out_ += " region";
      if (r < f_->regions.size() && !f_->regions[r].args.empty()) {
        out_ += "(";
        for (size_t i = 0; i < f_->regions[r].args.size(); ++i) {
          if (i) out_ += ", ";
          define(f_->regions[r].args[i]);
          out_ += " : " + type_of(f_->regions[r].args[i]);
        }
        out_ += ")";
      }
      out_ += " {\n";
      region_ops(r, depth + 1);
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      out_ += "}";
    }
  }

  void attributes(const Op& op) {
    bool first = true;
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      // An absent attribute stays unwritten; the parser gives it the table's default, which is "none".
      if (std::holds_alternative<std::monostate>(op.attrs[i])) continue;
      out_ += first ? " {" : ", ";
      first = false;
      if (op.code < Opcode::kCount && i < info(op.code).n_attrs())
        out_ += attr_param(info(op.code), i).name;
      else
        out_ += fmt::format("?{}", i);
      out_ += " = " + attribute(op.attrs[i]);
    }
    if (!first) out_ += "}";
  }

  std::string attribute(const Attr& a) {
    if (const auto* d = std::get_if<Dim>(&a)) return text::of(p_, *d);
    if (const auto* x = std::get_if<double>(&a)) return text::number(*x);
    if (const auto* b = std::get_if<bool>(&a)) return *b ? "true" : "false";
    if (const auto* s = std::get_if<std::string>(&a)) return text::quoted(*s);
    if (const auto* t = std::get_if<DType>(&a)) return "<" + std::string(name(*t)) + ">";
    const auto* list = std::get_if<std::vector<Dim>>(&a);
    if (list == nullptr) return "none";
    std::string s = "[";
    for (size_t i = 0; i < list->size(); ++i) s += (i ? ", " : "") + text::of(p_, (*list)[i]);
    return s + "]";
  }

  std::string type_of(ValueId v) { return v < f_->values.size() ? text::of(p_, f_->values[v].type) : "?"; }

  void define(ValueId v) {
    if (v >= f_->values.size()) {
      out_ += fmt::format("%?{}", v);
      return;
    }
    if (numbers_[v] == kNone) numbers_[v] = next_++;
    out_ += fmt::format("%{}", numbers_[v]);
    if (!f_->values[v].name.empty()) out_ += ":" + text::word(f_->values[v].name);
  }

  void use(ValueId v) {
    if (v == kNone)
      out_ += "_";
    else if (v >= f_->values.size() || numbers_[v] == kNone)
      out_ += fmt::format("%?{}", v);
    else
      out_ += fmt::format("%{}", numbers_[v]);
  }

  const Program& p_;
  const Function* f_ = nullptr;
  std::string out_;
  std::vector<uint32_t> numbers_;
  std::vector<bool> printed_;
  uint32_t next_ = 0;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).run(); }

}  // namespace skdsl::plan
