// parse_schedule — static graphs from their text form
#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan/reader.h"
#include "runtime/plan/superkernel_text.h"
#include "runtime/plan/text.h"

namespace skdsl::plan::text {

namespace {

constexpr Step::Kind kStepKinds[] = {Step::Kind::Call,     Step::Kind::Record, Step::Kind::Wait,
                                     Step::Kind::Prefetch, Step::Kind::Note,   Step::Kind::SuperKernel};

bool is_step(const Reader& r) {
  return std::any_of(std::begin(kStepKinds), std::end(kStepKinds),
                     [&](Step::Kind k) { return r.is(name(k)); });
}

class ScheduleReader {
 public:
  ScheduleReader(Reader& r, Schedule& out) : r_(r), s_(out) {}

  bool run() {
    if (!r_.expect("schedule")) return false;
    auto f = r_.string();
    if (!f || !r_.expect("{")) return false;
    s_.function = std::move(*f);
    while (r_.ok() && !r_.is("}"))
      if (!binding()) return false;
    if (!r_.expect("}") || !r_.expect("{")) return false;
    while (r_.ok() && !r_.is("}"))
      if (!entry()) return false;
    return r_.expect("}");
  }

 private:
  bool binding() {
    if (!s_.bindings.empty() && !r_.expect(",")) return false;
    const Token& t = r_.token();
    if (t.kind != Token::Kind::Word && t.kind != Token::Kind::Symbol) return r_.expected("a symbol");
    std::string symbol = t.kind == Token::Kind::Symbol ? t.value : std::string(t.spelling);
    r_.advance();
    if (!r_.expect("=")) return false;
    const auto x = r_.integer();
    if (x) s_.bindings.emplace_back(std::move(symbol), *x);
    return r_.ok();
  }

  bool entry() {
    if (r_.accept("arena")) return number(s_.arena_bytes);
    if (r_.accept("stream")) return r_.read(s_.streams.emplace_back());
    if (r_.accept("event")) return r_.read(s_.events.emplace_back());
    if (r_.accept("constant")) {
      auto data = r_.constant_data();
      if (data) s_.constants.push_back(std::move(*data));
      return r_.ok();
    }
    if (r_.accept("buffer")) return numbered("buffer", s_.buffers.size()) && buffer();
    if (r_.accept("inputs")) return ids(s_.inputs);
    if (r_.accept("outputs")) return ids(s_.outputs);
    if (r_.accept("task")) return numbered("task", s_.tasks.size()) && task();
    if (r_.accept("define"))
      return r_.expect("superkernel") && numbered("super kernel", s_.superkernels.size()) &&
             read_superkernel(r_, s_.superkernels.emplace_back());
    if (r_.accept("cut")) return cut();
    if (!is_step(r_))
      return r_.expected(
          "`arena`, `stream`, `event`, `constant`, `buffer`, `inputs`, `outputs`, `task`, `define`, `cut` or "
          "a step");
    return read_step(r_, s_.steps.emplace_back());
  }

  bool cut() {
    FusionCut c;
    if (!r_.read(c.scope) || !r_.expect("task") || !r_.read(c.task)) return false;
    std::string word;
    if (!r_.read(word)) return false;
    for (size_t i = 0; i < static_cast<size_t>(FusionReason::kCount); ++i)
      if (row(static_cast<FusionReason>(i)).word == word) {
        c.reason = static_cast<FusionReason>(i);
        s_.cuts.push_back(std::move(c));
        return true;
      }
    return r_.wrong(fmt::format("`{}` is no reason of a cut", word));
  }

  bool numbered(std::string_view what, size_t n) {
    const auto i = r_.index();
    if (!i) return false;
    return *i == n || r_.wrong(fmt::format("{} {} stands where number {} is due", what, *i, n));
  }

  bool number(uint64_t& out) {
    const auto x = r_.unsigned_integer();
    if (x) out = *x;
    return r_.ok();
  }

  bool ids(std::vector<BufferId>& out) {
    out.clear();
    if (!r_.expect("[")) return false;
    while (r_.ok() && !r_.is("]")) {
      if (!out.empty() && !r_.expect(",")) return false;
      if (r_.accept("_"))
        out.push_back(kNone);
      else if (!r_.read(out.emplace_back()))
        return false;
    }
    return r_.expect("]");
  }

