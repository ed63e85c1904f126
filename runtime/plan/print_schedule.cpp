// print_schedule — the text form of static graphs and whole plans
//
//   schedule "M.decode" {B = 2, T = 2} {
//     arena 512
//     stream "main"
//     buffer 0:ids : i32[2] input 0
//     buffer 1:h : f32[2, 64] arena 128
//     inputs [0]
//     outputs [1]
//     task 0 embedding [0, 2] -> [1] core aiv blocks 1 stream 0 path "embed"
//     call 0 stream 0
//
// A super kernel is defined after the tasks (superkernel_text) and run by `superkernel 0 stream 0`.
//   }
#include <fmt/format.h>

#include "runtime/plan/plan.h"
#include "runtime/plan/superkernel_text.h"
#include "runtime/plan/text.h"

namespace skdsl::plan {

namespace {

std::string ids(const std::vector<BufferId>& list) {
  std::string s = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) s += ", ";
    s += list[i] == kNone ? "_" : std::to_string(list[i]);
  }
  return s + "]";
}

std::string attribute(const TaskAttr& a) {
  switch (a.type) {
    case AttrType::Int:
      return std::to_string(a.i);
    case AttrType::Float:
      return text::number(a.f);
    case AttrType::Bool:
      return a.i != 0 ? "true" : "false";
    case AttrType::Str:
      return text::quoted(a.text);
    case AttrType::DType:
      return fmt::format("<{}>", dtype_name(static_cast<sk_dtype>(a.i)));
    case AttrType::IntList:
      return fmt::format("[{}]", fmt::join(a.list, ", "));
    case AttrType::Choice:
      return fmt::format("choice({}, {})", a.i, text::quoted(a.text));
  }
  return "?";
}

std::string buffer(size_t id, const Buffer& b) {
  std::string s = fmt::format("buffer {}{} : {}[{}] {}", id, b.name.empty() ? "" : ":" + text::word(b.name),
                              name(b.dtype), fmt::join(b.shape, ", "), text::name(b.storage));
  switch (b.storage) {
    case Storage::Input:
    case Storage::Constant:
      return s + fmt::format(" {}", b.index);
    case Storage::Arena:
      return s + fmt::format(" {}", b.offset);
    case Storage::Weight:
    case Storage::State:
      return s + " " + text::quoted(b.path);
  }
  return s;
}

std::string task(size_t id, const Task& t) {
  const OpInfo* row = t.code < Opcode::kCount ? &info(t.code) : nullptr;
  std::string s =
      fmt::format("task {} {} {} -> {}", id, row != nullptr ? row->name : "?", ids(t.in), ids(t.out));
  for (size_t i = 0; i < t.attrs.size(); ++i) {
    s += i ? ", " : " {";
    s += row != nullptr && i < row->n_attrs() ? std::string(attr_param(*row, i).name) : fmt::format("?{}", i);
    s += " = " + attribute(t.attrs[i]);
  }
  if (!t.attrs.empty()) s += "}";
  s += fmt::format(" core {} blocks {} stream {}", text::name(t.core), t.block_dim, t.stream);
  if (t.view) s += " view";
  if (t.context != kNone) s += fmt::format(" ctx({})", t.context);
  if (!(t.loc == Loc{})) s += " " + text::of(t.loc);
  if (!t.path.empty()) s += " path " + text::quoted(t.path);
  return s;
}

}  // namespace

std::string text::of(const Step& s) {
  const bool event = s.kind == Step::Kind::Record || s.kind == Step::Kind::Wait;
  return fmt::format("{} {} stream {}", text::name(s.kind), event ? s.event : s.task, s.stream);
}

const FusionReasonRow& row(FusionReason reason) {
  static constexpr FusionReasonRow kRows[] = {
#define SK_FUSION_REASON(Name, word, reason, remedy) {word, reason, remedy},
#include "runtime/plan/fusion_reasons.def"
#undef SK_FUSION_REASON
  };
  return kRows[static_cast<size_t>(reason)];
}

std::string print(const Schedule& schedule, const Program&) {
  std::string out = "schedule " + text::quoted(schedule.function) + " {";
  for (size_t i = 0; i < schedule.bindings.size(); ++i)
    out += fmt::format("{}{} = {}", i ? ", " : "", text::symbol(schedule.bindings[i].first),
                       schedule.bindings[i].second);
  out += "} {\n";
  const auto line = [&](const std::string& s) { out += "  " + s + "\n"; };
  line(fmt::format("arena {}", schedule.arena_bytes));
  for (const std::string& s : schedule.streams) line("stream " + text::quoted(s));
  for (const std::string& e : schedule.events) line("event " + text::quoted(e));
  for (const ConstantData& c : schedule.constants) line("constant " + text::of(c));
  for (size_t i = 0; i < schedule.buffers.size(); ++i) line(buffer(i, schedule.buffers[i]));
  line("inputs " + ids(schedule.inputs));
  line("outputs " + ids(schedule.outputs));
  for (size_t i = 0; i < schedule.tasks.size(); ++i) line(task(i, schedule.tasks[i]));
  for (size_t i = 0; i < schedule.superkernels.size(); ++i) line(text::define(i, schedule.superkernels[i]));
  for (const FusionCut& c : schedule.cuts)
    line(fmt::format("cut {} task {} {}", text::quoted(c.scope), c.task, text::quoted(row(c.reason).word)));
  for (const Step& s : schedule.steps) line(text::of(s));
  return out + "}\n";
}

std::string print(const Plan& plan) {
  std::string out = print(plan.program);
  for (const Schedule& s : plan.schedules) out += print(s, plan.program);
  return out;
}

const ConstantData* constant(const Program& program, const Schedule& schedule, uint32_t index) {
  if (index < program.constants.size()) return &program.constants[index];
  index -= static_cast<uint32_t>(program.constants.size());
  return index < schedule.constants.size() ? &schedule.constants[index] : nullptr;
}

}  // namespace skdsl::plan
