#include "cli/repl/edits.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/repl/document.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

namespace {

/// A super-kernel block in its tree.
struct Block {
  NodeId node = 0;
  Parents parents;
  std::string name;  // as written

  NodeId name_node(const Document& d) const { return d.ast().child(node, 0); }
  NodeId options(const Document& d) const { return d.ast().child(node, 1); }
  NodeId guard(const Document& d) const { return d.ast().child(node, 2); }
  std::span<const NodeId> statements(const Document& d) const {
    return d.ast().children(d.ast().child(node, 3));
  }
};

std::vector<Block> blocks_in(const Document& d) {
  std::vector<Block> out;
  d.walk([&](NodeId node, const Parents& parents) {
    const ast::Ast& a = d.ast();
    if (a.kind(node) != Kind::SuperKernel || a.text(node) == "none" || !a.child(node, 0)) return;
    const NodeId name = a.child(node, 0);
    out.push_back(
        {node, parents, std::string(a.kind(name) == Kind::Str ? a.text(name) : d.text(a.span(name)))});
  });
  return out;
}

Expected<std::vector<Block>> find_all(const Document& d, const std::string& asked) {
  if (d.broken()) return fail("the file does not parse: " + d.first_problem());
  std::vector<Block> all = blocks_in(d), out;
  size_t best = 0;
  for (const Block& b : all) best = std::max(best, names_scope(b.name, asked));
  for (const Block& b : all)
    if (best > 0 && names_scope(b.name, asked) == best) out.push_back(b);
  if (!out.empty()) return out;
  std::vector<std::string> names;
  for (const Block& b : all) names.push_back(b.name);
  std::vector<std::string> notes;
  if (const std::string near = diag::nearest(asked, names); !near.empty())
    notes.push_back("help: did you mean `" + near + "`?");
  else if (!names.empty())
    notes.push_back("help: `:scopes` lists them");
  else
    notes.push_back(
        "note: it has no `superkernel` block; scopes of scope_begin and scope_end and those of imported "
        "files are edited there");
  return fail("the file has no scope `" + asked + "`", std::move(notes));
}

Expected<Block> find_one(const Document& d, const std::string& asked) {
  auto all = find_all(d, asked);
  if (!all) return tl::unexpected(all.error());
  if (all->size() > 1)
    return fail(
        fmt::format("`{}` stands at {} places, in lines {} and {}; this edit takes one", all->front().name,
                    all->size(), d.line(d.ast().span((*all)[0].node)), d.line(d.ast().span((*all)[1].node))),
        {"help: merge neighbours first, or give them names of their own"});
  return all->front();
}

// ---- ops

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

bool is_number(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
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

/// How well a statement fits what was asked for; 0 = not at all.
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

std::string header(const Document& d, const Block& b, const std::string& name) {
  const ast::Ast& a = d.ast();
  std::string out = "superkernel \"" + name + "\"";
  if (!a.children(b.options(d)).empty()) out += " " + std::string(d.text(a.span(b.options(d))));
  if (b.guard(d)) out += " when " + std::string(d.text(a.span(b.guard(d))));
  return out + " <";
}

std::string guard_text(const Document& d, const Block& b) {
  return b.guard(d) ? " when " + std::string(d.text(d.ast().span(b.guard(d)))) : "";
}

using OptionList = std::vector<std::pair<std::string, std::string>>;

OptionList options_of(const Document& d, NodeId options) {
  OptionList out;
  if (!options) return out;
  for (const NodeId o : d.ast().children(options))
    out.emplace_back(d.ast().text(o), d.text(d.ast().span(d.ast().child(o, 0))));
  return out;
}

std::string option_text(const OptionList& list) {
  std::string out;
  for (const auto& [key, value] : list) out += (out.empty() ? "(" : ", ") + key + " = " + value;
  return out.empty() ? out : out + ")";
}

/// Writes the options of a block anew; the name stands before them.
void put_options(Document& d, const Block& b, const OptionList& list) {
  const Span name = d.ast().span(b.name_node(d));
  const NodeId options = b.options(d);
  const bool present = !d.ast().children(options).empty();
  const uint32_t end = present ? d.ast().span(options).end : name.end;
  const std::string text = option_text(list);
  d.replace({1, name.end, end}, text.empty() ? "" : " " + text);
}

/// The innermost block of a kind around a scope with nothing but streams and core limits between them; 0 =
/// none.
NodeId around(const Document& d, const Block& b, Kind kind) {
  for (size_t i = b.parents.size(); i-- > 0;) {
    const Kind k = d.ast().kind(b.parents[i]);
    if (k == kind) return b.parents[i];
    if (k != Kind::Block && k != Kind::Stream && k != Kind::Cores) return 0;
  }
  return 0;
}

void wrap(Document& d, NodeId node, const std::string& head) {
  const Span s = d.ast().span(node);
  d.insert(s.begin, head + " {\n");
  d.insert(s.end, "\n}");
}

/// The declaration that a node stands in: a phase or function, and the layer or model around it.
NodeId function_around(const Document& d, const Parents& parents) {
  for (size_t i = parents.size(); i-- > 0;)
    if (d.ast().kind(parents[i]) == Kind::PhaseDecl || d.ast().kind(parents[i]) == Kind::Fn)
      return parents[i];
  return d.ast().root;
}

NodeId layer_around(const Document& d, const Parents& parents) {
  for (size_t i = parents.size(); i-- > 0;)
    if (const Kind k = d.ast().kind(parents[i]); k == Kind::Layer || k == Kind::Model || k == Kind::Draft)
      return parents[i];
  return d.ast().root;
}

std::string fresh_name(const Document& d, const std::string& base) {
  const auto blocks = blocks_in(d);
  for (int n = 2;; ++n) {
    std::string name = fmt::format("{}_{}", base, n);
    if (std::none_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b.name == name; }))
      return name;
  }
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

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

Expected<std::string> merge(const std::string& text, const std::string& a, const std::string& b) {
  Document d(text);
  auto into = find_all(d, a), from = find_all(d, b);
  if (!into) return tl::unexpected(into.error());
  if (!from) return tl::unexpected(from.error());
  const Block& first = into->front();
  if (first.name == from->front().name) return fail("`" + first.name + "` is one scope already");
  // Equal names are one scope, and must carry equal options.
  OptionList options = options_of(d, first.options(d));
  for (const auto& [key, value] : options_of(d, from->front().options(d))) {
    const auto it =
        std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.first == key; });
    if (it == options.end())
      options.emplace_back(key, value);
    else if (it->second != value)
      return fail(fmt::format("`{}` has {} = {} and `{}` has {}", first.name, key, it->second,
                              from->front().name, value),
                  {fmt::format("help: make them equal first: :option {} {}={}", from->front().name, key,
                               it->second)});
  }
  if (into->size() == 1 && from->size() == 1 && first.parents.back() == from->front().parents.back()) {
    const auto siblings = d.ast().children(first.parents.back());
    const auto x = std::find(siblings.begin(), siblings.end(), first.node),
               y = std::find(siblings.begin(), siblings.end(), from->front().node);
    const Block& early = x < y ? first : from->front();
    const Block& late = x < y ? from->front() : first;
    if (std::abs(x - y) == 1 && guard_text(d, first) == guard_text(d, from->front())) {
      // Neighbours become one block: the bracket that ends the first and the header of the second go.
      const std::string_view all = d.text();
      const uint32_t end = d.ast().span(early.node).end;
      uint32_t open = d.ast().span(d.ast().child(late.node, 3)).begin;
      while (all[open] != '<') --open;
      const Span between{1, end, d.ast().span(late.node).begin};
      d.remove({1, end - 1, between.begin});
      d.remove({1, between.end, open + 1});
      const Span name = d.ast().span(early.name_node(d));
      const uint32_t name_end =
          d.ast().children(early.options(d)).empty() ? name.end : d.ast().span(early.options(d)).end;
      d.replace({1, name.begin, name_end},
                "\"" + first.name + "\"" + (options.empty() ? "" : " " + option_text(options)));
      return d.finish();
    }
  }
  for (const Block& block : *into) put_options(d, block, options);
  for (const Block& block : *from) {
    put_options(d, block, options);
    d.replace(d.ast().span(block.name_node(d)), "\"" + first.name + "\"");
  }
  return d.finish();
}