  bool buffer() {
    Buffer b;
    // "buffer 3:h : f32[2]" — a first colon that is followed by a dtype and `[` opens the type.
    if (!r_.expect(":")) return false;
    if (!r_.is_type()) {
      auto title = r_.word_or_string();
      if (!title || !r_.expect(":")) return false;
      b.name = std::move(*title);
    }
    const auto t = r_.type();
    if (!t) return false;
    if (!t->is_tensor()) return r_.wrong("a buffer is a tensor");
    b.dtype = t->dtype;
    for (const Dim& d : t->dims) {
      if (!d.is_constant()) return r_.wrong("the shape of a buffer has a symbol");
      b.shape.push_back(d.constant());
    }
    bool known = false;
    for (const auto storage :
         {Storage::Input, Storage::Arena, Storage::Weight, Storage::State, Storage::Constant})
      if (!known && r_.accept(name(storage))) {
        b.storage = storage;
        known = true;
      }
    if (!known) return r_.expected("`input`, `arena`, `weight`, `state` or `constant`");
    switch (b.storage) {
      case Storage::Input:
      case Storage::Constant:
        if (!r_.read(b.index)) return false;
        break;
      case Storage::Arena:
        if (!number(b.offset)) return false;
        break;
      case Storage::Weight:
      case Storage::State:
        if (!r_.read(b.path)) return false;
        break;
    }
    s_.buffers.push_back(std::move(b));
    return true;
  }

  bool task() {
    Task t;
    const auto code = r_.opcode();
    if (!code || !ids(t.in) || !r_.expect("->") || !ids(t.out)) return false;
    t.code = *code;
    const OpInfo& row = info(t.code);
    if (r_.accept("{")) {
      while (r_.ok() && !r_.is("}")) {
        if (!t.attrs.empty() && !r_.expect(",")) return false;
        const size_t i = t.attrs.size();
        if (i >= row.n_attrs())
          return r_.wrong(fmt::format("`{}` has {} attributes", row.name, row.n_attrs()));
        const Param& param = attr_param(row, i);
        if (!r_.expect(param.name) || !r_.expect("=") || !attribute(param, t.attrs.emplace_back()))
          return false;
      }
      if (!r_.expect("}")) return false;
    }
    if (!r_.expect("core")) return false;
    bool known = false;
    for (const auto core :
         {Core::None, Core::Aic, Core::Aiv, Core::Mix11, Core::Mix12, Core::AiCpu, Core::Host})
      if (!known && r_.accept(name(core))) {
        t.core = core;
        known = true;
      }
    if (!known) return r_.expected("a core: `none`, `aic`, `aiv`, `mix11`, `mix12`, `aicpu` or `host`");
    if (!r_.expect("blocks") || !r_.read(t.block_dim) || !r_.expect("stream") || !r_.read(t.stream))
      return false;
    t.view = r_.accept("view");
    if (r_.accept("ctx") && (!r_.expect("(") || !r_.read(t.context) || !r_.expect(")"))) return false;
    if (r_.is("loc")) {
      const auto l = r_.loc();
      if (!l) return false;
      t.loc = *l;
    }
    if (r_.accept("path") && !r_.read(t.path)) return false;
    s_.tasks.push_back(std::move(t));
    return r_.ok();
  }

  bool attribute(const Param& param, TaskAttr& a) {
    a.type = param.attr;
    switch (param.attr) {
      case AttrType::Int:
        return integer(a.i);
      case AttrType::Float: {
        const auto x = r_.real();
        if (x) a.f = x->f64;
        return r_.ok();
      }
      case AttrType::Bool:
        a.i = r_.is("true");
        return r_.accept("true") || r_.accept("false") || r_.expected("`true` or `false`");
      case AttrType::Str:
        return r_.read(a.text);
      case AttrType::DType: {
        if (!r_.expect("<")) return false;
        if (!r_.accept("none")) {
          const auto t = r_.dtype();
          if (!t) return false;
          a.i = abi_dtype(*t);
        }
        return r_.expect(">");
      }
      case AttrType::IntList:
        if (!r_.expect("[")) return false;
        while (r_.ok() && !r_.is("]")) {
          if (!a.list.empty() && !r_.expect(",")) return false;
          if (!integer(a.list.emplace_back())) return false;
        }
        return r_.expect("]");
      case AttrType::Choice:
        return r_.expect("choice") && r_.expect("(") && integer(a.i) && r_.expect(",") && r_.read(a.text) &&
               r_.expect(")");
    }
    return false;
  }

  bool integer(int64_t& out) {
    const auto x = r_.integer();
    if (x) out = *x;
    return r_.ok();
  }

  Reader& r_;
  Schedule& s_;
};

}  // namespace

bool read_step(Reader& r, Step& out) {
  for (const Step::Kind kind : kStepKinds)
    if (r.accept(name(kind))) {
      out.kind = kind;
      const auto which = r.index();
      if (!which || !r.expect("stream")) return false;
      (kind == Step::Kind::Record || kind == Step::Kind::Wait ? out.event : out.task) = *which;
      const auto stream = r.index();
      if (stream) out.stream = *stream;
      return r.ok();
    }
  return r.expected("a step");
}

bool read_schedule(Reader& r, Schedule& out) { return ScheduleReader(r, out).run(); }

}  // namespace skdsl::plan::text
