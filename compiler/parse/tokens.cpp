// tokens — running the generated lexer over bytes
//
// The lexer's simulator is called directly, one match a token: no token objects, no copies of text. Bytes
// from 0x80 on all look like 0x7f to it, so that the lexer's transition tables, which end at 0x7f, serve them
// too; a DEL in the text becomes a 1 for that, which is as unknown.
#include "compiler/parse/tokens.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "antlr4-runtime.h"

namespace skdsl::parse {
namespace {

class ByteStream : public antlr4::CharStream {
 public:
  void assign(std::string_view text, size_t begin) {
    text_ = text;
    at_ = begin;
  }
  void consume() override { ++at_; }
  size_t LA(ssize_t i) override {
    const size_t p = at_ + static_cast<size_t>(i) - 1;
    if (i <= 0 || p >= text_.size()) return kEnd;
    const auto c = static_cast<unsigned char>(text_[p]);
    return c < 0x7f ? c : c == 0x7f ? 1 : 0x7f;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t i) override { at_ = i; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

size_t character_length(std::string_view text, size_t at) {
  size_t n = 1;
  while (at + n < text.size() && (static_cast<unsigned char>(text[at + n]) & 0xc0u) == 0x80u) ++n;
  return n;
}

std::string character_name(std::string_view c) {
  if (c.size() == 1 && (static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7f)) {
    return fmt::format("0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c[0])));
  }
  return fmt::format("`{}`", c);
}

std::string_view character_help(std::string_view c) {
  struct Row {
    std::string_view text, help;
  };
  static constexpr Row kRows[] = {
      {"'", "strings stand in double quotes: \"…\""},
      {"\u201c", "strings stand in plain double quotes: \"…\""},
      {"\u201d", "strings stand in plain double quotes: \"…\""},
      {"&", "write `and`"},
      {"|", "write `or`"},
      {"!", "write `not`; a pragma begins with `#!`"},
      {"#", "a comment begins with `//`, a pragma with `#!`"},
      {"@", "a matrix product is `matmul(a, b)` or `linear(x, w)`"},
      {"^", "a power is `a ** b`"},
      {"?", "write `if c then a else b`"},
  };
  for (const Row& row : kRows) {
    if (row.text == c) return row.help;
  }
  return {};
}

}  // namespace

struct Lexer::Impl {
  ByteStream stream;
  grammar::SkLexer lexer{&stream};
  std::unordered_map<std::string, uint32_t> words;  // spelling -> type

  Impl() {
    for (uint32_t type = T::IMPORT; type <= T::FALSE; ++type) {
      const std::string quoted = lexer.getVocabulary().getLiteralName(type);  // "'import'"
      words.emplace(quoted.substr(1, quoted.size() - 2), type);
    }
  }
};

Lexer::Lexer() : impl_(std::make_unique<Impl>()) {}
Lexer::~Lexer() = default;

std::vector<Raw> Lexer::lex(std::string_view text, uint32_t file, uint32_t begin, uint32_t end,
                            std::vector<Comment>* comments, Problems& problems) {
  text = text.substr(0, end);
  std::vector<Raw> out;
  out.reserve((end - begin) / 4 + 16);
  auto* const simulator = impl_->lexer.getInterpreter<antlr4::atn::LexerATNSimulator>();
  impl_->stream.assign(text, begin);
  simulator->reset();
  bool reported_on_line = false;
  const auto report = [&](Span span, diag::Id id, std::vector<std::string> args, std::string_view help) {
    // One slip often makes several odd characters: the first one on a line speaks for all.
    if (reported_on_line || problems.full()) return;
    reported_on_line = true;
    Problem& p = problems.add(span, id, std::move(args));
    if (!help.empty()) p.helps.emplace_back(help);
  };
  bool line_is_empty = true;
  for (uint32_t at = begin; at < end;) {
    auto type = static_cast<uint32_t>(simulator->match(&impl_->stream, 0));
    auto next = static_cast<uint32_t>(impl_->stream.index());
    if (type == T::IDENT)
      if (const auto word = impl_->words.find(std::string(text.substr(at, next - at)));
          word != impl_->words.end())
        type = word->second;
    switch (type) {
      case T::SPACE:
        break;
      case T::COMMENT:
      case T::PRAGMA: {
        uint32_t stop = next;
        while (stop > at && (text[stop - 1] == ' ' || text[stop - 1] == '\t' || text[stop - 1] == '\f'))
          --stop;
        if (comments != nullptr) comments->push_back({at, stop, line_is_empty});
        break;
      }
      case T::UNKNOWN: {
        next = at + static_cast<uint32_t>(character_length(text, at));
        impl_->stream.seek(next);
        const std::string_view c = text.substr(at, next - at);
        if (at == 0 && c == "\ufeff") break;  // byte order mark
        report({file, at, next}, diag::Id::UnknownCharacter, {character_name(c)}, character_help(c));
        if (out.empty() || out.back().type != T::BAD || out.back().end != at)
          out.push_back({at, next, T::BAD});
        else
          out.back().end = next;
        line_is_empty = false;
        break;
      }
      case T::UNCLOSED_STRING:
        report({file, at, next}, diag::Id::UnclosedString, {},
               "close it with `\"` on the same line; a line break inside is `\\n`");
        out.push_back({at, next, T::BAD});
        line_is_empty = false;
        break;
      default:
        out.push_back({at, next, type});
        line_is_empty = type == T::NEWLINE;
        if (line_is_empty) reported_on_line = false;
    }
    at = next;
  }
  return out;
}

void Problems::sort() {
  std::stable_sort(list_.begin(), list_.end(),
                   [](const Problem& a, const Problem& b) { return a.span.begin < b.span.begin; });
}

void Problems::report(diag::Engine& diags) {
  sort();
  for (Problem& p : list_) {
    auto builder = p.args.empty()       ? diags.report(p.span, p.id)
                   : p.args.size() == 1 ? diags.report(p.span, p.id, p.args[0])
                                        : diags.report(p.span, p.id, p.args[0], p.args[1]);
    for (diag::Note& note : p.notes) builder.note(note.span, std::move(note.text));
    for (std::string& help : p.helps) builder.help(std::move(help));
    for (diag::Edit& edit : p.edits) builder.fix(edit.span, std::move(edit.text));
  }
  list_.clear();
}

bool is_word(size_t type) {
  return type == T::IDENT || type == T::ARG_NAME || (type >= T::IMPORT && type <= T::FALSE);
}

std::string spelled(size_t type) {
  switch (type) {
    case T::IDENT:
    case T::ARG_NAME:
      return "a name";
    case T::STRING:
      return "a string";
    case T::INT:
    case T::FLOAT:
    case T::BYTES:
      return "a number";
    case T::SEP:
      return "newline or `;`";
    case T::SK_OPEN:
      return "`<`";
    case T::SK_CLOSE:
      return "`>`";
    case T::STMT_IF:
      return "`if`";
    case T::OPT_OPEN:
      return "`(`";
    case T::LAST_COMMA:
      return "`,`";
    default:
      break;
  }
  static const grammar::SkLexer* const names = [] {
    static ByteStream none;
    return new grammar::SkLexer(&none);
  }();
  const std::string literal = names->getVocabulary().getLiteralName(type);  // "')'"
  if (literal.size() > 2) return "`" + literal.substr(1, literal.size() - 2) + "`";
  return names->getVocabulary().getSymbolicName(type);
}

}  // namespace skdsl::parse
