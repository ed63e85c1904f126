// superkernel_text — super kernels in the text form of schedules, both ways
//
//   define superkernel 0 "sk_s_start_a_end_b" scope "s" options "" type MIX_AIC_1_2 blocks 24 serial feed 0 {
//     kernel 3 type AIV blocks 4 stream 0
//     inside call 3 stream 0
//     aiv call of 0 slot 1 vector_core 4 copies 4
//   }
#include "runtime/plan/superkernel_text.h"

#include <fmt/format.h>

#include "runtime/plan/text.h"

namespace skdsl::plan::text {

namespace {

constexpr std::string_view kWhy[] = {"before", "after", "debug"};
constexpr std::string_view kWhat[] = {"superkernel", "sub_kernel", "notify", "wait"};

std::string guard(const CoreGuard& g) {
  return fmt::format("{} {}", g.vector_core ? "vector_core" : "group", g.limit);
}

std::string field(StepField f, const SkStep& s) {
  switch (f) {
    case StepField::Of:
      return fmt::format("of {}", s.of);
    case StepField::Units:
      return fmt::format("units {}", s.units);
    case StepField::Guard:
      return guard(s.guard);
    case StepField::Copies:
      return fmt::format("copies {}", s.copies);
    case StepField::ParamSlot:
    case StepField::LockSlot:
      return fmt::format("slot {}", s.slot);
    case StepField::Feeds:
      return s.feeds ? "feeds" : "";
    case StepField::Scope:
    case StepField::Flag:
      return std::string(plan::name(s.scope));
    case StepField::Via:
      return s.via_sync_all ? "sync_all" : s.drains_stores ? "stores" : "";
    case StepField::Direction:
      return s.to_vector ? "c2v" : "v2c";
    case StepField::OnlyIf:
      return s.idle_only ? "idle " + guard(*s.idle_only) : "";
    case StepField::Config:
      return fmt::format("config {}", s.config);
    case StepField::Event:
      return fmt::format("event {}", s.event);
    case StepField::Enabled:
      return s.enabled ? "on" : "off";
    case StepField::Offset:
      return fmt::format("at {}", s.offset);
    case StepField::Bytes:
      return fmt::format("bytes {}", s.bytes);
    case StepField::Why:
      return std::string(kWhy[static_cast<size_t>(s.why)]);
    case StepField::What:
      return std::string(kWhat[static_cast<size_t>(s.what)]);
    case StepField::Id:
      return fmt::format("id {}", s.id);
    case StepField::Edge:
      return s.begin ? "begin" : "end";
  }
  return "?";
}

std::string list(const std::vector<uint32_t>& events) { return fmt::format("[{}]", fmt::join(events, ", ")); }

class Parser {
 public:
  Parser(Reader& r, SuperKernel& out) : r_(r), k_(out) {}

  bool run() {
    if (!r_.read(k_.name) || !r_.expect("scope") || !r_.read(k_.scope) || !r_.expect("options") ||
        !r_.read(k_.options) || !r_.expect("type") || !type(k_.type) || !r_.expect("blocks") ||
        !r_.read(k_.block_dim))
      return false;
    k_.two_stream = r_.is("two_stream");
    if (!r_.accept("two_stream") && !r_.expect("serial")) return false;
    if (!r_.expect("feed")) return false;
    const auto feed = r_.unsigned_integer();
    if (!feed || !r_.expect("{")) return false;
    k_.feed_workspace_bytes = *feed;
    while (r_.ok() && !r_.is("}"))
      if (!entry()) return false;
    return r_.expect("}");
  }

 private:
  bool type(KernelType& out) {
    const auto t = find_kernel_type(r_.token().spelling);
    if (!t) return r_.expected("a kernel type such as `AIV` or `MIX_AIC_1_2`");
    out = *t;
    r_.advance();
    return true;
  }
  bool entry() {
    if (r_.accept("kernel")) {
      SkKernel k;
      if (!r_.read(k.task) || !r_.expect("type") || !type(k.type) || !r_.expect("blocks") ||
          !r_.read(k.block_dim) || !r_.expect("stream") || !r_.read(k.stream))
        return false;
      k.dynamic = r_.accept("dynamic");
      k.sync_all = r_.accept("sync_all");
      if (r_.accept("sends") && !r_.read(k.send_events)) return false;
      if (r_.accept("receives") && !r_.read(k.recv_events)) return false;
      k_.kernels.push_back(std::move(k));
      return true;
    }
    if (r_.accept("note")) return r_.read(k_.notes.emplace_back());
    if (r_.accept("inside")) return read_step(r_, k_.body.emplace_back());
    for (const Side s : kSides)
      if (r_.accept(plan::name(s))) return step(k_.of(s).emplace_back());
    return r_.expected("`kernel`, `note`, `inside`, `aic` or `aiv`");
  }

