#include "runtime/model/stop_strings.h"

#include <algorithm>

namespace skdsl::model {

namespace {

/// How many bytes at the end of `text` may begin `stop`.
size_t beginning_at_end(std::string_view text, std::string_view stop) {
  size_t n = std::min(text.size(), stop.size() - 1);
  while (n > 0 && !stop.starts_with(text.substr(text.size() - n))) --n;
  return n;
}

}  // namespace

std::string StopFilter::push(std::string_view text) {
  if (stopped_) return {};
  waiting_ += text;
  size_t end = std::string::npos;
  size_t held = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, waiting_.find(stop));
    held = std::max(held, beginning_at_end(waiting_, stop));
  }
  stopped_ = end != std::string::npos;
  if (!stopped_) end = waiting_.size() - held;
  std::string out = waiting_.substr(0, end);
  waiting_.erase(0, stopped_ ? waiting_.size() : end);
  return out;
}

std::string StopFilter::finish() {
  std::string out = std::move(waiting_);
  waiting_.clear();
  return out;
}

}  // namespace skdsl::model