Expected<std::string> split(const std::string& text, const std::string& scope, const std::string& op,
                            const std::vector<std::string>& paths) {
  Document d(text);
  auto block = find_one(d, scope);
  if (!block) return tl::unexpected(block.error());
  const auto statements = block->statements(d);
  size_t at = statements.size(), best = 0;
  for (size_t i = 0; i < statements.size(); ++i)
    if (const size_t how = fits(d, statements[i], op, paths); how > best) {
      best = how;
      at = i;
    }
  if (best == 0) return tl::unexpected(no_op(d, op, statements, "of the scope"));
  if (at == 0)
    return fail(fmt::format("`{}` is in the first statement of `{}`: nothing would stand before the cut", op,
                            block->name),
                {"help: ops of one statement stay together; write it as two statements to cut inside it"});
  const uint32_t begin = d.lines_of(statements[at]).begin;
  if (begin < d.ast().span(statements[at - 1]).end)
    return fail("two statements of the scope stand in one line",
                {"help: write one statement a line: `skdsl fmt` does"});
  d.insert(begin, ">\n" + header(d, *block, fresh_name(d, block->name)) + "\n");
  return d.finish();
}

Expected<std::string> move(const std::string& text, const std::string& op, const std::string& scope,
                           const std::vector<std::string>& paths) {
  Document d(text);
  auto block = find_one(d, scope);
  if (!block) return tl::unexpected(block.error());
  const ast::Ast& a = d.ast();
  const NodeId home = function_around(d, block->parents);
  NodeId found = 0;
  size_t best = 0;
  std::vector<NodeId> seen;
  d.walk([&](NodeId node, const Parents& parents) {
    const Kind k = a.kind(node);
    if (k != Kind::Assign && k != Kind::ExprStmt && k != Kind::Let) return;
    if (function_around(d, parents) != home) return;
    if (std::find(parents.begin(), parents.end(), block->node) != parents.end())
      return;  // it is there already
    seen.push_back(node);
    if (const size_t how = fits(d, node, op, paths); how > best) {
      best = how;
      found = node;
    }
  });
  if (!found) return tl::unexpected(no_op(d, op, seen, fmt::format("beside `{}`", block->name)));
  const Span lines = d.lines_of(found), whole = a.span(block->node);
  const std::string_view all = d.text();
  std::string moved(all.substr(lines.begin, lines.end - lines.begin));
  if (moved.empty() || moved.back() != '\n') moved += '\n';
  const std::string_view line = all.substr(lines.begin, lines.end - lines.begin);
  const std::string_view statement = d.text(a.span(found));
  // Nothing else may stand in its lines: comments and the statement only.
  std::string rest(line.substr(0, a.span(found).begin - lines.begin));
  const size_t last_break = rest.rfind('\n');
  rest = last_break == std::string::npos ? rest : rest.substr(last_break + 1);
  std::string_view behind = line.substr(a.span(found).begin - lines.begin + statement.size());
  const auto trimmed = [](std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\r' || s.front() == '\n'))
      s.remove_prefix(1);
    return s;
  };
  if (!trimmed(rest).empty() ||
      !(trimmed(behind).empty() || trimmed(behind).starts_with("//") || trimmed(behind).starts_with("#!")))
    return fail(fmt::format("more than `{}` stands in line {}", first_line(statement), d.line(a.span(found))),
                {"help: write one statement a line: `skdsl fmt` does"});
  d.replace(lines, "");
  if (a.span(found).begin > whole.begin) {
    // To the end of the scope: in front of the closing bracket.
    const uint32_t at = d.line_start(whole.end - 1);
    d.insert(at, (at == whole.end - 1 ? "\n" : "") + moved);
  } else {
    const auto statements = block->statements(d);
    const uint32_t at = statements.empty() ? whole.end - 1 : d.lines_of(statements.front()).begin;
    if (!statements.empty() && at < whole.begin)
      return fail("the scope stands in one line", {"help: write one statement a line: `skdsl fmt` does"});
    d.insert(at, moved);
  }
  return d.finish();
}

