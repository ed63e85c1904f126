// words — the words of a header line, an expression or a type, with the places where a line may end
#pragma once
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/ast/layout.h"

namespace skdsl::ast {

// Ranks of ending a line; in brackets the depth is added.
inline constexpr uint16_t kComma = 0, kOperator = 300, kListComma = 700, kThen = 750, kOuterOperator = 800,
                          kAssign = 900;

/// Collects words; the views in them live as long as this and the tree.
class Words {
 public:
  explicit Words(const Ast& ast) : ast_(ast) {}
  std::vector<Word> take() { return std::move(words_); }

  Words& text(std::string_view t, bool space = false, uint16_t rank = kNoBreak) {
    words_.push_back({t, space, rank});
    return *this;
  }
  /// A keyword or operator with a space after it.
  Words& word(std::string_view t, uint16_t rank = kNoBreak) { return text(t, true, rank); }
  Words& owned(std::string t, bool space = false) { return text(store_.emplace_back(std::move(t)), space); }
  Words& space() {
    if (!words_.empty()) words_.back().space = true;
    return *this;
  }
  /// Words of an expression or type.
  Words& node(NodeId id);

 private:
  struct Item {
    NodeId id = 0;  // or, when 0, the text
    std::string_view text;
    bool space = false;
    uint16_t rank = kNoBreak;
    int deeper = 0;  // brackets opened or closed
  };

  uint16_t ranked(uint16_t outer, uint16_t inner) const {
    return depth_ == 0 ? outer : static_cast<uint16_t>(inner + std::min(depth_ - 1, 250));
  }
  Item comma() const { return {0, ",", true, ranked(kListComma, kComma), 0}; }

  void expand(NodeId id);

  const Ast& ast_;
  std::vector<Word> words_;
  std::vector<Item> work_, plan_;
  std::deque<std::string> store_;
  int depth_ = 0;
};

}  // namespace skdsl::ast
