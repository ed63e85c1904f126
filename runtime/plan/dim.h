// dim — integer polynomials over symbols: sizes of tensors and host integers that are not known yet
//
//   T            rows of a step           T * 4 + 1      a sum of monomials
//
// Symbols are interned strings (see SymbolTable in program.h). Polynomials are kept in one normal form, so equal
// polynomials compare equal.
#pragma once
#include <cstdint>
#include <functional>
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

  bool is_constant() const { return terms_.empty(); }
  /// The value; only for constants.
  int64_t constant() const { return constant_; }
  /// The symbol when the dim is exactly one symbol.
  std::optional<SymbolId> as_symbol() const;

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  /// The quotient when every coefficient divides exactly by the divisor (a constant, or a monomial in every term).
  std::optional<Dim> divide_exactly(const Dim& divisor) const;

  /// The value under `lookup`; nothing when a symbol is unbound.
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(SymbolId)>& lookup) const;
  /// Symbols that `lookup` knows are replaced.
  Dim substitute(const std::function<std::optional<Dim>(SymbolId)>& lookup) const;
  std::vector<SymbolId> symbols() const;

  /// As printed in plans: "T*4+1"; `name` gives a symbol's name.
  std::string text(const std::function<std::string(SymbolId)>& name) const;

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  struct Term {
    std::vector<SymbolId> factors;  // sorted
    int64_t coefficient;            // never 0
    friend bool operator==(const Term&, const Term&) = default;
  };
  void add_term(const Term& term);
  int64_t constant_ = 0;
  std::vector<Term> terms_;  // sorted by factors
};

}  // namespace skdsl::plan
