#include "runtime/plan/lexer.h"

namespace skdsl::plan::text {

namespace {
bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
int hex(char c) {
  if (digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
}  // namespace

Token Lexer::next() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      break;
    }
  }
  if (at_ == text_.size()) return {Token::Kind::End, {}, {}, line_};
  const char c = text_[at_];
  if (c == '"' || c == '`') return quoted(c);
  if (digit(c)) return number();
  const size_t begin = at_++;
  const auto take = [&](Token::Kind kind) {
    return Token{kind, text_.substr(begin, at_ - begin), {}, line_};
  };
  if (letter(c)) {
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
    return take(Token::Kind::Word);
  }
  if (c == '%') return value();
  if (text_.substr(begin, 2) == "->") {
    ++at_;
    return take(Token::Kind::Punct);
  }
  return take(std::string_view("()[]{}<>=,:+-*").find(c) != std::string_view::npos ? Token::Kind::Punct
                                                                                   : Token::Kind::Unknown);
}

// %3, %3:name, %3:"any name" — without spaces, which is how a name differs from a type
Token Lexer::value() {
  const size_t begin = at_ - 1;
  while (at_ < text_.size() && digit(text_[at_])) ++at_;
  Token t{Token::Kind::Value, text_.substr(begin, at_ - begin), {}, line_};
  if (t.spelling.size() == 1) t.kind = Token::Kind::Unknown;
  if (at_ + 1 < text_.size() && text_[at_] == ':') {
    if (letter(text_[at_ + 1])) {
      const size_t name = ++at_;
      while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
      t.value = text_.substr(name, at_ - name);
    } else if (text_[at_ + 1] == '"') {
      ++at_;
      Token name = quoted('"');
      if (name.kind == Token::Kind::Unknown) return name;
      t.value = std::move(name.value);
    }
  }
  return t;
}

Token Lexer::quoted(char quote) {
  const size_t begin = at_++;
  Token t{quote == '"' ? Token::Kind::String : Token::Kind::Symbol, {}, {}, line_};
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      c = text_[at_++];
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      else if (c == 'r')
        c = '\r';
      else if (c == 'x') {
        const int high = at_ + 1 < text_.size() ? hex(text_[at_]) : -1;
        const int low = high >= 0 ? hex(text_[at_ + 1]) : -1;
        if (low < 0) {
          t.kind = Token::Kind::Unknown;
          break;
        }
        at_ += 2;
        c = static_cast<char>(high * 16 + low);
      } else if (c != '\\' && c != quote) {
        t.kind = Token::Kind::Unknown;
        break;
      }
    }
    t.value += c;
  }
  if (at_ < text_.size() && text_[at_] == quote)
    ++at_;
  else
    t.kind = Token::Kind::Unknown;
  t.spelling = text_.substr(begin, at_ - begin);
  return t;
}

// 12, 1.5, 1e-05, 0x7fc0
Token Lexer::number() {
  const size_t begin = at_;
  Token::Kind kind = Token::Kind::Int;
  if (text_[at_] == '0' && at_ + 1 < text_.size() && text_[at_ + 1] == 'x') {
    at_ += 2;
    while (at_ < text_.size() && hex(text_[at_]) >= 0) ++at_;
    return {kind, text_.substr(begin, at_ - begin), {}, line_};
  }
  while (at_ < text_.size() && digit(text_[at_])) ++at_;
  if (at_ + 1 < text_.size() && text_[at_] == '.' && digit(text_[at_ + 1])) {
    kind = Token::Kind::Float;
    ++at_;
    while (at_ < text_.size() && digit(text_[at_])) ++at_;
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    size_t end = at_ + 1;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    if (end < text_.size() && digit(text_[end])) {
      kind = Token::Kind::Float;
      while (end < text_.size() && digit(text_[end])) ++end;
      at_ = end;
    }
  }
  return {kind, text_.substr(begin, at_ - begin), {}, line_};
}

}  // namespace skdsl::plan::text
