// A decode that gets whole prompts: their lengths decide its rows, and so its graph. The worker compiles
// decode only.
#include <algorithm>
#include <map>

#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

void sk201_prefill_compiled(const Context& c, Report& report) {
  if (c.eager()) return;
  std::map<std::string, std::vector<DecodeCall>> prompts;  // by phase: calls with rows of several lengths
  for (DecodeCall& call : decode_calls(c)) {
    if (call.rows <= 0 || call.requests <= 0 || call.rows == call.requests) continue;
    prompts[call.decode].push_back(std::move(call));
  }
  for (const auto& [decode, calls] : prompts) {
    // A draft's verify step has the same number of rows for each request, every time.
    std::vector<int64_t> totals;
    bool uniform = true;
    for (const DecodeCall& call : calls) {
      if (std::find(totals.begin(), totals.end(), call.rows) == totals.end()) totals.push_back(call.rows);
      uniform &=
          call.rows % call.requests == 0 && call.rows / call.requests == calls[0].rows / calls[0].requests;
    }
    if (uniform || totals.size() < 2) continue;
    for (const DecodeCall& call : calls) {
      if (call.rows == calls[0].rows) continue;
      report.at(call.op, decode, call.rows, call.requests)
          .note(c.place(calls[0].op), fmt::format("{} rows here", calls[0].rows))
          .note(fmt::format("row counts {}: {} graphs", fmt::join(totals, ", "), totals.size()))
          .help(
              "write a `prefill`, which runs eager with any number of rows, or pad all prompts to one "
              "length");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
