// parse — programs from their text form
//
// A value is known from its definition on, in the order of the text; whether it is visible where it is used
// is the verifier's business.
#include <fmt/format.h>

#include "runtime/plan/reader.h"
#include "runtime/plan/text.h"

namespace skdsl::plan {

namespace text {
namespace {

class ProgramReader {
 public:
  explicit ProgramReader(Reader& r) : r_(r), p_(r.program()) {}

  bool run() {
    if (!r_.expect("program")) return false;
    p_.files = {""};
    while (r_.ok() && !r_.at_end() && !r_.is("schedule"))
      if (!entry()) return false;
    return r_.ok();
  }

 private:
  bool entry() {
    if (r_.accept("file")) return numbered("file", p_.files.size()) && file();
    if (r_.accept("symbol")) return symbol();
    if (r_.accept("context")) return numbered("context", p_.contexts.size()) && context();
    if (r_.accept("constant")) return numbered("constant", p_.constants.size()) && constant();
    if (r_.accept("weight")) return weight();
    if (r_.accept("const")) return constant_declaration();
    if (r_.accept("state")) return state();
    if (r_.accept("unused")) return unused();
    if (r_.accept("func")) return function();
    return r_.expected(
        "`file`, `symbol`, `context`, `constant`, `weight`, `const`, `state`, `unused` or `func`");
  }

  bool numbered(std::string_view what, size_t n) {
    const auto i = r_.index();
    if (!i) return false;
    return *i == n || r_.wrong(fmt::format("{} {} stands where number {} is due", what, *i, n));
  }

  bool file() {
    auto s = r_.string();
    if (s) p_.files.push_back(std::move(*s));
    return r_.ok();
  }

  bool symbol() {
    if (r_.token().kind == Token::Kind::Symbol || r_.token().kind == Token::Kind::Word) {
      const bool quoted = r_.token().kind == Token::Kind::Symbol;
      std::string s = quoted ? r_.token().value : std::string(r_.token().spelling);
      if (!r_.add_symbol(std::move(s))) return false;
      r_.advance();
      return true;
    }
    return r_.expected("a symbol's name");
  }

  bool optional_loc(Loc& out) {
    if (!r_.is("loc")) return r_.ok();
    const auto l = r_.loc();
    if (l) out = *l;
    return r_.ok();
  }

  bool context() {
    Context c;
    bool known = false;
    for (const auto kind : {Context::Kind::SuperKernel, Context::Kind::NoSuperKernel, Context::Kind::Stream,
                            Context::Kind::Cores})
      if (!known && r_.accept(name(kind))) {
        c.kind = kind;
        known = true;
      }
    if (!known) return r_.expected("`superkernel`, `no_superkernel`, `stream` or `cores`");
    auto title = r_.string();
    if (!title) return false;
    c.name = std::move(*title);
    if (r_.accept("{")) {
      while (r_.ok() && !r_.is("}")) {
        if (!c.options.empty() && !r_.expect(",")) return false;
        auto key = r_.string();
        if (!key || !r_.expect("=")) return false;
        auto value = r_.string();
        if (!value) return false;
        c.options.emplace_back(std::move(*key), std::move(*value));
      }
      if (!r_.expect("}")) return false;
    }
    if (r_.accept("parent")) {
      const auto parent = r_.index();
      if (!parent) return false;
      c.parent = *parent;
    }
    if (!optional_loc(c.loc)) return false;
    p_.contexts.push_back(std::move(c));
    return true;
  }

  bool constant() {
    auto data = r_.constant_data();
    if (data) p_.constants.push_back(std::move(*data));
    return r_.ok();
  }

  bool declaration(std::string& path, Type& type) {
    auto s = r_.string();
    if (!s || !r_.expect(":")) return false;
    auto t = r_.type();
    if (!t) return false;
    path = std::move(*s);
    type = std::move(*t);
    return true;
  }

  bool weight() {
    WeightDecl w;
    if (!declaration(w.path, w.type)) return false;
    if (r_.accept("from")) do {
        if (!r_.expect("[")) return false;
        auto& row = w.sources.emplace_back();
        while (r_.ok() && !r_.is("]")) {
          if (!row.empty() && !r_.expect(",")) return false;
          auto s = r_.string();
          if (!s) return false;
          row.push_back(std::move(*s));
        }
        if (!r_.expect("]")) return false;
      } while (r_.accept(","));
    w.stacked = r_.accept("stacked");
    if (!optional_loc(w.loc)) return false;
    p_.weights.push_back(std::move(w));
    return true;
  }

