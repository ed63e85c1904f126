// piece — which rule reads a piece, and how the parser stops
//
// The generated parser builds no parse tree: the labels of its rules hold all that Builder needs, and
// everything of a piece is freed before the next one. Its error strategy stops at the first error, since the
// next piece starts afresh.
#include "compiler/parse/piece.h"

#include "antlr4-runtime.h"

namespace skdsl::parse {
namespace {

class StopStrategy : public antlr4::ANTLRErrorStrategy {
 public:
  void reset(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { stop(parser); }
  void recover(antlr4::Parser* parser, std::exception_ptr) override { stop(parser); }
  void sync(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { stop(parser); }
  void reportMatch(antlr4::Parser*) override {}

 private:
  [[noreturn]] static void stop(antlr4::Parser* parser) {
    throw Stop{parser->getInputStream()->index(), parser->getState()};
  }
};

/// A piece that went on behind its statement stops with this in place of a parser state.
constexpr size_t kBehind = static_cast<size_t>(-1);
void at_end(P& parser) {
  antlr4::TokenStream* const stream = parser.getTokenStream();
  if (stream->LA(1) != kEnd) throw Stop{stream->index(), kBehind};
}

/// How a piece that begins with `token` is read, and where it may stand.
struct Form {
  uint32_t token;
  unsigned where;
  ast::NodeId (*read)(P&, Builder&);
};
constexpr unsigned at(Where w) { return 1u << static_cast<unsigned>(w); }
constexpr unsigned kTop = at(Where::Top);
constexpr unsigned kMembers = at(Where::Members);
constexpr unsigned kConfig = at(Where::Config);
constexpr unsigned kStatements = at(Where::Statements) | kTop;

#define SK_FORM(token, where, rule, build)                \
  {T::token, where, [](P& p, Builder& b) -> ast::NodeId { \
     auto* const context = p.rule();                      \
     at_end(p);                                           \
     return b.build(context);                             \
   }}
constexpr Form kForms[] = {
    SK_FORM(IMPORT, kTop, importDecl, import_decl),
    SK_FORM(CONFIG, kTop, configDecl, config_decl),
    SK_FORM(FN, kTop | kMembers, fnDecl, fn_decl),
    SK_FORM(LAYER, kTop, layerDecl, layer_decl),
    SK_FORM(MODEL, kTop, modelDecl, model_decl),
    SK_FORM(DRAFT, kTop, draftDecl, draft_decl),
    SK_FORM(EXTERN, kTop, externDecl, extern_decl),
    SK_FORM(REPLACE, kTop, replaceDecl, replace_decl),
    SK_FORM(REQUIRE, kConfig, configItem, config_item),
    SK_FORM(IDENT, kConfig, configItem, config_item),
    SK_FORM(WEIGHT, kMembers, weightDecl, weight_decl),
    SK_FORM(CONST, kMembers, constDecl, const_decl),
    SK_FORM(STATE, kMembers, stateDecl, state_decl),
    SK_FORM(PREFILL, kMembers, phaseDecl, phase_decl),
    SK_FORM(DECODE, kMembers, phaseDecl, phase_decl),
    SK_FORM(FORWARD, kMembers, phaseDecl, phase_decl),
    SK_FORM(DEFAULT_WEIGHTS, kMembers, defaultWeights, default_weights),
    SK_FORM(UNUSED, kMembers, unusedDecl, unused_decl),
    SK_FORM(IDENT, kMembers, instanceDecl, instance_decl),
    SK_FORM(LET, kMembers | kStatements, letStmt, let_stmt),
    SK_FORM(RETURN, kStatements, returnStmt, return_stmt),
    SK_FORM(FOR, kStatements, forStmt, for_stmt),
    SK_FORM(STMT_IF, kStatements, ifStmt, if_stmt),
    SK_FORM(WHILE, kStatements, whileStmt, while_stmt),
    SK_FORM(SUPERKERNEL, kStatements, superkernelStmt, superkernel_stmt),
    SK_FORM(SCOPE_BEGIN, kStatements, scopeStmt, scope_stmt),
    SK_FORM(SCOPE_END, kStatements, scopeStmt, scope_stmt),
    SK_FORM(STREAM, kStatements, streamStmt, stream_stmt),
    SK_FORM(CORES, kStatements, coresStmt, cores_stmt),
    SK_FORM(PREFETCH, kStatements, prefetchStmt, prefetch_stmt),
    SK_FORM(EVENT, kStatements, eventStmt, event_stmt),
    SK_FORM(RECORD, kStatements, eventStmt, event_stmt),
    SK_FORM(WAIT, kStatements, eventStmt, event_stmt),
    SK_FORM(GEARS, kStatements, gearsStmt, gears_stmt),
    SK_FORM(DUMP, kStatements, dumpStmt, dump_stmt),
    SK_FORM(TAP, kStatements, dumpStmt, dump_stmt),
    // Whatever an expression begins with:
    SK_FORM(IDENT, kStatements, valueStmt, value_stmt),
    SK_FORM(INT, kStatements, valueStmt, value_stmt),
    SK_FORM(FLOAT, kStatements, valueStmt, value_stmt),
    SK_FORM(BYTES, kStatements, valueStmt, value_stmt),
    SK_FORM(STRING, kStatements, valueStmt, value_stmt),
    SK_FORM(TRUE, kStatements, valueStmt, value_stmt),
    SK_FORM(FALSE, kStatements, valueStmt, value_stmt),
    SK_FORM(LPAREN, kStatements, valueStmt, value_stmt),
    SK_FORM(LBRACKET, kStatements, valueStmt, value_stmt),
    SK_FORM(MINUS, kStatements, valueStmt, value_stmt),
    SK_FORM(NOT, kStatements, valueStmt, value_stmt),
    SK_FORM(IF, kStatements, valueStmt, value_stmt),
};
#undef SK_FORM

const Form* find_form(uint32_t token, Where where) {
  for (const Form& form : kForms) {
    if (form.token == token && (form.where & at(where)) != 0) return &form;
  }
  return nullptr;
}

}  // namespace

void PieceStream::assign(const std::vector<PieceToken>& piece, uint32_t end) {
  while (pool_.size() < piece.size() + 1) pool_.emplace_back();
  // One enormous statement must not keep its memory for the rest of the file.
  if (pool_.size() > 4096 && piece.size() < 1024) pool_.resize(1024);
  count_ = piece.size();
  at_ = 0;
  for (size_t i = 0; i < count_; ++i) {
    pool_[i].t = piece[i];
    pool_[i].position = i;
  }
  pool_[count_].t = {end, end, static_cast<uint32_t>(kEnd), 0};
  pool_[count_].position = count_;
}

struct PieceParser::Impl {
  PieceStream stream;
  P parser{&stream};

