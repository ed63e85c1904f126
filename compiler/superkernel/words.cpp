#include "compiler/superkernel/words.h"

namespace skdsl::superkernel {

namespace {
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
}  // namespace

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> out;
  for (size_t end = s.find(at); end != std::string_view::npos; end = s.find(at)) {
    out.push_back(s.substr(0, end));
    s.remove_prefix(end + 1);
  }
  out.push_back(s);
  return out;
}

}  // namespace skdsl::superkernel
