// piece — one statement or declaration through the generated parser
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "SkParser.h"
#include "compiler/parse/build.h"

namespace skdsl::parse {

/// What surrounds a piece.
enum class Where : uint8_t { Top, Members, Config, Statements };

/// The piece as a token stream; its objects are reused from piece to piece.
class PieceStream : public antlr4::TokenStream {
 public:
  void assign(const std::vector<PieceToken>& piece, uint32_t end);
  size_t count() const { return count_; }
  const PieceToken& token(size_t i) const { return pool_[i].t; }

  void consume() override {
    if (at_ < count_) ++at_;
  }
  size_t LA(ssize_t i) override { return LT(i)->getType(); }
  antlr4::Token* LT(ssize_t k) override {
    const size_t i = k < 0 ? at_ - std::min(at_, static_cast<size_t>(-k)) : at_ + static_cast<size_t>(k) - 1;
    return &pool_[std::min(i, count_)];
  }
  antlr4::Token* get(size_t i) const override {
    return const_cast<PieceTokenObject*>(&pool_[std::min(i, count_)]);
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t i) override { at_ = std::min(i, count_); }
  size_t size() override { return count_; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::deque<PieceTokenObject> pool_{1};
  size_t count_ = 0;  // without the end
  size_t at_ = 0;
};

/// Thrown by the error strategy, caught in PieceParser::run.
struct Stop {
  size_t token;  // position in the piece
  size_t state;  // of the parser
};

/// What the parser could have read where it stopped.
struct Wanted {
  bool expression = false;
  bool type = false;
  std::string_view end = "newline or `;`";  // how the end of the piece is called
  std::vector<size_t> tokens;
};

/// Owns the generated parser, and its tables with it.
class PieceParser {
 public:
  PieceParser();
  ~PieceParser();

  /// Parses the piece as what its first word says; 0 and a reported problem when it does not parse. `end` is
  /// where the piece ends in the text, `after` the token that ended it.
  ast::NodeId run(const std::vector<PieceToken>& piece, Where where, Builder& build, uint32_t end,
                  const Token* after, std::string_view text, uint32_t file, Problems& problems);
  /// Parses an expression alone.
  ast::NodeId run_expression(const std::vector<PieceToken>& piece, Builder& build, uint32_t end,
                             std::string_view text, uint32_t file, Problems& problems);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The message for a piece that stopped.
void report_stop(const Stop& stop, const Wanted& expected, const PieceStream& piece, Where where,
                 const Token* after, std::string_view text, uint32_t file, Problems& problems);
/// The message for a piece whose first token begins nothing here.
void report_misplaced(const PieceToken& first, Where where, std::string_view text, uint32_t file,
                      Problems& problems);

}  // namespace skdsl::parse
