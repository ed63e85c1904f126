// build_expr — expressions: precedence, calls, literals
//
// The grammar gives an expression as a flat chain of terms and operators; the tree is built here with two
// stacks. From loose to tight: or · and · not · comparison · + - · * / % · unary minus · ** (right to left).
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "compiler/parse/build.h"
#include "compiler/parse/parse.h"

namespace skdsl::parse {

using ast::Kind;
using ast::NodeId;

namespace {

enum Level : int { kOr = 1, kAnd, kNot, kCompare, kSum, kProduct, kMinus, kPower };

int level(size_t type) {
  switch (type) {
    case T::OR:
      return kOr;
    case T::AND:
      return kAnd;
    case T::PLUS:
    case T::MINUS:
      return kSum;
    case T::STAR:
    case T::SLASH:
    case T::PERCENT:
      return kProduct;
    case T::POW:
      return kPower;
    default:
      return kCompare;
  }
}

struct Operator {
  int level;
  antlr4::Token* token;
  bool unary;
};

}  // namespace

NodeId Builder::expr(P::ExprContext* c) {
  if (too_long(c->branches.size(), span_of(c)) || too_long(c->rest.size(), span_of(c))) return 0;
  if (c->branches.empty()) return chain(c);
  Ids conditions, values;
  for (P::BranchContext* branch : c->branches) {
    conditions.push_back(expr(branch->condition));
    values.push_back(expr(branch->value));
  }
  NodeId otherwise = chain(c);
  const uint32_t end = span_of(c).end;
  for (size_t i = conditions.size(); i-- > 0;) {
    otherwise = add(Kind::IfExpr, {file_, span_of(c->branches[i]->head).begin, end}, "",
                    {conditions[i], values[i], otherwise});
  }
  return otherwise;
}

NodeId Builder::chain(P::ExprContext* c) {
  if (c->rest.empty() && c->first->prefixes.empty()) return term(c->first);
  Ids operands;
  std::vector<Operator> operators;
  const auto reduce = [&] {
    const Operator op = operators.back();
    operators.pop_back();
    const NodeId right = operands.back();
    operands.pop_back();
    if (op.unary) {
      operands.push_back(add(Kind::Unary, {file_, span_of(op.token).begin, ast_.span(right).end},
                             text_of(op.token), {right}, 0, span_of(op.token)));
      return;
    }
    const NodeId left = operands.back();
    operands.pop_back();
    operands.push_back(add(Kind::Binary, {file_, ast_.span(left).begin, ast_.span(right).end},
                           text_of(op.token), {left, right}, 0, span_of(op.token)));
  };
  for (size_t i = 0; i <= c->rest.size(); ++i) {
    if (i > 0) {
      antlr4::Token* const op = c->rest[i - 1]->op;
      const int incoming = level(op->getType());
      while (!operators.empty() && (operators.back().level > incoming ||
                                    (operators.back().level == incoming && incoming != kPower))) {
        if (incoming == kCompare && operators.back().level == kCompare && !failed) {
          syntax(span_of(op), "comparisons do not chain").helps.emplace_back("write `a < b and b < c`");
        }
        reduce();
      }
      operators.push_back({incoming, op, false});
    }
    P::TermContext* const t = i == 0 ? c->first : c->rest[i - 1]->value;
    if (too_long(t->prefixes.size(), span_of(t))) return 0;
    for (antlr4::Token* prefix : t->prefixes) {
      const bool is_not = prefix->getType() == T::NOT;
      if (is_not && !operators.empty() && operators.back().level > kNot && !failed) {
        syntax(span_of(prefix), fmt::format("`not` cannot follow `{}`", text_of(operators.back().token)))
            .helps.emplace_back("put it into parentheses: `(not a)`");
      }
      operators.push_back({is_not ? kNot : kMinus, prefix, true});
    }
    operands.push_back(term(t));
  }
  while (!operators.empty()) reduce();
  return operands.back();
}

NodeId Builder::place(P::TermContext* c) {
  if (!c->prefixes.empty())
    syntax(span_of(c->prefixes[0]),
           fmt::format("expected a name or path, found `{}`", text_of(c->prefixes[0])));
  return term(c);
}

NodeId Builder::term(P::TermContext* c) {
  if (too_long(c->suffixes.size(), span_of(c))) return 0;
  NodeId id = primary(c);
  for (P::SuffixContext* s : c->suffixes) id = suffix(s, id);
  return id;
}

NodeId Builder::number(antlr4::Token* t, Kind kind) {
  std::string digits(text_of(t));
  std::erase(digits, '_');
  bool fits = true;
  std::string_view what = "64 bits";
  if (kind == Kind::Float) {
    what = "a 64-bit float";
    fits = std::isfinite(std::strtod(digits.c_str(), nullptr));
  } else {
    const bool hex = digits.starts_with("0x");
    int64_t value = 0;
    const char* const first = digits.data() + (hex ? 2 : 0);
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
    fits = error == std::errc();
    if (fits && kind == Kind::Bytes) {
      const double unit = digits.ends_with("KiB")   ? 0x1p10
                          : digits.ends_with("MiB") ? 0x1p20
                          : digits.ends_with("GiB") ? 0x1p30
                                                    : 1.0;
      fits = std::strtod(digits.c_str(), nullptr) * unit < 0x1p63;
    }
  }
  if (!fits) problem(span_of(t), diag::Id::NumberOutOfRange, {std::string(text_of(t)), std::string(what)});
  return add(kind, span_of(t), text_of(t), {});
}

NodeId Builder::primary(P::TermContext* c) {
  if (c->atom != nullptr) {
    switch (c->atom->getType()) {
      case T::IDENT:
        return add(Kind::Name, span_of(c->atom), text_of(c->atom), {}, 0, span_of(c->atom));
      case T::INT:
        return number(c->atom, Kind::Int);
      case T::FLOAT:
        return number(c->atom, Kind::Float);
      case T::BYTES:
        return number(c->atom, Kind::Bytes);
      case T::STRING:
        return string(c->atom);
      default:
        return add(Kind::Bool, span_of(c->atom), text_of(c->atom), {});
    }
  }
  return bracketed(c->group);
}

NodeId Builder::bracketed(P::BracketedContext* c) {
  const Span span = {file_, span_of(c->open).begin, span_of(c->close).end};
  if (c->inner != nullptr) return add(Kind::Paren, span, "", {expr(c->inner)});
  if (c->first == nullptr) return add(Kind::List, span, "", {});
  if (c->iterable != nullptr) {
    const NodeId element = expr(c->first);
    const NodeId iterable = range(c->iterable);
    return add(Kind::Comprehension, span, text_of(c->label), {element, iterable}, 0, span_of(c->label));
  }
  Ids ids = {expr(c->first)};
  ids.reserve(c->rest.size() + 1);
  for (P::ExprContext* e : c->rest) ids.push_back(expr(e));
  return add(Kind::List, span, "", ids);
}

NodeId Builder::suffix(P::SuffixContext* c, NodeId base) {
  const uint32_t begin = ast_.span(base).begin;
  if (c->label != nullptr) {
    return add(Kind::Member, {file_, begin, span_of(c->label).end}, text_of(c->label), {base}, 0,
               span_of(c->label));
  }
  const Span span = {file_, begin, span_of(c->close).end};
  Ids ids = {base};
  if (!c->items.empty()) {
    for (P::IndexItemContext* item : c->items) ids.push_back(index_item(item));
    return add(Kind::Index, span, "", ids);
  }
  ids.reserve(c->arguments.size() + 1);
  for (P::ArgumentContext* a : c->arguments) {
    const NodeId value = expr(a->value);
    ids.push_back(add(Kind::Arg, span_of(a), a->label != nullptr ? text_of(a->label) : "", {value}, 0,
                      a->label != nullptr ? span_of(a->label) : Span{}));
  }
  return add(Kind::Call, span, "", ids);
}

NodeId Builder::index_item(P::IndexItemContext* c) {
  if (c->all != nullptr) return add(Kind::Range, span_of(c), "", {0, 0});
  const NodeId begin = optional(c->begin);
  if (c->open == nullptr) return begin;
  return add(Kind::Range, span_of(c), "", {begin, optional(c->end)});
}

}  // namespace skdsl::parse
