// blocks — the super-kernel blocks of a model file: where they stand, what they are called, what they carry
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/repl/document.h"
#include "runtime/base/error.h"

namespace skdsl::cli::repl {

/// A super-kernel block in its tree.
struct Block {
  ast::NodeId node = 0;
  Parents parents;
  std::string name;  // as written

  ast::NodeId name_node(const Document& d) const { return d.ast().child(node, 0); }
  ast::NodeId options(const Document& d) const { return d.ast().child(node, 1); }
  ast::NodeId guard(const Document& d) const { return d.ast().child(node, 2); }
  std::span<const ast::NodeId> statements(const Document& d) const {
    return d.ast().children(d.ast().child(node, 3));
  }
};

std::vector<Block> blocks_in(const Document& document);
/// The blocks that a name stands for: at least one, and of the names that fit those that fit best.
Expected<std::vector<Block>> find_all(const Document& document, const std::string& asked);
/// The only one.
Expected<Block> find_one(const Document& document, const std::string& asked);
/// A name with the lowest number behind it that no block has.
std::string fresh_name(const Document& document, const std::string& base);

/// Keys and values as written.
using OptionList = std::vector<std::pair<std::string, std::string>>;
OptionList options_of(const Document& document, ast::NodeId options);
/// "(key = value, …)"; "" without entries.
std::string option_text(const OptionList& list);
/// Writes the options of a block anew; the name stands before them.
void put_options(Document& document, const Block& block, const OptionList& list);
/// " when …", or "".
std::string guard_text(const Document& document, const Block& block);
/// What opens the block, under another name.
std::string header(const Document& document, const Block& block, const std::string& name);

}  // namespace skdsl::cli::repl
