// dim — integer polynomials over symbols: sizes of tensors and host integers that are not known yet
//
//   T            rows of a step           T * 4 + 1      a sum of monomials
//
// Symbols are interned strings (see SymbolTable in program.h). Polynomials are kept in one normal form, so
// equal polynomials compare equal. A program holds the same few in many places: copies share their terms.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skdsl::plan {

using SymbolId = uint32_t;

class Dim {
 public:
  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: integers are dims
  static Dim symbol(SymbolId id);

  bool is_constant() const { return terms_ == nullptr; }
  /// The value; only for constants.
  int64_t constant() const { return constant_; }
  /// The symbol when the dim is exactly one symbol.
  std::optional<SymbolId> as_symbol() const;

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  /// The quotient when every coefficient divides exactly by the divisor (a constant, or a monomial in every
  /// term).
  std::optional<Dim> divide_exactly(const Dim& divisor) const;

  /// The value under `lookup`; nothing when a symbol is unbound.
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(SymbolId)>& lookup) const;
  /// Symbols that `lookup` knows are replaced.
  Dim substitute(const std::function<std::optional<Dim>(SymbolId)>& lookup) const;
  std::vector<SymbolId> symbols() const;
  /// Calls `visit` with the factors and the coefficient of each term; the constant is not one.
  template <class Visit>
  void each_term(const Visit& visit) const {
    if (terms_)
      for (const Term& t : *terms_) visit(t.factors, t.coefficient);
  }
  /// Calls `visit` with each symbol, once for every place where it stands.
  template <class Visit>
  void each_symbol(const Visit& visit) const {
    if (terms_)
      for (const Term& t : *terms_)
        for (const SymbolId s : t.factors) visit(s);
  }

  /// As printed in plans: "T*4+1"; `name` gives a symbol's name.
  std::string text(const std::function<std::string(SymbolId)>& name) const;

  friend bool operator==(const Dim& a, const Dim& b) {
    return a.constant_ == b.constant_ &&
           (a.terms_ == b.terms_ || (a.terms_ && b.terms_ && *a.terms_ == *b.terms_));
  }

 private:
  struct Term {
    std::vector<SymbolId> factors;  // sorted
    int64_t coefficient;            // never 0
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Terms = std::vector<Term>;  // sorted by factors
  // A sum that is being built.
  struct Sum {
    int64_t constant = 0;
    Terms terms;
    void add(const Term& term);
    void add(const Dim& dim);
    Dim done();
  };
  const Terms& terms() const;
  int64_t constant_ = 0;
  std::shared_ptr<const Terms> terms_;  // null when there are none
};

}  // namespace skdsl::plan