  template <class Read>
  ast::NodeId guarded(const std::vector<PieceToken>& piece, uint32_t end, Builder& build, Read&& read,
                      Stop& stopped) {
    stream.assign(piece, end);
    parser.reset();
    try {
      const ast::NodeId id = read(parser, build);
      return build.failed ? 0 : id;
    } catch (const Stop& stop) {
      stopped = stop;
    } catch (const antlr4::RecognitionException&) {
      stopped = {stream.index(), parser.getState()};
    }
    build.failed = true;
    return 0;
  }

  Wanted expected(const Stop& stop) {
    Wanted out;
    if (stop.state == kBehind) {
      out.tokens = {kEnd};
      return out;
    }
    const antlr4::atn::ATN& atn = parser.getATN();
    if (stop.state >= atn.states.size()) return out;
    const antlr4::misc::IntervalSet set = atn.nextTokens(atn.states[stop.state]);
    for (const ssize_t type : set.toList()) {
      if (type == static_cast<ssize_t>(antlr4::Token::EPSILON)) continue;
      out.tokens.push_back(static_cast<size_t>(type));
    }
    const auto has = [&](size_t type) {
      return std::find(out.tokens.begin(), out.tokens.end(), type) != out.tokens.end();
    };
    out.expression = has(T::FLOAT) && has(T::LPAREN);
    out.type = !out.expression && has(T::IDENT) && has(T::LPAREN) && has(T::LBRACKET);
    return out;
  }
};

PieceParser::PieceParser() : impl_(std::make_unique<Impl>()) {
  impl_->parser.setBuildParseTree(false);
  impl_->parser.removeErrorListeners();
  impl_->parser.setErrorHandler(std::make_shared<StopStrategy>());
}
PieceParser::~PieceParser() = default;

ast::NodeId PieceParser::run(const std::vector<PieceToken>& piece, Where where, Builder& build, uint32_t end,
                             const Token* after, std::string_view text, uint32_t file, Problems& problems) {
  build.failed = false;
  const Form* const form = find_form(piece[0].type, where);
  if (form == nullptr) {
    report_misplaced(piece[0], where, text, file, problems);
    build.failed = true;
    return 0;
  }
  Stop stopped{static_cast<size_t>(-1), 0};
  const ast::NodeId id = impl_->guarded(piece, end, build, form->read, stopped);
  if (stopped.token != static_cast<size_t>(-1)) {
    report_stop(stopped, impl_->expected(stopped), impl_->stream, where, after, text, file, problems);
  }
  return id;
}

ast::NodeId PieceParser::run_expression(const std::vector<PieceToken>& piece, Builder& build, uint32_t end,
                                        std::string_view text, uint32_t file, Problems& problems) {
  build.failed = false;
  Stop stopped{static_cast<size_t>(-1), 0};
  const auto read = [](P& p, Builder& b) {
    auto* const context = p.expr();
    at_end(p);
    return b.expr(context);
  };
  const ast::NodeId id = impl_->guarded(piece, end, build, read, stopped);
  if (stopped.token != static_cast<size_t>(-1)) {
    static constexpr Token kBrace = {0, 0, T::RBRACE, kNoMatch};
    Wanted wanted = impl_->expected(stopped);
    wanted.end = "`}`";
    report_stop(stopped, wanted, impl_->stream, Where::Statements, &kBrace, text, file, problems);
  }
  return id;
}

}  // namespace skdsl::parse
