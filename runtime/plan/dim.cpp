#include "runtime/plan/dim.h"

#include <algorithm>

#include "runtime/base/assert.h"

namespace skdsl::plan {

const Dim::Terms& Dim::terms() const {
  static const Terms kNone;
  return terms_ ? *terms_ : kNone;
}

Dim Dim::symbol(SymbolId id) {
  Dim d;
  d.terms_ = std::make_shared<const Terms>(Terms{{{id}, 1}});
  return d;
}

std::optional<SymbolId> Dim::as_symbol() const {
  if (!terms_ || constant_ != 0 || terms_->size() != 1) return {};
  const Term& t = terms_->front();
  if (t.coefficient == 1 && t.factors.size() == 1) return t.factors[0];
  return {};
}

void Dim::Sum::add(const Term& term) {
  if (term.coefficient == 0) return;
  if (term.factors.empty()) {
    constant =
        static_cast<int64_t>(static_cast<uint64_t>(constant) + static_cast<uint64_t>(term.coefficient));
    return;
  }
  const auto it = std::lower_bound(terms.begin(), terms.end(), term,
                                   [](const Term& a, const Term& b) { return a.factors < b.factors; });
  if (it != terms.end() && it->factors == term.factors) {
    it->coefficient = static_cast<int64_t>(static_cast<uint64_t>(it->coefficient) +
                                           static_cast<uint64_t>(term.coefficient));
    if (it->coefficient == 0) terms.erase(it);
  } else {
    terms.insert(it, term);
  }
}

void Dim::Sum::add(const Dim& dim) {
  add(Term{{}, dim.constant_});
  for (const Term& t : dim.terms()) add(t);
}

Dim Dim::Sum::done() {
  Dim d(constant);
  if (!terms.empty()) d.terms_ = std::make_shared<const Terms>(std::move(terms));
  return d;
}

Dim Dim::operator+(const Dim& other) const {
  Sum sum{constant_, terms()};
  sum.add(other);
  return sum.done();
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  // Wrap-around is left to the range checks of the users; multiplying as unsigned keeps it defined.
  const auto times = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  };
  Sum out{times(constant_, other.constant_), {}};
  for (const Term& t : terms()) out.add(Term{t.factors, times(t.coefficient, other.constant_)});
  for (const Term& t : other.terms()) out.add(Term{t.factors, times(t.coefficient, constant_)});
  for (const Term& a : terms())
    for (const Term& b : other.terms()) {
      Term t{a.factors, times(a.coefficient, b.coefficient)};
      t.factors.insert(t.factors.end(), b.factors.begin(), b.factors.end());
      std::sort(t.factors.begin(), t.factors.end());
      out.add(t);
    }
  return out.done();
}

std::optional<Dim> Dim::divide_exactly(const Dim& divisor) const {
  if (*this == divisor && !(*this == Dim(0))) return Dim(1);
  if (divisor.is_constant()) {
    const int64_t d = divisor.constant_;
    if (d == 0 || d == -1 || constant_ % d != 0) return {};
    Sum out{constant_ / d, {}};
    for (const Term& t : terms()) {
      if (t.coefficient % d != 0) return {};
      out.add(Term{t.factors, t.coefficient / d});
    }
    return out.done();
  }
  if (divisor.constant_ != 0 || divisor.terms().size() != 1 || constant_ != 0) return {};
  const Term& by = divisor.terms()[0];
  if (by.coefficient == -1) return {};
  Sum out;
  for (const Term& t : terms()) {
    if (t.coefficient % by.coefficient != 0) return {};
    Term rest{t.factors, t.coefficient / by.coefficient};
    for (const SymbolId s : by.factors) {
      const auto it = std::find(rest.factors.begin(), rest.factors.end(), s);
      if (it == rest.factors.end()) return {};
      rest.factors.erase(it);
    }
    out.add(rest);
  }
  return out.done();
}

std::optional<int64_t> Dim::evaluate(const std::function<std::optional<int64_t>(SymbolId)>& lookup) const {
  int64_t sum = constant_;
  for (const Term& t : terms()) {
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
  if (const auto s = as_symbol()) return lookup(*s).value_or(*this);
  Dim sum(constant_);
  for (const Term& t : terms()) {
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
  for (const Term& t : terms()) out.insert(out.end(), t.factors.begin(), t.factors.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string Dim::text(const std::function<std::string(SymbolId)>& name) const {
  if (is_constant()) return std::to_string(constant_);
  std::string out;
  for (const Term& t : terms()) {
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
