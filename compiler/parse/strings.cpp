// strings — escapes and what stands between the quotes
#include "compiler/parse/build.h"

namespace skdsl::parse {

using ast::Kind;
using ast::NodeId;

std::string Builder::unescape(uint32_t begin, uint32_t end) {
  std::string out;
  out.reserve(end - begin);
  for (uint32_t i = begin; i < end; ++i) {
    if (text_[i] != '\\' || i + 1 >= end) {
      out += text_[i];
      // `{{` and `}}` stand for one brace.
      if ((text_[i] == '{' || text_[i] == '}') && i + 1 < end && text_[i + 1] == text_[i]) ++i;
      continue;
    }
    ++i;
    switch (text_[i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '"':
      case '\\':
      case '{':
      case '}':
        out += text_[i];
        break;
      default: {
        uint32_t stop = i + 1;
        while (stop < end && (static_cast<unsigned char>(text_[stop]) & 0xc0u) == 0x80u) ++stop;
        syntax({file_, i - 1, stop},
               fmt::format("unknown escape `{}` in a string", text_.substr(i - 1, stop - i + 1)))
            .helps.emplace_back("escapes are \\n \\t \\r \\\" \\\\ \\{ \\}");
      }
    }
  }
  return out;
}

NodeId Builder::string(antlr4::Token* t) {
  const Span span = span_of(t);
  if (const auto it = strings.find(span.begin); it != strings.end()) return it->second;
  const Span inside = {file_, span.begin + 1, span.end - 1};
  const std::string_view raw = text_.substr(inside.begin, inside.end - inside.begin);
  if (raw.empty()) return add(Kind::Str, span, "", {});
  NodeId part = 0;
  if (raw.find_first_of("\\{}") == std::string_view::npos) {
    part = add(Kind::StrPart, inside, raw, {});
  } else {
    part = add(Kind::StrPart, inside, unescape(inside.begin, inside.end), {});
  }
  return add(Kind::Str, span, raw, {part});
}

}  // namespace skdsl::parse
