#include "cli/repl/scopes.h"

#include "cli/repl/blocks.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

namespace {
/// Whether the pattern stands for the name; counts its literal characters.
bool matches(std::string_view written, std::string_view asked, size_t& literal) {
  const size_t open = written.find('{');
  if (open == std::string_view::npos) {
    literal += written.size();
    return written == asked;
  }
  const size_t close = written.find('}', open);
  if (close == std::string_view::npos || asked.substr(0, open) != written.substr(0, open)) return false;
  const std::string_view rest = written.substr(close + 1);
  // `{…}` stands for one or more characters; the rest is tried at every place behind them.
  for (size_t at = open + 1; at <= asked.size() && asked[at - 1] != '{' && asked[at - 1] != '}'; ++at) {
    size_t more = literal + open;
    if (!matches(rest, asked.substr(at), more)) continue;
    literal = more;
    return true;
  }
  return false;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }
}  // namespace

size_t names_scope(std::string_view written, std::string_view asked) {
  if (written == asked) return 2 * written.size() + 2;
  size_t literal = 1;
  return matches(written, asked, literal) ? literal : 0;
}

const SourceScope* source_of(const std::vector<SourceScope>& scopes, std::string_view name) {
  const SourceScope* out = nullptr;
  size_t best = 0;
  for (const SourceScope& s : scopes)
    if (const size_t how = names_scope(s.name, name); how > best) {
      best = how;
      out = &s;
    }
  return out;
}

std::string where(const SourceScope& s) {
  const std::string around = s.around.empty() ? "" : fmt::format(", {}", fmt::join(s.around, ", "));
  if (s.file.empty()) return fmt::format("line {}, {}{}", s.line, s.home, around);
  return fmt::format("{}:{}, {}{}; edited in that file only", s.file, s.line, s.home, around);
}

std::vector<SourceScope> scopes_in(const std::string& text) {
  const Document d(text);
  const ast::Ast& a = d.ast();
  std::vector<SourceScope> out;
  for (const Block& b : blocks_in(d)) {
    SourceScope s;
    s.name = b.name;
    s.line = d.line(a.span(b.node));
    s.options = option_text(options_of(d, b.options(d)));
    if (b.guard(d)) s.guard = d.text(a.span(b.guard(d)));
    for (const NodeId p : b.parents) {
      const Kind k = a.kind(p);
      if (k == Kind::Layer || k == Kind::Model || k == Kind::Draft || k == Kind::Fn || k == Kind::PhaseDecl)
        s.home += (s.home.empty() ? "" : ".") + std::string(a.text(p));
      if (k == Kind::Stream) s.around.push_back("stream " + std::string(d.text(a.span(a.child(p, 0)))));
      if (k == Kind::Cores) s.around.push_back("cores" + option_text(options_of(d, a.child(p, 0))));
    }
    for (const NodeId statement : b.statements(d))
      s.statements.push_back(first_line(d.text(a.span(statement))));
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace skdsl::cli::repl
