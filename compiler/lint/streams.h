// streams — what several rules about streams and events ask
#pragma once
#include <string>
#include <vector>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

/// A pair of ops on two streams of which the second needs the first.
struct StreamPair {
  plan::OpId from = plan::kNone, to = plan::kNone;
};

/// Keeps only pairs that no event for an earlier pair would order as well.
class MissingEvents {
 public:
  explicit MissingEvents(const plan::OpOrder& order) : order_(order) {}
  /// False when the pair is ordered, or is by an event for a pair that was added before.
  bool add(StreamPair pair);

 private:
  const plan::OpOrder& order_;
  std::vector<StreamPair> told_;
};

/// The path of the state that a value shows, through views; "" for others.
std::string_view state_path(const Context& context, plan::ValueId value);

/// An op whose result is known when the graph is made: nothing is left of it at run time.
bool is_folded(const Context& context, plan::OpId op);

/// An event of its own for the pair: declared at the begin of the body, recorded behind the first, waited for
/// before the second. Nothing when the two are not written in one body of the linted file.
void insert_event(const Context& context, StreamPair pair, diag::Engine::Builder& report);

}  // namespace skdsl::lint