Expected<std::string> drop(const std::string& text, const std::string& scope) {
  Document d(text);
  auto blocks = find_all(d, scope);
  if (!blocks) return tl::unexpected(blocks.error());
  for (const Block& b : *blocks) d.unwrap(b.node);
  return d.finish();
}

Expected<std::string> set_option(const std::string& text, const std::string& scope, const std::string& key,
                                 const std::string& value) {
  Document d(text);
  auto blocks = find_all(d, scope);
  if (!blocks) return tl::unexpected(blocks.error());
  for (const Block& b : *blocks) {
    OptionList list = options_of(d, b.options(d));
    const auto it = std::find_if(list.begin(), list.end(), [&](const auto& o) { return o.first == key; });
    const bool number =
        is_number(value) || (value.starts_with("\"") && value.ends_with("\"") && value.size() > 1);
    const std::string written = number ? value : "\"" + value + "\"";
    if (value.empty() && it == list.end()) return fail(fmt::format("`{}` has no option `{}`", b.name, key));
    if (value.empty())
      list.erase(it);
    else if (it == list.end())
      list.emplace_back(key, written);
    else
      it->second = written;
    put_options(d, b, list);
  }
  return d.finish();
}

Expected<std::string> set_stream(const std::string& text, const std::string& scope,
                                 const std::string& stream) {
  Document d(text);
  auto block = find_one(d, scope);
  if (!block) return tl::unexpected(block.error());
  const NodeId present = around(d, *block, Kind::Stream);
  if (stream.empty()) {
    if (!present) return fail("`" + block->name + "` is on no stream of its own");
    d.unwrap(present);
  } else if (present) {
    d.replace(d.ast().span(d.ast().child(present, 0)), "\"" + stream + "\"");
  } else {
    wrap(d, block->node, "stream \"" + stream + "\"" + guard_text(d, *block));
  }
  return d.finish();
}

