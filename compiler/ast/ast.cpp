// ast — storage, comparison, and the listing for `skdsl dump --stage=ast`
#include "compiler/ast/ast.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "runtime/base/assert.h"

namespace skdsl::ast {
namespace {

struct Row {
  std::string_view name;
  Group group;
};
constexpr auto kRows = std::to_array<Row>({
#define SK_NODE(Name, group, text) {#Name, Group::group},
#include "compiler/ast/nodes.def"
#undef SK_NODE
});

}  // namespace

std::string_view name(Kind kind) { return kRows[static_cast<size_t>(kind)].name; }
Group group(Kind kind) { return kRows[static_cast<size_t>(kind)].group; }

Ast::Ast() {
  intern("");
  nodes_.emplace_back();
}

uint32_t Ast::intern(std::string_view text) {
  if (const auto it = string_index_.find(text); it != string_index_.end()) return it->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  string_index_.emplace(strings_.emplace_back(text), id);
  return id;
}

NodeId Ast::add(Kind kind, Span span, std::string_view text, std::span<const NodeId> children, uint8_t flags,
                Span name_span) {
  const auto id = static_cast<NodeId>(nodes_.size());
  for (const NodeId child : children) SK_ASSERT(child < id, "children are made before their parent");
  nodes_.push_back({kind, flags, intern(text), static_cast<uint32_t>(children_.size()),
                    static_cast<uint32_t>(children.size()), span, name_span});
  children_.insert(children_.end(), children.begin(), children.end());
  return id;
}

bool equal(const Ast& a, NodeId x, const Ast& b, NodeId y) {
  // A work list, not recursion: trees may be as deep as a chain of operators is long.
  std::vector<std::pair<NodeId, NodeId>> work = {{x, y}};
  while (!work.empty()) {
    const auto [l, r] = work.back();
    work.pop_back();
    if (a.kind(l) != b.kind(r) || a[l].flags != b[r].flags || a.text(l) != b.text(r)) return false;
    const auto left = a.children(l);
    const auto right = b.children(r);
    if (left.size() != right.size()) return false;
    for (size_t i = 0; i < left.size(); ++i) work.emplace_back(left[i], right[i]);
  }
  return true;
}

std::string dump(const Ast& ast) {
  std::string out;
  std::vector<std::pair<NodeId, size_t>> work = {{ast.root, 0}};
  while (!work.empty()) {
    const auto [id, depth] = work.back();
    work.pop_back();
    const Node& node = ast[id];
    out.append(2 * depth, ' ');
    out += name(node.kind);
    if (!ast.text(id).empty()) out += fmt::format(" `{}`", ast.text(id));
    if (node.flags != 0) out += fmt::format(" flags={}", node.flags);
    if (node.span) out += fmt::format(" @{}..{}", node.span.begin, node.span.end);
    out += '\n';
    const auto children = ast.children(id);
    for (size_t i = children.size(); i-- > 0;) work.emplace_back(children[i], depth + 1);
  }
  return out;
}

}  // namespace skdsl::ast
