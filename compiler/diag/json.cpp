// json — a diagnostic for programs to read
#include "compiler/diag/diag.h"

namespace skdsl::diag {
namespace {

/// Length of the UTF-8 character at `i`, or 0.
size_t character(std::string_view text, size_t i) {
  const auto c = static_cast<unsigned char>(text[i]);
  const size_t n = c < 0x80                 ? 1
                   : c >= 0xc2 && c <= 0xdf ? 2
                   : c >= 0xe0 && c <= 0xef ? 3
                   : c >= 0xf0 && c <= 0xf4 ? 4
                                            : 0;
  if (n == 0 || i + n > text.size()) return 0;
  for (size_t k = 1; k < n; ++k) {
    if ((static_cast<unsigned char>(text[i + k]) & 0xc0u) != 0x80u) return 0;
  }
  return n;
}

std::string place(const source::Sources& sources, uint32_t file, uint32_t byte) {
  const Loc loc = sources.loc({file, byte, byte});
  return fmt::format(R"({{"line":{},"column":{},"byte":{}}})", loc.line, loc.column, byte);
}

std::string where(const source::Sources& sources, Span span) {
  if (!span) return R"("file":null,"start":null,"end":null)";
  return fmt::format(R"("file":{},"start":{},"end":{})", json_string(sources.name(span.file)),
                     place(sources, span.file, span.begin), place(sources, span.file, span.end));
}

/// `null`, or the edits with their places.
std::string fix_json(const Fix& fix, const source::Sources& sources) {
  if (fix.edits.empty()) return "null";
  std::string edits;
  for (const Edit& edit : fix.edits) {
    edits += fmt::format(R"({}{{{},"text":{}}})", edits.empty() ? "" : ",", where(sources, edit.span),
                         json_string(edit.text));
  }
  return fmt::format(R"({{"applicability":"{}","edits":[{}]}})", name(fix.applicability), edits);
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t n = character(text, i);
    if (n == 0) {
      out += "\\ufffd";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out.append(text.substr(i, n));
    }
    i += n;
  }
  return out + '"';
}

std::string to_json(const Diagnostic& d, const source::Sources& sources) {
  const Rule& row = rule(d.id);
  std::string notes;
  for (const Note& note : d.notes) {
    notes += fmt::format(R"({}{{"kind":"note","message":{},{}}})", notes.empty() ? "" : ",",
                         json_string(note.text), where(sources, note.span));
  }
  for (const std::string& help : d.helps) {
    notes += fmt::format(R"({}{{"kind":"help","message":{},{}}})", notes.empty() ? "" : ",",
                         json_string(help), where(sources, {}));
  }
  return fmt::format(R"({{"id":{},"name":{},"severity":{},"message":{},{},"notes":[{}],"fix":{},"url":{}}})",
                     json_string(row.id), json_string(row.name), json_string(name(d.severity)),
                     json_string(d.message), where(sources, d.span), notes, fix_json(d.fix, sources),
                     json_string(fmt::format("docs/diagnostics/{}.md", row.id)));
}

}  // namespace skdsl::diag
