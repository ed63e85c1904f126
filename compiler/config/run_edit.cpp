#include "compiler/config/run_edit.h"

#include <optional>

namespace skdsl::config {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

size_t line_begin(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] != '\n') --at;
  return at;
}
size_t line_end(std::string_view text, size_t at) { return std::min(text.find('\n', at), text.size()); }
size_t indent(std::string_view text, size_t line) {
  return std::min(text.find_first_not_of(' ', line), text.size()) - line;
}
/// Nothing but blanks and a comment.
bool says_nothing(std::string_view text, size_t line) {
  const size_t first = text.find_first_not_of(" \t\r", line);
  return first == text.npos || text[first] == '\n' || text[first] == '#';
}

bool begins_line(std::string_view text, size_t at) {
  const size_t line = line_begin(text, at);
  return text.substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos;
}

/// The end of a value; of one in brackets a place knows the opening one only.
size_t value_end(std::string_view text, Span key, Span value) {
  if (!value || value.begin < key.end) return key.end + (key.end < text.size() && text[key.end] == ':');
  if (text[value.begin] != '{' && text[value.begin] != '[') return value.end;
  int depth = 0;
  char quote = 0;
  for (size_t i = value.begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '{' || c == '[')
      ++depth;
    else if ((c == '}' || c == ']') && --depth == 0)
      return i + 1;
  }
  return value.end;
}

/// The lines of an entry that begins a line: its own and the deeper ones behind it.
size_t last_line_end(std::string_view text, size_t line, size_t end) {
  const size_t depth = indent(text, line);
  end = line_end(text, end);
  for (size_t next = end + 1; next < text.size(); next = line_end(text, next) + 1) {
    if (says_nothing(text, next)) continue;
    const size_t d = indent(text, next);
    if (d < depth || (d == depth && text[next + d] != '-')) break;
    end = line_end(text, next);
  }
  return end;
}

struct Around {
  bool sibling = false;
  std::optional<size_t> parent;  // its line
};
Around around(std::string_view text, size_t line, size_t end) {
  Around out;
  const size_t depth = indent(text, line);
  for (size_t at = line; at > 0 && !out.sibling;) {
    at = line_begin(text, at - 1);
    if (says_nothing(text, at) || indent(text, at) > depth) continue;
    out.sibling = indent(text, at) == depth;
    if (!out.sibling) out.parent = at;
    break;
  }
  for (size_t next = end + 1; next < text.size(); next = line_end(text, next) + 1) {
    if (says_nothing(text, next)) continue;
    out.sibling |= indent(text, next) == depth;
    break;
  }
  return out;
}

/// An entry in front of another one of its section.
void insert_entry(const source::Sources& sources, Span before, const std::string& entry,
                  diag::Engine::Builder& report) {
  if (!before) return;
  const std::string_view text = sources.text(before.file);
  const size_t line = line_begin(text, before.begin);
  const std::string between =
      begins_line(text, before.begin) ? "\n" + std::string(text.substr(line, before.begin - line)) : ", ";
  report.fix({before.file, before.begin, before.begin}, entry + between);
}

/// What the file gives for a row, or null.
const Setting* written(const RunView& view, const RunKey& row) {
  const Setting* s = view.settings().find(row.setting());
  return s && s->layer == Layer::RunYaml && s->section == row.section && s->key_span ? s : nullptr;
}

}  // namespace

void remove_entry(const source::Sources& sources, Span key, Span value, diag::Engine::Builder& report) {
  if (!key) return;
  const std::string_view text = sources.text(key.file);
  size_t begin = key.begin, end = value_end(text, key, value);
  if (begins_line(text, begin) && line_begin(text, begin) + indent(text, line_begin(text, begin)) == begin) {
    begin = line_begin(text, begin);
    end = last_line_end(text, begin, end);
    for (Around near = around(text, begin, end); !near.sibling; near = around(text, begin, end)) {
      if (!near.parent) return;
      begin = *near.parent;
    }
    if (end < text.size()) ++end;
  } else {
    size_t comma = end;
    while (comma < text.size() && (blank(text[comma]) || text[comma] == '\n')) ++comma;
    if (comma < text.size() && text[comma] == ',') {
      end = comma + 1;
      while (end < text.size() && blank(text[end])) ++end;
    } else {
      size_t before = begin;
      while (before > 0 && (blank(text[before - 1]) || text[before - 1] == '\n')) --before;
      if (before > 0 && text[before - 1] == ',') begin = before - 1;
    }
  }
  report.fix({key.file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, "");
}

void rename_key(const source::Sources& sources, Span place, const std::string& key, const std::string& name,
                diag::Engine::Builder& report) {
  if (!place) return;
  const size_t dot = key.rfind('.');
  const std::string above = key.substr(0, dot == key.npos ? 0 : dot + 1);
  if (above.empty() || sources.text(place).find(above) != std::string_view::npos)
    report.fix(place, name);
  else if (name.starts_with(above) && name.find('.', above.size()) == name.npos)
    report.fix(place, name.substr(above.size()));
}

std::string nearest_allowed(const RunKey& row, const Json& value) {
  const size_t dots = row.range.find("..");
  if (dots == row.range.npos || !value.is_number()) return {};
  const std::string least(row.range.substr(0, dots)), most(row.range.substr(dots + 2));
  if (!least.empty() && value.as_double() < std::stod(least)) return least;
  if (!most.empty() && value.as_double() > std::stod(most)) return most;
  return {};
}

void set_key(const source::Sources& sources, const RunView& view, std::string_view path,
             const std::string& value, diag::Engine::Builder& report) {
  const RunKey& row = *view.at(path).key;
  if (const Setting* s = written(view, row)) {
    if (s->span) report.fix(s->span, value);
    return;
  }
  if (row.section == "ge") return;
  for (const Setting& s : view.settings().items)
    if (s.layer == Layer::RunYaml && s.section == row.section && s.key_span) {
      insert_entry(sources, s.key_span, fmt::format("{}: {}", row.key, value), report);
      return;
    }
}

void drop_key(const source::Sources& sources, const RunView& view, std::string_view path,
              diag::Engine::Builder& report) {
  if (const Setting* s = written(view, *view.at(path).key))
    remove_entry(sources, s->key_span, s->span, report);
}

}  // namespace skdsl::config
