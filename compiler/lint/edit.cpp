#include "compiler/lint/edit.h"

namespace skdsl::lint {

using ast::Kind;
using ast::NodeId;

namespace {

bool is_statement(Kind kind) {
  return ast::group(kind) == ast::Group::Stmt && kind != Kind::Block && kind != Kind::Options &&
         kind != Kind::Option && kind != Kind::Binding;
}

template <class Wanted>
NodeId innermost(const Context& c, Span span, Wanted wanted) {
  if (!c.modules || span.file != c.file) return 0;
  const ast::Ast& a = c.ast();
  NodeId at = a.root, found = 0;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const NodeId child : a.children(at)) {
      const Span s = a.span(child);
      if (child == 0 || span.begin < s.begin || span.end > s.end) continue;
      at = child;
      if (wanted(a.kind(at))) found = at;
      deeper = true;
      break;
    }
  }
  return found;
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

NodeId statement_at(const Context& c, Span span) { return innermost(c, span, is_statement); }

NodeId node_at(const Context& c, Span span, Kind kind) {
  return innermost(c, span, [kind](Kind k) { return k == kind; });
}

void remove_statement(const Context& c, NodeId statement, diag::Engine::Builder& report) {
  if (!statement) return;
  const std::string_view text = c.text();
  Span cut = c.ast().span(statement);
  uint32_t begin = cut.begin, end = cut.end;
  while (begin > 0 && blank(text[begin - 1])) --begin;
  while (end < text.size() && blank(text[end])) ++end;
  const bool starts = begin == 0 || text[begin - 1] == '\n';
  const bool ends = end == text.size() || text[end] == '\n';
  if (starts && ends) {
    cut = {c.file, begin, end < text.size() ? end + 1 : end};
  } else if (end < text.size() && text[end] == ';') {
    ++end;
    while (end < text.size() && blank(text[end])) ++end;
    cut.end = end;
  } else if (begin > 0 && text[begin - 1] == ';') {
    cut.begin = begin - 1;
  }
  report.fix(cut, "");
}

void put_under(const Context& c, NodeId statement, const std::string& condition,
               diag::Engine::Builder& report) {
  if (!statement) return;
  const Span s = c.ast().span(statement);
  report.fix({s.file, s.begin, s.begin}, "if " + condition + " { ").fix({s.file, s.end, s.end}, " }");
}

std::string indent_of(const Context& c, Span span) {
  const std::string_view text = c.text();
  size_t begin = span.begin;
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  size_t end = begin;
  while (end < text.size() && blank(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

void insert_behind(const Context& c, NodeId statement, const std::string& text,
                   diag::Engine::Builder& report) {
  if (!statement) return;
  const Span s = c.ast().span(statement);
  const std::string_view source = c.text();
  // A line of its own, where the statement ends its line but for a comment.
  const size_t end = std::min(source.find('\n', s.end), source.size());
  std::string_view rest = source.substr(s.end, end - s.end);
  while (!rest.empty() && blank(rest.front())) rest.remove_prefix(1);
  if (rest.empty() || rest.starts_with("//") || rest.starts_with("#!")) {
    const auto at = static_cast<uint32_t>(end > 0 && source[end - 1] == '\r' ? end - 1 : end);
    report.fix({s.file, at, at}, "\n" + indent_of(c, s) + text);
  } else {
    report.fix({s.file, s.end, s.end}, "; " + text);
  }
}

void unwrap(const Context& c, NodeId node, diag::Engine::Builder& report) {
  if (!node) return;
  const ast::Ast& a = c.ast();
  const Span whole = a.span(node);
  const auto statements = a.children(a.children(node).back());
  if (statements.empty()) {
    remove_statement(c, node, report);
    return;
  }
  // The comments inside stay: only the header with its bracket and the closing bracket go.
  const std::string_view text = c.text();
  const bool angle = a.kind(node) == Kind::SuperKernel;
  uint32_t open = a.span(statements.front()).begin;
  const Span block = a.span(a.children(node).back());
  if (text[block.begin] == (angle ? '<' : '{')) {
    open = block.begin + 1;
    while (open < text.size() && blank(text[open])) ++open;
  }
  uint32_t close = whole.end - 1;
  while (close > whole.begin && blank(text[close - 1])) --close;
  report.fix({c.file, whole.begin, open}, "").fix({c.file, close, whole.end}, "");
}

}  // namespace skdsl::lint