Expected<std::string> set_cores(const std::string& text, const std::string& scope,
                                const std::vector<std::pair<std::string, std::string>>& cores) {
  Document d(text);
  auto block = find_one(d, scope);
  if (!block) return tl::unexpected(block.error());
  const NodeId present = around(d, *block, Kind::Cores);
  if (cores.empty()) {
    if (!present) return fail("`" + block->name + "` has no core limit");
    d.unwrap(present);
  } else if (present) {
    OptionList list = options_of(d, d.ast().child(present, 0));
    for (const auto& [key, value] : cores) {
      const auto it = std::find_if(list.begin(), list.end(), [&](const auto& o) { return o.first == key; });
      if (it == list.end())
        list.emplace_back(key, value);
      else
        it->second = value;
    }
    d.replace(d.ast().span(d.ast().child(present, 0)), option_text(list));
  } else {
    wrap(d, block->node, "cores" + option_text(cores) + guard_text(d, *block));
  }
  return d.finish();
}

Expected<std::string> set_prefetch(const std::string& text, const std::string& scope,
                                   const std::string& target, const std::string& after,
                                   const std::string& max) {
  Document d(text);
  auto block = find_one(d, scope);
  if (!block) return tl::unexpected(block.error());
  const ast::Ast& a = d.ast();
  if (after.empty()) {
    const NodeId home = layer_around(d, block->parents);
    size_t gone = 0;
    d.walk([&](NodeId node, const Parents& parents) {
      if (a.kind(node) != Kind::Prefetch || layer_around(d, parents) != home ||
          d.text(a.span(a.child(node, 0))) != target)
        return;
      d.remove(a.span(node));
      ++gone;
    });
    if (gone == 0)
      return fail("no prefetch of `" + target + "` stands in the layer of `" + block->name + "`");
    return d.finish();
  }
  const auto statements = block->statements(d);
  const std::string line = fmt::format("prefetch {} after {}{}{}\n", target, after,
                                       max.empty() ? "" : " max " + max, guard_text(d, *block));
  if (statements.empty()) return fail("`" + block->name + "` has no statement");
  const uint32_t at = d.lines_of(statements.front()).begin;
  d.insert(std::max(at, a.span(block->node).begin) == at ? at : a.span(statements.front()).begin, line);
  return d.finish();
}

}  // namespace skdsl::cli::repl
