// report — what became of each super-kernel scope of a static graph
//
// Read off the schedule alone: the plan is the report's only source, so it cannot tell anything else than
// what runs.
#pragma once
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/plan/plan.h"

namespace skdsl::superkernel {

struct ScopeReport {
  std::string name;
  std::vector<uint32_t> pieces;          // Schedule::superkernels
  std::vector<plan::FusionCut> unfused;  // ops of the scope that run alone
  std::vector<plan::FusionCut> cuts;     // ops outside the scope that cut it
  size_t ops = 0, fused = 0;
};

struct Report {
  std::vector<ScopeReport> scopes;  // in order of their first op
  size_t pieces = 0, ops_in_scopes = 0, ops_fused = 0;
  size_t launches = 0;  // a step
  size_t kernels = 0;   // launches without super kernels
};
Report report(const plan::Schedule& schedule);

/// "6 scopes, 6 pieces; 80 of 80 ops fused; 30 launches a step instead of 104".
std::string summary(const Report& report);

/// The text of `skdsl explain`; `scope` picks one ("" = all), `steps` adds the plan steps.
std::string text(const Report& report, const plan::Schedule& schedule, const plan::Program& program,
                 std::string_view scope, bool steps);
/// "scopes" and "totals" of `skdsl explain --json`.
Json json(const Report& report, const plan::Schedule& schedule, const plan::Program& program,
          std::string_view scope, bool steps);
/// A picture: the launches of each scope before and after fusion.
std::string svg(const Report& report, const plan::Schedule& schedule, std::string_view scope,
                std::string_view title);

}  // namespace skdsl::superkernel
