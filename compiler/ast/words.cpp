// words — expressions and types as words
//
// Words come from a work list, not from recursion, since an expression may be thousands of operators deep.
#include "compiler/ast/words.h"

#include "runtime/base/assert.h"

namespace skdsl::ast {

Words& Words::node(NodeId id) {
  work_.push_back({id, {}, false, 0, 0});
  while (!work_.empty()) {
    const Item item = work_.back();
    work_.pop_back();
    if (item.id == 0) {
      depth_ += item.deeper;
      if (!item.text.empty()) text(item.text, item.space, item.rank);
    } else {
      expand(item.id);
    }
  }
  return *this;
}

void Words::expand(NodeId id) {
  plan_.clear();
  const auto child = [&](size_t i) { return Item{ast_.child(id, i), {}, false, kNoBreak, 0}; };
  const auto put = [&](std::string_view t, bool space = false, uint16_t rank = kNoBreak) {
    plan_.push_back({0, t, space, rank, 0});
  };
  const auto bracketed = [&](std::string_view open, std::string_view close, size_t from) {
    ++depth_;  // places of this list rank one deeper
    const bool any = ast_.children(id).size() > from;
    plan_.push_back({0, open, false, any ? ranked(kListComma, kComma) : kNoBreak, 1});
    for (size_t i = from; i < ast_.children(id).size(); ++i) {
      if (i > from) plan_.push_back(comma());
      plan_.push_back(child(i));
    }
    --depth_;
    plan_.push_back({0, close, false, kNoBreak, -1});
  };
  const std::string_view text = ast_.text(id);
  switch (ast_.kind(id)) {
    case Kind::Name:
    case Kind::Int:
    case Kind::Float:
    case Kind::Bytes:
    case Kind::Bool:
    case Kind::TypeName:
      put(text);
      break;
    case Kind::Str:
      put(store_.emplace_back("\"" + std::string(text) + "\""));
      break;
    case Kind::List:
      bracketed("[", "]", 0);
      break;
    case Kind::Comprehension:
      plan_.push_back({0, "[", false, kNoBreak, 1});
      plan_.push_back(child(0));
      put(" for", true);
      put(text, true);
      put("in", true);
      plan_.push_back(child(1));
      plan_.push_back({0, "]", false, kNoBreak, -1});
      break;
    case Kind::Tuple:
      for (size_t i = 0; i < ast_.children(id).size(); ++i) {
        if (i > 0) plan_.push_back(comma());
        plan_.push_back(child(i));
      }
      break;
    case Kind::Paren:
      bracketed("(", ")", 0);
      break;
    case Kind::Unary:
      put(text, text == "not");
      plan_.push_back(child(0));
      break;
    case Kind::Binary: {
      plan_.push_back(child(0));
      // Comparisons and powers stay on their line: a `<` or `>` at its end could be read as a bracket.
      const bool breaks = text == "and" || text == "or" || text == "+" || text == "-" || text == "*" ||
                          text == "/" || text == "%";
      put(" ");
      put(text, true, breaks ? ranked(kOuterOperator, kOperator) : kNoBreak);
      plan_.push_back(child(1));
      break;
    }
    case Kind::IfExpr:
      put("if", true);
      plan_.push_back(child(0));
      put(" then", true, ranked(kThen, kOperator));
      plan_.push_back(child(1));
      put(" else", true, ranked(kThen, kOperator));
      plan_.push_back(child(2));
      break;
    case Kind::Call:
      plan_.push_back(child(0));
      bracketed("(", ")", 1);
      break;
    case Kind::Index:
      plan_.push_back(child(0));
      bracketed("[", "]", 1);
      break;
    case Kind::Arg:
    case Kind::Option:
      if (!text.empty()) {
        put(text, true);
        put("=", true);
      }
      plan_.push_back(child(0));
      break;
    case Kind::Range:
      if (ast_.child(id, 0) == 0 && ast_.child(id, 1) == 0) {
        put(":");
        break;
      }
      if (ast_.child(id, 0) != 0) plan_.push_back(child(0));
      put("..");
      if (ast_.child(id, 1) != 0) plan_.push_back(child(1));
      break;
    case Kind::Member:
      plan_.push_back(child(0));
      put(".");
      put(text);
      break;
    case Kind::TypeTensor:
      if (!text.empty()) put(text);
      bracketed("[", "]", 0);
      break;
    case Kind::TypeList:
      put("list");
      bracketed("[", "]", 0);
      break;
    case Kind::TypeTuple:
      bracketed("(", ")", 0);
      break;
    case Kind::Params:
    case Kind::Options:
      bracketed("(", ")", 0);
      break;
    case Kind::Param:
    case Kind::ConfigEntry:
    case Kind::ConstName:
      put(text);
      if (ast_.child(id, 0) != 0) {
        put(":", true);
        plan_.push_back(child(0));
      }
      if (ast_.children(id).size() > 1 && ast_.child(id, 1) != 0) {
        put(" =", true, depth_ == 0 ? kAssign : kNoBreak);
        plan_.push_back(child(1));
      }
      break;
    case Kind::Binding:
      put(text, true);
      put("=", true, kAssign);
      plan_.push_back(child(0));
      break;
    case Kind::From:
      put("from", true);
      plan_.push_back(child(0));
      for (size_t i = 1; i < ast_.children(id).size(); ++i) {
        put(" ");
        plan_.push_back(child(i));
      }
      break;
    case Kind::ForClause:
      put("for", true);
      put(text, true);
      put("in", true);
      plan_.push_back(child(0));
      break;
    default:
      SK_ASSERT(false, "statements and declarations are printed line by line");
  }
  work_.insert(work_.end(), plan_.rbegin(), plan_.rend());
}

}  // namespace skdsl::ast
