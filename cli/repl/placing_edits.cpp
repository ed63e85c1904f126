// placing_edits — what stands around a scope or at its head: its stream, its core limit, prefetches
#include <algorithm>

#include "cli/repl/blocks.h"
#include "cli/repl/edits.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

namespace {

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

NodeId layer_around(const Document& d, const Parents& parents) {
  for (size_t i = parents.size(); i-- > 0;)
    if (const Kind k = d.ast().kind(parents[i]); k == Kind::Layer || k == Kind::Model || k == Kind::Draft)
      return parents[i];
  return d.ast().root;
}

}  // namespace

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
