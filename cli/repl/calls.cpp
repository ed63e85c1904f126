#include "cli/repl/calls.h"

#include <algorithm>
#include <charconv>

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

bool is_number(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

namespace {

using Path = std::vector<std::string>;

/// "layers.0.attn[1]" -> layers 0 attn 1
Path components(std::string_view text) {
  Path out;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    if (c == '.' || c == '[' || c == ']' || c == ' ')
      flush();
    else
      word += c;
  }
  flush();
  return out;
}

/// Whether a call as written stands for a part of an instance path; an index that is no number stands for
/// any. Its length, or 0.
size_t match(const Path& call, const Path& asked) {
  if (call.empty() || call.size() > asked.size()) return 0;
  for (size_t at = 0; at + call.size() <= asked.size(); ++at) {
    bool same = true;
    for (size_t i = 0; i < call.size() && same; ++i) {
      const bool index = i > 0 && is_number(asked[at + i]) && !is_number(call[i]);
      same = call[i] == asked[at + i] || index;
    }
    if (same) return call.size();
  }
  return 0;
}

void calls_below(const Document& d, NodeId node, std::vector<std::string>& out) {
  const ast::Ast& a = d.ast();
  if (a.kind(node) == Kind::Call) out.emplace_back(d.text(a.span(a.child(node, 0))));
  for (const NodeId child : a.children(node))
    if (child) calls_below(d, child, out);
}

}  // namespace

size_t fits(const Document& d, NodeId statement, const std::string& op,
            const std::vector<std::string>& paths) {
  if (op.size() > 1 && op[0] == ':' && is_number(op.substr(1))) {
    const Span s = d.ast().span(statement);
    const uint32_t first = d.line(s), last = d.line({1, s.end > s.begin ? s.end - 1 : s.end, s.end});
    uint32_t line = 0;
    std::from_chars(op.data() + 1, op.data() + op.size(), line);
    return line >= first && line <= last ? 1 : 0;
  }
  std::vector<std::string> calls;
  calls_below(d, statement, calls);
  size_t best = 0;
  for (const std::string& call : calls) {
    const Path c = components(call);
    best = std::max(best, match(c, components(op)));
    for (const std::string& path : paths) best = std::max(best, match(c, components(path)));
  }
  return best;
}

Error no_op(const Document& d, const std::string& op, std::span<const NodeId> statements,
            const std::string& where) {
  std::vector<std::string> calls;
  for (const NodeId s : statements) calls_below(d, s, calls);
  Error e{ErrorKind::Input, fmt::format("no statement {} calls `{}`", where, op), {}};
  if (const std::string near = diag::nearest(op, calls); !near.empty()) {
    e.notes.push_back("help: did you mean `" + near + "`?");
  } else if (!calls.empty()) {
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(calls.size(), 6); ++i) list += (i ? ", `" : "`") + calls[i] + "`";
    e.notes.push_back("help: its calls are " + list + "; a line is written :LINE");
  }
  return e;
}

std::vector<std::string> calls_in(const std::string& text) {
  const Document d(text);
  std::vector<std::string> out;
  d.walk([&](NodeId node, const Parents&) {
    if (d.ast().kind(node) == Kind::PhaseDecl || d.ast().kind(node) == Kind::Fn) calls_below(d, node, out);
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace skdsl::cli::repl