  bool constant_declaration() {
    ConstDecl c;
    if (!declaration(c.path, c.type) || !r_.expect("=")) return false;
    auto f = r_.string();
    const auto result = f ? r_.index() : std::nullopt;
    if (!result) return false;
    c.function = std::move(*f);
    c.result = *result;
    if (!optional_loc(c.loc)) return false;
    p_.consts.push_back(std::move(c));
    return true;
  }

  bool state() {
    StateDecl s;
    if (!declaration(s.path, s.type)) return false;
    s.uninitialized = r_.accept("uninitialized");
    s.rebound = r_.accept("rebound");
    if (!optional_loc(s.loc)) return false;
    p_.states.push_back(std::move(s));
    return true;
  }

  bool unused() {
    auto s = r_.string();
    if (s) p_.unused_sources.push_back(std::move(*s));
    return r_.ok();
  }

  bool function() {
    f_ = &p_.functions.emplace_back();
    values_.clear();
    auto title = r_.string();
    if (!title) return false;
    f_->name = std::move(*title);
    bool known = false;
    for (const Phase phase :
         {Phase::None, Phase::Prefill, Phase::Decode, Phase::DraftPrefill, Phase::DraftDecode})
      if (!known && r_.accept(plan::name(phase))) {
        f_->phase = phase;
        known = true;
      }
    if (!known) return r_.expected("a phase: `none`, `prefill`, `decode`, `draft_prefill` or `draft_decode`");
    f_->body = f_->add_region();
    if (!r_.expect("(")) return false;
    while (r_.ok() && !r_.is(")")) {
      if (!f_->param_names.empty() && !r_.expect(",")) return false;
      auto param = r_.word_or_string();
      if (!param || !r_.expect("=")) return false;
      f_->param_names.push_back(std::move(*param));
      if (!argument(f_->body)) return false;
    }
    if (!r_.expect(")") || !r_.expect("->") || !r_.expect("(")) return false;
    while (r_.ok() && !r_.is(")")) {
      if (!f_->results.empty() && !r_.expect(",")) return false;
      auto t = r_.type();
      if (!t) return false;
      f_->results.push_back(std::move(*t));
    }
    return r_.expect(")") && optional_loc(f_->loc) && r_.expect("{") && ops(f_->body, 0);
  }

  // "%3:h : f32[T]"
  bool argument(RegionId region) {
    auto v = r_.value();
    if (!v || !r_.expect(":")) return false;
    auto t = r_.type();
    if (!t) return false;
    f_->regions[region].args.push_back(define(*v, std::move(*t)));
    return r_.ok();
  }

  ValueId define(Reader::ValueName& name, Type t) {
    const ValueId v = f_->add_value(std::move(t), std::move(name.name));
    if (!values_.emplace(name.number, v).second) r_.wrong(fmt::format("%{} is defined twice", name.number));
    return v;
  }

  bool ops(RegionId region, int depth) {
    if (depth > kMaxRegionDepth)
      return r_.wrong(fmt::format("regions are nested deeper than {}", kMaxRegionDepth));
    while (r_.ok() && !r_.is("}"))
      if (!op(region, depth)) return false;
    return r_.expect("}");
  }

