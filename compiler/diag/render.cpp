// render — a diagnostic as the terminal shows it
//
//   error[SK3004]: operands of `add` have shapes [2, 3] and [4]
//     --> model.sk:3:10
//      |
//    3 |   return add(x, bias)
//      |          ^^^^^^^^^^^^
//      = note: `bias` is a parameter
//      = help: …
//
// A long line is cut to a window around its span; tabs become spaces; carets count columns of the terminal.
#include <algorithm>

#include "compiler/diag/diag.h"

namespace skdsl::diag {
namespace {

constexpr size_t kWindow = 120;     // bytes of a line that are shown at most
constexpr size_t kBeforeSpan = 40;  // of them before the span, when the line is cut
constexpr size_t kTab = 4;

struct Style {
  bool on;
  std::string_view bold() const { return on ? "\x1b[1m" : ""; }
  std::string_view blue() const { return on ? "\x1b[1;34m" : ""; }
  std::string_view reset() const { return on ? "\x1b[0m" : ""; }
  std::string_view of(Severity severity) const {
    if (!on) return "";
    switch (severity) {
      case Severity::Error:
        return "\x1b[1;31m";
      case Severity::Warning:
        return "\x1b[1;33m";
      case Severity::Perf:
        return "\x1b[1;35m";
      case Severity::Info:
        return "\x1b[1;36m";
    }
    return "";
  }
};

bool is_tail(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// Text with tabs and control characters made visible, and how many terminal columns it takes.
struct Shown {
  std::string text;
  size_t columns = 0;
};
Shown shown(std::string_view bytes) {
  Shown out;
  for (size_t i = 0; i < bytes.size();) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    size_t n = 1;
    while (i + n < bytes.size() && is_tail(bytes[i + n]) && c >= 0xc0) ++n;
    if (c == '\t') {
      out.text.append(kTab, ' ');
      out.columns += kTab;
    } else if (c < 0x20 || c == 0x7f) {
      out.text += '?';
      out.columns += 1;
    } else {
      out.text.append(bytes.substr(i, n));
      // CJK and full-width forms take two columns.
      const bool wide = c >= 0xf0 || (c >= 0xe3 && c <= 0xed) ||
                        (c == 0xef && n == 3 && static_cast<unsigned char>(bytes[i + 1]) >= 0xbc);
      out.columns += wide ? 2 : 1;
    }
    i += n;
  }
  return out;
}

/// The largest character border at or below `at`.
size_t border(std::string_view line, size_t at) {
  at = std::min(at, line.size());
  while (at > 0 && at < line.size() && is_tail(line[at])) --at;
  return at;
}

void excerpt(std::string& out, Span span, const source::Sources& sources, Style style,
             std::string_view caret_colour, size_t gutter) {
  const Loc loc = sources.loc(span);
  const std::string_view line = sources.line(loc.file, loc.line);
  const size_t begin = border(line, loc.column - 1);
  const size_t end = border(line, std::max<size_t>(begin, loc.column - 1 + loc.length));
  size_t from = 0;
  size_t to = line.size();
  if (line.size() > kWindow) {
    from = border(line, begin > kBeforeSpan ? begin - kBeforeSpan : 0);
    to = border(line, from + kWindow);
  }
  const Shown before = shown(line.substr(from, begin - from));
  const Shown marked = shown(line.substr(begin, std::min(end, to) - begin));
  const Shown after = shown(line.substr(std::min(end, to), to - std::min(end, to)));
  const std::string_view head = from > 0 ? "…" : "";
  const std::string_view tail = to < line.size() ? "…" : "";
  out += fmt::format("{:{}} {}|{}\n", "", gutter, style.blue(), style.reset());
  out += fmt::format("{}{:>{}} |{} {}{}{}{}{}\n", style.blue(), loc.line, gutter, style.reset(), head,
                     before.text, marked.text, after.text, tail);
  out += fmt::format("{:{}} {}|{} {:{}}{}{}{}\n", "", gutter, style.blue(), style.reset(), "",
                     before.columns + (from > 0 ? 1 : 0), caret_colour,
                     std::string(std::max<size_t>(1, marked.columns), '^'), style.reset());
}

size_t gutter_width(const Diagnostic& d, const source::Sources& sources) {
  uint32_t line = sources.loc(d.span).line;
  for (const Note& n : d.notes) line = std::max(line, sources.loc(n.span).line);
  return std::max<size_t>(2, fmt::formatted_size("{}", line));
}

}  // namespace

std::string to_human(const Diagnostic& d, const source::Sources& sources, bool colour) {
  const Style style{colour};
  const size_t gutter = gutter_width(d, sources);
  std::string out = fmt::format("{}{}[{}]{}{}: {}{}\n", style.of(d.severity), name(d.severity), rule(d.id).id,
                                style.reset(), style.bold(), d.message, style.reset());
  const auto place = [&](Span span, std::string_view caret_colour) {
    const Loc loc = sources.loc(span);
    out += fmt::format("{:{}}{}-->{} {}:{}:{}\n", "", gutter, style.blue(), style.reset(),
                       sources.name(loc.file), loc.line, loc.column);
    excerpt(out, span, sources, style, caret_colour, gutter);
  };
  if (d.span) place(d.span, style.of(d.severity));
  for (const Note& note : d.notes) {
    if (note.span) {
      out += fmt::format("{}note{}: {}\n", style.bold(), style.reset(), note.text);
      place(note.span, style.blue());
    } else {
      out += fmt::format("{:{}} {}={} note: {}\n", "", gutter, style.blue(), style.reset(), note.text);
    }
  }
  for (const std::string& help : d.helps) {
    out += fmt::format("{:{}} {}={} help: {}\n", "", gutter, style.blue(), style.reset(), help);
  }
  return out;
}

}  // namespace skdsl::diag
