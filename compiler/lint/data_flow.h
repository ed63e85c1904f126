// data_flow — where the values of a function come from, and the calls that were written for its ops
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

/// Whether `later` needs, directly or through others, what `earlier` makes.
bool depends(const Context& context, plan::OpId later, plan::OpId earlier);
/// The phase parameter that a value is, through views ("step.kv_len", "step.kv_len_list"), or "".
std::string_view parameter(const Context& context, plan::ValueId value);
/// The integers of a literal, through views and casts.
std::optional<std::vector<int64_t>> literal(const Context& context, plan::ValueId value);
/// The op that made a value, through views and casts; kNone for parameters.
plan::OpId source(const Context& context, plan::ValueId value);
/// Matrix products and attention: what streams a weight or a cache through the cubes.
bool is_matrix(const OpInfo& row);

/// The call that an op was written as in the linted file, or None.
ast::NodeId call_of(const Context& context, plan::OpId op);
/// The value of an argument of a call, by name or by position (-1: by name only), or None.
ast::NodeId argument(const Context& context, ast::NodeId call, std::string_view name, int position);

/// A prefetch with what decides its use.
struct PrefetchUse {
  plan::OpId prefetch = plan::kNone;
  std::string target;              // a weight, or an instance with all its weights
  plan::OpId start = plan::kNone;  // what it waits for; kNone: known before the phase
  plan::OpId use = plan::kNone;    // the first op that reads the target behind the start
  int64_t bytes = -1;              // of the target; -1 when a size is open
  int64_t pulled = -1;             // the smaller of `max` and bytes
};
/// The prefetches of the function in the order of their starts.
std::vector<PrefetchUse> prefetches(const Context& context);

/// Whether a cores block around an op holds no other task.
bool alone_in_cores(const Context& context, plan::OpId op);

}  // namespace skdsl::lint
