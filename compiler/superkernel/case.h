// case — conformance records: a list of sub-kernels and options in, the schedule as JSON tokens out
#pragma once
#include "compiler/superkernel/superkernel.h"
#include "runtime/base/json.h"

namespace skdsl::superkernel {

/// One record, or a list of records, as read from `where`. Only `options_string` and the inputs of
/// `sub_kernels` are read. Gives {"superkernel", "schedule", "mode", "properties"} for each, {"error":
/// {"option", "message"}} for one that must be refused; an error here means that the record itself is
/// malformed.
Expected<Json> run_case(const Json& record, const std::string& where, const Platform& platform);

/// A step with its side, in the tokens of the conformance records; `ids` name the kernels.
Json step_json(const plan::SkStep& step, plan::Side side, const std::vector<std::string>& ids);
/// Both sides; null for one that is not launched.
Json schedule_json(const plan::SuperKernel& kernel, const std::vector<std::string>& ids);
Json properties_json(const plan::SuperKernel& kernel, const std::vector<std::string>& ids);

}  // namespace skdsl::superkernel
