// stop_strings — ends a text before the first of some strings
//
// Text comes in pieces. What may be the beginning of a stop string is held back until it is certain.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::model {

class StopFilter {
 public:
  /// Stop strings are not empty; without any, text passes as it is.
  explicit StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// The text that is certain to stand before any stop string. Once stopped, nothing.
  std::string push(std::string_view text);
  /// What was held back, when no stop string came.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string waiting_;
  bool stopped_ = false;
};

}  // namespace skdsl::model
