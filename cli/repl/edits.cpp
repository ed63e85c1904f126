#include "cli/repl/edits.h"

#include <algorithm>

#include "cli/repl/blocks.h"
#include "cli/repl/calls.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

namespace {

/// The declaration that a node stands in: a phase or function, and the layer or model around it.
NodeId function_around(const Document& d, const Parents& parents) {
  for (size_t i = parents.size(); i-- > 0;)
    if (d.ast().kind(parents[i]) == Kind::PhaseDecl || d.ast().kind(parents[i]) == Kind::Fn)
      return parents[i];
  return d.ast().root;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

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

}  // namespace skdsl::cli::repl
