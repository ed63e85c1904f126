#include "runtime/plan/dim.h"

#include <algorithm>

#include "runtime/base/assert.h"

namespace skdsl::plan {

Dim Dim::symbol(SymbolId id) {
  Dim d;
  d.terms_.push_back({{id}, 1});
  return d;
}

std::optional<SymbolId> Dim::as_symbol() const {
  if (constant_ == 0 && terms_.size() == 1 && terms_[0].coefficient == 1 && terms_[0].factors.size() == 1)
    return terms_[0].factors[0];
  return {};
}

void Dim::add_term(const Term& term) {
  if (term.coefficient == 0) return;
  if (term.factors.empty()) {
    constant_ = static_cast<int64_t>(static_cast<uint64_t>(constant_) + static_cast<uint64_t>(term.coefficient));
    return;
  }
  const auto it = std::lower_bound(terms_.begin(), terms_.end(), term,
                                   [](const Term& a, const Term& b) { return a.factors < b.factors; });
  if (it != terms_.end() && it->factors == term.factors) {
    it->coefficient = static_cast<int64_t>(static_cast<uint64_t>(it->coefficient) + static_cast<uint64_t>(term.coefficient));
    if (it->coefficient == 0) terms_.erase(it);
  } else {
    terms_.insert(it, term);
  }
}

Dim Dim::operator+(const Dim& other) const {
  Dim out = *this;
  out.add_term({{}, other.constant_});
  for (const Term& t : other.terms_) out.add_term(t);
  return out;
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  // Wrap-around is left to the range checks of the users; multiplying as unsigned keeps it defined.
  const auto times = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  };
  Dim out(times(constant_, other.constant_));
  for (const Term& t : terms_) out.add_term({t.factors, times(t.coefficient, other.constant_)});
  for (const Term& t : other.terms_) out.add_term({t.factors, times(t.coefficient, constant_)});
  for (const Term& a : terms_)
    for (const Term& b : other.terms_) {
      Term t{a.factors, times(a.coefficient, b.coefficient)};
      t.factors.insert(t.factors.end(), b.factors.begin(), b.factors.end());
      std::sort(t.factors.begin(), t.factors.end());
      out.add_term(t);
    }
  return out;
}

std::optional<Dim> Dim::divide_exactly(const Dim& divisor) const {
  if (*this == divisor && !(*this == Dim(0))) return Dim(1);
  if (divisor.is_constant()) {
    const int64_t d = divisor.constant_;
    if (d == 0 || d == -1 || constant_ % d != 0) return {};
    Dim out(constant_ / d);
    for (const Term& t : terms_) {
      if (t.coefficient % d != 0) return {};
      out.add_term({t.factors, t.coefficient / d});
    }
    return out;
  }
  if (divisor.constant_ != 0 || divisor.terms_.size() != 1 || constant_ != 0) return {};
  const Term& by = divisor.terms_[0];
  if (by.coefficient == -1) return {};
  Dim out;
  for (const Term& t : terms_) {
    if (t.coefficient % by.coefficient != 0) return {};
    Term rest{t.factors, t.coefficient / by.coefficient};
    for (const SymbolId s : by.factors) {
      const auto it = std::find(rest.factors.begin(), rest.factors.end(), s);
      if (it == rest.factors.end()) return {};
      rest.factors.erase(it);
    }
    out.add_term(rest);
  }
  return out;
}

std::optional<int64_t> Dim::evaluate(const std::function<std::optional<int64_t>(SymbolId)>& lookup) const {
  int64_t sum = constant_;
  for (const Term& t : terms_) {
    int64_t product = t.coefficient;
    for (const SymbolId s : t.factors) {
      const auto v = lookup(s);
      if (!v || __builtin_mul_overflow(product, *v, &product)) return {};
    }
    if (__builtin_add_overflow(sum, product, &sum)) return {};
  }
  return sum;
}

Dim Dim::substitute(const std::function<std::optional<Dim>(SymbolId)>& lookup) const {
  if (is_constant()) return *this;
  Dim sum(constant_);
  for (const Term& t : terms_) {
    Dim product(t.coefficient);
    for (const SymbolId s : t.factors) {
      const auto v = lookup(s);
      product = product * (v ? *v : Dim::symbol(s));
    }
    sum = sum + product;
  }
  return sum;
}

std::vector<SymbolId> Dim::symbols() const {
  std::vector<SymbolId> out;
  for (const Term& t : terms_) out.insert(out.end(), t.factors.begin(), t.factors.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string Dim::text(const std::function<std::string(SymbolId)>& name) const {
  if (is_constant()) return std::to_string(constant_);
  std::string out;
  for (const Term& t : terms_) {
    auto c = static_cast<uint64_t>(t.coefficient);
    if (t.coefficient < 0) {
      out += '-';
      c = 0 - c;
    } else if (!out.empty()) {
      out += '+';
    }
    for (size_t i = 0; i < t.factors.size(); ++i) {
      if (i) out += '*';
      out += name(t.factors[i]);
    }
    if (c != 1) out += "*" + std::to_string(c);
  }
  if (constant_ > 0) out += "+" + std::to_string(constant_);
  if (constant_ < 0) out += std::to_string(constant_);
  return out;
}

}  // namespace skdsl::plan
