#include "cli/repl/blocks.h"

#include <algorithm>

#include "cli/repl/scopes.h"

namespace skdsl::cli::repl {

using ast::Kind;
using ast::NodeId;

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

std::string fresh_name(const Document& d, const std::string& base) {
  const auto blocks = blocks_in(d);
  for (int n = 2;; ++n) {
    std::string name = fmt::format("{}_{}", base, n);
    if (std::none_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b.name == name; }))
      return name;
  }
}

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

void put_options(Document& d, const Block& b, const OptionList& list) {
  const Span name = d.ast().span(b.name_node(d));
  const NodeId options = b.options(d);
  const bool present = !d.ast().children(options).empty();
  const uint32_t end = present ? d.ast().span(options).end : name.end;
  const std::string text = option_text(list);
  d.replace({1, name.end, end}, text.empty() ? "" : " " + text);
}

std::string guard_text(const Document& d, const Block& b) {
  return b.guard(d) ? " when " + std::string(d.text(d.ast().span(b.guard(d)))) : "";
}

std::string header(const Document& d, const Block& b, const std::string& name) {
  const ast::Ast& a = d.ast();
  std::string out = "superkernel \"" + name + "\"";
  if (!a.children(b.options(d)).empty()) out += " " + std::string(d.text(a.span(b.options(d))));
  if (b.guard(d)) out += " when " + std::string(d.text(a.span(b.guard(d))));
  return out + " <";
}

}  // namespace skdsl::cli::repl