  bool step(SkStep& s) {
    for (size_t i = 0; i < static_cast<size_t>(SkStep::Kind::kCount); ++i)
      if (r_.accept(row(static_cast<SkStep::Kind>(i)).word)) {
        s.kind = static_cast<SkStep::Kind>(i);
        for (const StepField f : row(s.kind).fields)
          if (!field(f, s)) return false;
        return true;
      }
    return r_.expected("a step of a super kernel");
  }

  bool number(std::string_view word, uint32_t& out) { return r_.expect(word) && r_.read(out); }

  bool one_of(std::string_view yes, std::string_view no, bool& out) {
    out = r_.is(yes);
    return r_.accept(yes) || r_.expect(no);
  }

  bool guard(CoreGuard& g) { return one_of("vector_core", "group", g.vector_core) && r_.read(g.limit); }

  template <size_t n, class T>
  bool word(const std::string_view (&words)[n], T& out) {
    for (size_t i = 0; i < n; ++i)
      if (r_.accept(words[i])) {
        out = static_cast<T>(i);
        return true;
      }
    return r_.expected(fmt::format("`{}`", fmt::join(words, "`, `")));
  }

  bool field(StepField f, SkStep& s) {
    static constexpr std::string_view kScopes[] = {"all_aic", "all_aiv", "all_mix"};
    switch (f) {
      case StepField::Of:
        return number("of", s.of);
      case StepField::Units:
        return number("units", s.units);
      case StepField::Guard:
        return guard(s.guard);
      case StepField::Copies:
        return number("copies", s.copies);
      case StepField::ParamSlot:
      case StepField::LockSlot:
        return number("slot", s.slot);
      case StepField::Feeds:
        s.feeds = r_.accept("feeds");
        return true;
      case StepField::Scope:
      case StepField::Flag:
        return word(kScopes, s.scope);
      case StepField::Via:
        s.via_sync_all = r_.accept("sync_all");
        s.drains_stores = !s.via_sync_all && r_.accept("stores");
        return true;
      case StepField::Direction:
        return one_of("c2v", "v2c", s.to_vector);
      case StepField::OnlyIf:
        return !r_.accept("idle") || guard(s.idle_only.emplace());
      case StepField::Config:
        return number("config", s.config);
      case StepField::Event:
        return number("event", s.event);
      case StepField::Enabled:
        return one_of("on", "off", s.enabled);
      case StepField::Offset:
        return number("at", s.offset);
      case StepField::Bytes: {
        if (!r_.expect("bytes")) return false;
        const auto n = r_.unsigned_integer();
        if (n) s.bytes = *n;
        return r_.ok();
      }
      case StepField::Why:
        return word(kWhy, s.why);
      case StepField::What:
        return word(kWhat, s.what);
      case StepField::Id:
        return number("id", s.id);
      case StepField::Edge:
        return one_of("begin", "end", s.begin);
    }
    return false;
  }

  Reader& r_;
  SuperKernel& k_;
};

}  // namespace

std::string of(const SkStep& s) {
  std::string out(row(s.kind).word);
  for (const StepField f : row(s.kind).fields)
    if (const std::string text = field(f, s); !text.empty()) out += " " + text;
  return out;
}

std::string define(size_t id, const SuperKernel& k) {
  std::string out =
      fmt::format("define superkernel {} {} scope {} options {} type {} blocks {} {} feed {} {{\n", id,
                  quoted(k.name), quoted(k.scope), quoted(k.options), plan::name(k.type), k.block_dim,
                  k.two_stream ? "two_stream" : "serial", k.feed_workspace_bytes);
  for (const SkKernel& x : k.kernels) {
    out += fmt::format("    kernel {} type {} blocks {} stream {}{}{}", x.task, plan::name(x.type),
                       x.block_dim, x.stream, x.dynamic ? " dynamic" : "", x.sync_all ? " sync_all" : "");
    if (!x.send_events.empty()) out += " sends " + list(x.send_events);
    if (!x.recv_events.empty()) out += " receives " + list(x.recv_events);
    out += "\n";
  }
  for (const std::string& n : k.notes) out += "    note " + quoted(n) + "\n";
  for (const Step& s : k.body) out += "    inside " + of(s) + "\n";
  for (const Side side : kSides)
    for (const SkStep& s : k.of(side)) out += fmt::format("    {} {}\n", plan::name(side), of(s));
  return out + "  }";
}

bool read_superkernel(Reader& r, SuperKernel& out) { return Parser(r, out).run(); }

}  // namespace skdsl::plan::text
