#include "cli/repl/document.h"

#include <algorithm>

#include "compiler/parse/parse.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

namespace {
bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
}  // namespace

Document::Document(std::string text)
    : ast_(parse::parse(sources_.add("<edited>", std::move(text)), diags_)) {}

void Document::walk(const std::function<void(NodeId, const Parents&)>& visit) const {
  Parents parents;
  const std::function<void(NodeId)> go = [&](NodeId node) {
    visit(node, parents);
    parents.push_back(node);
    for (const NodeId child : ast_.children(node))
      if (child) go(child);
    parents.pop_back();
  };
  go(ast_.root);
}

Span Document::lines_of(NodeId statement) const {
  const std::string_view all = text();
  Span s = ast_.span(statement);
  while (s.begin > 0 && all[s.begin - 1] != '\n') --s.begin;
  while (s.end < all.size() && all[s.end] != '\n') ++s.end;
  if (s.end < all.size()) ++s.end;
  // Comments directly above belong to it.
  while (s.begin > 0) {
    uint32_t start = s.begin - 1;
    while (start > 0 && all[start - 1] != '\n') --start;
    std::string_view above = all.substr(start, s.begin - 1 - start);
    while (!above.empty() && blank(above.front())) above.remove_prefix(1);
    if (!above.starts_with("//") && !above.starts_with("#!")) break;
    s.begin = start;
  }
  return s;
}

void Document::unwrap(NodeId node) {
  const std::string_view all = text();
  const Span whole = ast_.span(node), block = ast_.span(ast_.children(node).back());
  const char bracket = ast_.kind(node) == Kind::SuperKernel ? '<' : '{';
  uint32_t open = block.begin;
  // A block's span may begin at its bracket or at its first statement.
  while (open > whole.begin && all[open] != bracket) --open;
  remove({1, whole.begin, open + 1});
  remove({1, whole.end - 1, whole.end});
}

void Document::remove(Span span) {
  const std::string_view all = text();
  uint32_t end = span.end;
  while (end < all.size() && blank(all[end])) ++end;
  const uint32_t begin = line_start(span.begin);
  if ((begin == 0 || all[begin - 1] == '\n') && (end == all.size() || all[end] == '\n'))
    span = {1, begin, end < all.size() ? end + 1 : end};
  replace(span, "");
}

uint32_t Document::line_start(uint32_t at) const {
  uint32_t begin = at;
  while (begin > 0 && blank(text()[begin - 1])) --begin;
  return begin == 0 || text()[begin - 1] == '\n' ? begin : at;
}

Expected<std::string> Document::finish() const {
  std::vector<const diag::Edit*> edits;
  for (const diag::Edit& e : edits_) edits.push_back(&e);
  // Edits at one place keep their order: elements of one vector, so addresses tell it.
  std::sort(edits.begin(), edits.end(), [](const auto* a, const auto* b) {
    return std::pair(a->span.begin, a) < std::pair(b->span.begin, b);
  });
  std::string out;
  uint32_t at = 0;
  for (const diag::Edit* const edit : edits) {
    const diag::Edit& e = *edit;
    if (e.span.begin < at)
      return fail("the edit meets itself in one line of the file",
                  {"help: write one statement a line: `skdsl fmt` does"});
    out.append(text().substr(at, e.span.begin - at)).append(e.text);
    at = e.span.end;
  }
  out.append(text().substr(at));
  return formatted(out);
}

Expected<std::string> formatted(const std::string& text) {
  const Document d(text);
  if (d.broken()) return fail("the edited text does not parse: " + d.first_problem());
  return ast::print(d.ast());
}

}  // namespace skdsl::cli::repl
