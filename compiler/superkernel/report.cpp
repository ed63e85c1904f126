#include "compiler/superkernel/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/superkernel/case.h"
#include "compiler/superkernel/segment.h"
#include "runtime/plan/superkernel_text.h"

namespace skdsl::superkernel {

using namespace plan;

namespace {

bool inside_scope(FusionReason r) {
  return r != FusionReason::Between && r != FusionReason::Cycle && r != FusionReason::Deadlock;
}

std::string place(const Program& program, const Loc& loc) {
  if (loc.line == 0) return "?";
  return loc.file < program.files.size() ? fmt::format("{}:{}", program.files[loc.file], loc.line)
                                         : fmt::format("line {}", loc.line);
}

std::string plural(size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::vector<std::string> ids(const SuperKernel& k) {
  std::vector<std::string> out;
  for (size_t i = 0; i < k.kernels.size(); ++i) out.push_back(fmt::format("k{}", i));
  return out;
}

Json op_json(const Task& t) {
  return Json::Object{{"op", info(t.code).name}, {"path", t.path}, {"line", t.loc.line}};
}

}  // namespace

Report report(const Schedule& schedule) {
  Report out;
  std::map<std::string, std::pair<uint32_t, ScopeReport>> scopes;  // with the first op
  const auto of = [&](const std::string& name, uint32_t task) -> ScopeReport& {
    auto& [first, scope] = scopes.try_emplace(name, kNone, ScopeReport{}).first->second;
    first = std::min(first, task);
    scope.name = name;
    return scope;
  };
  for (uint32_t i = 0; i < schedule.superkernels.size(); ++i) {
    const SuperKernel& k = schedule.superkernels[i];
    ScopeReport& s = of(k.scope, k.kernels.front().task);
    s.pieces.push_back(i);
    s.ops += k.kernels.size();
    s.fused += k.kernels.size();
    out.kernels += k.kernels.size();
  }
  for (const FusionCut& c : schedule.cuts) {
    ScopeReport& s = of(c.scope, c.task);
    if (!inside_scope(c.reason)) {
      s.cuts.push_back(c);
      continue;
    }
    s.unfused.push_back(c);
    ++s.ops;
  }
  for (const Step& s : schedule.steps) {
    out.launches += s.kind == Step::Kind::SuperKernel;
    if (s.kind != Step::Kind::Call || schedule.tasks[s.task].view) continue;
    ++out.launches;
    ++out.kernels;
  }
  std::vector<std::pair<uint32_t, ScopeReport>> order;
  for (auto& [name, entry] : scopes) order.push_back(std::move(entry));
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [first, scope] : order) {
    out.pieces += scope.pieces.size();
    out.ops_in_scopes += scope.ops;
    out.ops_fused += scope.fused;
    out.scopes.push_back(std::move(scope));
  }
  return out;
}

std::string summary(const Report& r) {
  return fmt::format("{}, {}; {} of {} fused; {} a step instead of {}",
                     plural(r.scopes.size(), "scope", "scopes"), plural(r.pieces, "piece", "pieces"),
                     r.ops_fused, plural(r.ops_in_scopes, "op", "ops"),
                     plural(r.launches, "launch", "launches"), r.kernels);
}

std::string text(const Report& r, const Schedule& schedule, const Program& program, std::string_view scope,
                 bool steps) {
  std::string out;
  for (const ScopeReport& s : r.scopes) {
    if (!scope.empty() && s.name != scope) continue;
    out += fmt::format("\n{}: {}, {} of {} fused\n", s.name, plural(s.pieces.size(), "piece", "pieces"),
                       s.fused, plural(s.ops, "op", "ops"));
    for (const uint32_t p : s.pieces) {
      const SuperKernel& k = schedule.superkernels[p];
      out += fmt::format("  {}\n    {}, task ratio {}, {}, {}{}\n", k.name, name(k.type), task_ratio(k.type),
                         plural(k.block_dim, "block", "blocks"),
                         k.two_stream ? "two queues side by side" : "one kernel after the other",
                         k.options.empty() ? "" : ", " + k.options);
      for (size_t i = 0; i < k.kernels.size(); ++i) {
        const Task& t = schedule.tasks[k.kernels[i].task];
        out += fmt::format("    k{:<3} {:<28} {:<12} {:>3} blocks  {}  {}\n", i, info(t.code).name,
                           name(k.kernels[i].type), k.kernels[i].block_dim, place(program, t.loc), t.path);
      }
      for (const std::string& n : k.notes) out += "    note: " + n + "\n";
      if (steps)
        for (const Side side : kSides) {
          if (k.of(side).empty()) continue;
          out += fmt::format("    {} side:\n", name(side));
          for (const SkStep& step : k.of(side)) out += "      " + plan::text::of(step) + "\n";
        }
    }
    const auto tell = [&](const FusionCut& c, std::string_view what) {
      const Task& t = schedule.tasks[c.task];
      const FusionReasonRow& why = row(c.reason);
      out += fmt::format("  {}: `{}` at {}{}: {}\n    help: {}\n", what, info(t.code).name,
                         place(program, t.loc), t.path.empty() ? "" : " (" + t.path + ")", why.reason,
                         remedy(t.code, c.reason));
    };
    for (const FusionCut& c : s.unfused) tell(c, "not fused");
    for (const FusionCut& c : s.cuts) tell(c, "cut by");
  }
  return out;
}

Json json(const Report& r, const Schedule& schedule, const Program&, std::string_view scope, bool steps) {
  Json scopes(Json::Array{});
  for (const ScopeReport& s : r.scopes) {
    if (!scope.empty() && s.name != scope) continue;
    Json pieces(Json::Array{}), unfused(Json::Array{}), cuts(Json::Array{});
    for (const uint32_t p : s.pieces) {
      const SuperKernel& k = schedule.superkernels[p];
      Json ops(Json::Array{});
      for (const SkKernel& x : k.kernels) {
        Json op = op_json(schedule.tasks[x.task]);
        op.set("type", name(x.type));
        op.set("block_dim", x.block_dim);
        op.set("stream", schedule.streams[x.stream]);
        ops.push(std::move(op));
      }
      Json piece = Json::Object{{"name", k.name},
                                {"ops", std::move(ops)},
                                {"type", name(k.type)},
                                {"block_dim", k.block_dim},
                                {"task_ratio", task_ratio(k.type)},
                                {"mode", k.two_stream ? "two_stream" : "serial"},
                                {"options", k.options}};
      if (steps) piece.set("steps", schedule_json(k, ids(k)));
      Json notes(Json::Array{});
      for (const std::string& n : k.notes) notes.push(n);
      if (!k.notes.empty()) piece.set("notes", std::move(notes));
      pieces.push(std::move(piece));
    }
    const auto add = [&](Json& list, const FusionCut& c) {
      Json entry = op_json(schedule.tasks[c.task]);
      entry.set("reason", row(c.reason).reason);
      entry.set("reason_id", row(c.reason).word);
      entry.set("remedy", remedy(schedule.tasks[c.task].code, c.reason));
      list.push(std::move(entry));
    };
    for (const FusionCut& c : s.unfused) add(unfused, c);
    for (const FusionCut& c : s.cuts) add(cuts, c);
    scopes.push(Json::Object{{"name", s.name},
                             {"pieces", std::move(pieces)},
                             {"unfused", std::move(unfused)},
                             {"cuts", std::move(cuts)}});
  }
  return Json::Object{{"scopes", std::move(scopes)},
                      {"totals", Json::Object{{"scopes", r.scopes.size()},
                                              {"pieces", r.pieces},
                                              {"ops_in_scopes", r.ops_in_scopes},
                                              {"ops_fused", r.ops_fused},
                                              {"launches_per_step", r.launches},
                                              {"launches_without_superkernel", r.kernels}}}};
}

}  // namespace skdsl::superkernel
