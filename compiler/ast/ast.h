// ast — the tree of one source file
//
// Nodes of one shape in one vector, addressed by ids; nodes.def says which children each kind has. Comments
// and blank lines belong to statements and declarations, so that printing the tree keeps them.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/span.h"

namespace skdsl::ast {

enum class Kind : uint8_t {
#define SK_NODE(Name, group, text) Name,
#include "compiler/ast/nodes.def"
#undef SK_NODE
};
enum class Group : uint8_t { Misc, Expr, Type, Stmt, Decl };

std::string_view name(Kind kind);
Group group(Kind kind);

using NodeId = uint32_t;  // 0 = None

struct Node {
  Kind kind = Kind::None;
  uint8_t flags = 0;
  uint32_t text = 0;  // index into the strings
  uint32_t first_child = 0;
  uint32_t n_children = 0;
  Span span;       // the whole construct
  Span name_span;  // of `text`, where it is a name in the source; else empty
};

/// What stands around a statement or declaration. Comments run from `//` or `#!` to the line's end; an empty
/// entry of `leading` or `inner` is an empty line.
struct Comments {
  std::vector<std::string> leading;  // own lines before it
  std::string trailing;              // on its last line
  std::string opening;               // of what has a block: after the opening bracket, on that line
  std::vector<std::string> inner;    // before the closing bracket of a block, or at the end of the file
  bool blank_before = false;         // an empty line stands before it (and its leading comments)
};

class Ast {
 public:
  Ast();
  Ast(Ast&&) = default;
  Ast& operator=(Ast&&) = default;
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;
  /// Adds a node; children must exist already.
  NodeId add(Kind kind, Span span, std::string_view text, std::span<const NodeId> children, uint8_t flags = 0,
             Span name_span = {});
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  Kind kind(NodeId id) const { return nodes_[id].kind; }
  Span span(NodeId id) const { return nodes_[id].span; }
  Span name_span(NodeId id) const { return nodes_[id].name_span ? nodes_[id].name_span : nodes_[id].span; }
  std::string_view text(NodeId id) const { return strings_[nodes_[id].text]; }
  std::span<const NodeId> children(NodeId id) const {
    return {children_.data() + nodes_[id].first_child, nodes_[id].n_children};
  }
  NodeId child(NodeId id, size_t i) const { return children_[nodes_[id].first_child + i]; }
  size_t size() const { return nodes_.size(); }

  Comments& comments(NodeId id) { return comments_[id]; }
  const Comments* find_comments(NodeId id) const {
    const auto it = comments_.find(id);
    return it == comments_.end() ? nullptr : &it->second;
  }

  NodeId root = 0;  // a File

 private:
  uint32_t intern(std::string_view text);
  std::vector<Node> nodes_;
  std::vector<NodeId> children_;
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, uint32_t> string_index_;  // views into strings_
  std::unordered_map<NodeId, Comments> comments_;
};

/// Source text of the tree in the one layout of `skdsl fmt`: two spaces an indent, 110 columns, comments
/// kept.
std::string print(const Ast& ast);

/// Same tree: kinds, texts, flags and children; places and comments do not count.
bool equal(const Ast& a, NodeId x, const Ast& b, NodeId y);

/// One line a node, for `skdsl dump --stage=ast`.
std::string dump(const Ast& ast);

}  // namespace skdsl::ast