  bool op(RegionId region, int depth) {
    Op op;
    std::vector<Reader::ValueName> results;
    if (r_.token().kind == Token::Kind::Value) {
      do {
        auto v = r_.value();
        if (!v) return false;
        results.push_back(std::move(*v));
      } while (r_.accept(","));
      if (!r_.expect("=")) return false;
    }
    const auto code = r_.opcode();
    if (!code) return false;
    op.code = *code;
    for (const Param& p : info(op.code).params)
      if (p.is_attr) op.attrs.push_back(default_attr(p));
    if (r_.token().kind == Token::Kind::Value || r_.is("_")) do
        if (!operand(op)) return false;
      while (r_.accept(","));
    if (r_.accept("{") && !attributes(op)) return false;
    std::vector<Type> types;
    if (r_.accept(":")) do {
        auto t = r_.type();
        if (!t) return false;
        types.push_back(std::move(*t));
      } while (r_.accept(","));
    if (types.size() != results.size())
      return r_.wrong(
          fmt::format("`{}` has {} results and {} types", info(op.code).name, results.size(), types.size()));
    if (r_.accept("ctx")) {
      if (!r_.expect("(")) return false;
      const auto c = r_.index();
      if (!c || !r_.expect(")")) return false;
      op.context = *c;
    }
    if (!optional_loc(op.loc)) return false;
    if (r_.accept("path")) {
      auto s = r_.string();
      if (!s) return false;
      op.path = std::move(*s);
    }
    while (r_.accept("region")) {
      const RegionId nested = f_->add_region();
      op.regions.push_back(nested);
      if (r_.accept("(")) {
        bool first = true;
        while (r_.ok() && !r_.is(")")) {
          if (!first && !r_.expect(",")) return false;
          first = false;
          if (!argument(nested)) return false;
        }
        if (!r_.expect(")")) return false;
      }
      if (!r_.expect("{") || !ops(nested, depth + 1)) return false;
    }
    if (!r_.ok()) return false;
    for (size_t i = 0; i < results.size(); ++i) op.results.push_back(define(results[i], std::move(types[i])));
    f_->ops.push_back(std::move(op));
    f_->regions[region].ops.push_back(static_cast<OpId>(f_->ops.size() - 1));
    return r_.ok();
  }

  bool operand(Op& op) {
    if (r_.accept("_")) {
      op.operands.push_back(kNone);
      return true;
    }
    const auto v = r_.value();
    if (!v) return false;
    const auto it = values_.find(v->number);
    if (it == values_.end()) return r_.wrong(fmt::format("%{} is not defined before it is used", v->number));
    op.operands.push_back(it->second);
    return true;
  }

  bool attributes(Op& op) {
    const OpInfo& row = info(op.code);
    bool first = true;
    while (r_.ok() && !r_.is("}")) {
      if (!first && !r_.expect(",")) return false;
      first = false;
      if (r_.token().kind != Token::Kind::Word) return r_.expected("an attribute's name");
      const int i = attr_index(row, r_.token().spelling);
      if (i < 0) return r_.expected(fmt::format("an attribute of `{}`", row.name));
      r_.advance();
      if (!r_.expect("=") || !attribute(op.attrs[static_cast<size_t>(i)])) return false;
    }
    return r_.expect("}");
  }

  bool attribute(Attr& out) {
    if (r_.accept("none")) {
      out = {};
      return true;
    }
    if (r_.is("true") || r_.is("false")) {
      out = r_.is("true");
      r_.advance();
    } else if (r_.token().kind == Token::Kind::String) {
      out = *r_.string();
    } else if (r_.accept("<")) {
      const auto t = r_.dtype();
      if (!t) return false;
      out = *t;
      return r_.expect(">");
    } else if (r_.is("[")) {
      auto list = r_.dims();
      if (!list) return false;
      out = std::move(*list);
    } else if (r_.is_float()) {
      const auto x = r_.real();
      if (!x) return false;
      out = x->f64;
    } else {
      auto d = r_.dim();
      if (!d) return false;
      out = std::move(*d);
    }
    return r_.ok();
  }

  Reader& r_;
  Program& p_;
  Function* f_ = nullptr;
  std::unordered_map<uint32_t, ValueId> values_;
};

}  // namespace

bool read_program(Reader& r) { return ProgramReader(r).run(); }

}  // namespace text

Expected<Program> parse_program(std::string_view source) {
  Program program;
  text::Reader r(source, program);
  if (text::read_program(r) && !r.at_end()) r.expected("the end");
  if (!r.ok()) return tl::unexpected(r.error());
  return program;
}

Expected<Plan> parse_plan(std::string_view source) {
  Plan plan;
  text::Reader r(source, plan.program);
  if (text::read_program(r))
    while (r.ok() && !r.at_end())
      if (!text::read_schedule(r, plan.schedules.emplace_back())) break;
  if (!r.ok()) return tl::unexpected(r.error());
  return plan;
}

}  // namespace skdsl::plan
