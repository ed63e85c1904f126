// reader — what the parsers of programs and schedules share: expecting tokens, numbers, types, places
//
// The first thing that does not fit is the error; from then on every question answers "no", so callers only
// have to stop at the next loop.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/plan/lexer.h"
#include "runtime/plan/plan.h"

namespace skdsl::plan::text {

class Reader {
 public:
  Reader(std::string_view text, Program& program) : lexer_(text), program_(program) {
    token_ = lexer_.next();
    next_ = lexer_.next();
  }

  bool ok() const { return !error_; }
  bool at_end() const { return token_.kind == Token::Kind::End; }
  const Error& error() const { return *error_; }
  const Token& token() const { return token_; }
  Program& program() { return program_; }

  /// Remembers "line N: expected …, found …" (only the first); always false.
  bool expected(std::string_view what);
  /// Remembers "line N: …" (only the first); always false.
  bool wrong(std::string_view what);

  bool is(std::string_view spelling) const;  // a Word or Punct of this spelling
  bool accept(std::string_view spelling);
  bool expect(std::string_view spelling);

  std::optional<std::string> string();  // "…"
  std::optional<std::string> word_or_string();
  std::optional<uint32_t> index();             // a number below 2^32 - 1
  std::optional<uint64_t> unsigned_integer();  // decimal or 0x…
  std::optional<int64_t> integer();            // with sign
  /// The same into a place; false after an error.
  bool read(uint32_t& out);
  bool read(std::string& out);
  bool read(std::vector<uint32_t>& out);  // "[1, 2]"
  /// A number with sign, inf or nan(0x…); each width rounds the text by itself.
  struct Real {
    double f64 = 0;
    float f32 = 0;
    bool is_nan = false;
    uint64_t nan_bits = 0;
  };
  std::optional<Real> real();
  std::optional<Dim> dim();
  std::optional<std::vector<Dim>> dims();  // "[4, T]"
  std::optional<Type> type();
  std::optional<DType> dtype();
  std::optional<Loc> loc();
  std::optional<ConstantData> constant_data();  // ": f32[2] = [1, 2.5]"
  std::optional<Opcode> opcode();
  /// "%3" or "%3:name".
  struct ValueName {
    uint32_t number = 0;
    std::string name;
  };
  std::optional<ValueName> value();

  bool add_symbol(std::string name);
  bool is_type() const;   // the next tokens are "dtype ["
  bool is_float() const;  // the next tokens are a float, not a dim
  void advance() {
    token_ = std::move(next_);
    next_ = lexer_.next();
  }

 private:
  bool elements(ConstantData& data);
  bool hex_bytes(ConstantData& data);

  Lexer lexer_;
  Token token_, next_;
  Program& program_;
  std::optional<Error> error_;
  std::unordered_map<std::string, SymbolId> symbols_;
};

/// Reads "program" and all that follows up to the end or the word "schedule"; false after an error.
bool read_program(Reader& r);
/// Reads one "schedule … { … }".
bool read_schedule(Reader& r, Schedule& out);

}  // namespace skdsl::plan::text
