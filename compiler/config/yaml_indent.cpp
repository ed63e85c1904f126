// yaml_indent — the one line whose blanks are wrong
#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/config/yaml.h"

namespace skdsl::config {

namespace {

constexpr size_t kMaxLines = 2000;  // the search takes time in the square of it

struct Line {
  size_t number = 0, indent = 0;
  std::string key;      // "" when it has none
  bool header = false;  // a key without a value: what is deeper belongs to it
  bool item = false;    // begins with "- "
};

/// Lines of block maps; what is inside of brackets, quotes over lines and block scalars is left out.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  int depth = 0;
  std::optional<size_t> block;  // lines deeper than this are text
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    ++number;
    const size_t indent = line.find_first_not_of(' ');
    if (indent == line.npos || line[indent] == '#' || line[indent] == '\r' || line.starts_with("---"))
      continue;
    if (block && indent > *block) continue;
    block.reset();
    const bool inside = depth > 0;
    Line l{number, indent, "", false, line.substr(indent).starts_with("- ")};
    std::string content;  // without comment
    char quote = 0;
    for (size_t i = indent; i < line.size(); ++i) {
      const char c = line[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '#' && line[i - 1] == ' ') {
        break;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if (c == ']' || c == '}') {
        depth = std::max(depth - 1, 0);
      }
      content += c;
    }
    if (inside) continue;
    while (!content.empty() && (content.back() == ' ' || content.back() == '\r')) content.pop_back();
    for (size_t colon = content.find(':'); colon != content.npos; colon = content.find(':', colon + 1)) {
      if (colon + 1 < content.size() && content[colon + 1] != ' ') continue;
      l.key = content.substr(0, colon);
      const size_t value = content.find_first_not_of(' ', colon + 1);
      l.header = value == content.npos;
      if (!l.header && (content[value] == '|' || content[value] == '>')) block = indent;
      break;
    }
    out.push_back(std::move(l));
  }
  return out;
}

/// Whether the lines are block maps in order, and how many of their keys stand where they are known.
std::optional<size_t> score(const std::vector<Line>& lines, const KnownPlace& known) {
  std::vector<size_t> levels;
  std::vector<std::string> above;  // the header over each level but the first
  size_t points = 0;
  const Line* before = nullptr;
  for (const Line& line : lines) {
    if (line.key.empty() && !line.item) return {};
    if (levels.empty() || line.indent > levels.back()) {
      if (before && !before->header) return {};
      if (before) above.push_back(before->key);
      levels.push_back(line.indent);
    } else {
      while (!levels.empty() && levels.back() > line.indent) {
        levels.pop_back();
        if (!above.empty()) above.pop_back();
      }
      if (levels.empty() || levels.back() != line.indent) return {};
    }
    points += known(above, line.key) ? 1 : 0;
    before = &line;
  }
  return points;
}

}  // namespace

std::optional<std::pair<size_t, size_t>> misindented_line(std::string_view text, const KnownPlace& known) {
  std::vector<Line> lines = lines_of(text);
  if (lines.size() > kMaxLines) return {};
  std::map<size_t, int64_t> indents{{0, 0}};  // and how many lines have it
  for (const Line& l : lines) ++indents[l.indent];
  std::optional<std::pair<size_t, size_t>> best;
  std::tuple<size_t, int64_t, bool> best_points{0, 0, false};
  for (Line& line : lines) {
    const size_t given = line.indent;
    for (const auto& [other, count] : indents) {
      if (other == given) continue;
      line.indent = other;
      const auto known_keys = score(lines, known);
      if (!known_keys) continue;
      // Of two lines that could have slipped it was the one that stands where few others do.
      const std::tuple<size_t, int64_t, bool> points{*known_keys, count - indents[given], other % 2 == 0};
      if (best && points <= best_points) continue;
      best = {line.number, other};
      best_points = points;
    }
    line.indent = given;
  }
  return best;
}

}  // namespace skdsl::config
