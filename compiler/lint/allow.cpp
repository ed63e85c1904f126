#include "compiler/lint/allow.h"

#include <algorithm>
#include <cstring>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

namespace {

constexpr std::string_view kModes[] = {"eager", "npugraph_ex", "ge_graph"};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

struct Found {
  size_t begin, end;  // of the pragma in the text
  bool own_line;
};

/// The pragmas of the text: `#!` outside strings and comments.
std::vector<Found> find_pragmas(std::string_view text, bool yaml) {
  std::vector<Found> out;
  // Most files have none, and then nothing is read twice.
  for (size_t hash = text.find("#!"); hash != std::string_view::npos; hash = text.find("#!", hash)) {
    const size_t newline = hash == 0 ? std::string_view::npos : text.rfind('\n', hash - 1);
    const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    const size_t end = std::min(text.find('\n', hash), text.size());
    bool quoted = false, comment = false;
    for (size_t i = line; i < hash && !comment; ++i) {
      if (quoted && text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = !quoted;
      else if (!quoted && (yaml ? text[i] == '#' : text.substr(i, 2) == "//"))
        comment = true;
    }
    if (!quoted && !comment) {
      out.push_back({hash, end, trimmed(text.substr(line, hash - line)).empty()});
      hash = end;
    } else {
      hash += 2;
    }
    if (hash >= text.size()) break;
  }
  return out;
}

class Reader {
 public:
  Reader(uint32_t file, diag::Engine& diags)
      : file_(file), diags_(diags), text_(diags.sources().text(file)) {}

  Pragmas read() {
    const std::string& name = diags_.sources().name(file_);
    for (const Found& f : find_pragmas(text_, name.ends_with(".yaml") || name.ends_with(".yml"))) one(f);
    return std::move(out_);
  }

 private:
  Span span(std::string_view part) const {
    const auto begin = static_cast<uint32_t>(part.data() - text_.data());
    return {file_, begin, begin + static_cast<uint32_t>(part.size())};
  }

  void one(const Found& f) {
    const std::string_view whole = trimmed(text_.substr(f.begin, f.end - f.begin));
    // A comment behind the pragma says nothing to it.
    const size_t comment = std::min(whole.find(" //"), whole.find(" #", 2));
    const std::string_view body = trimmed(whole.substr(2, std::min(comment, whole.size()) - 2));
    const size_t open = body.find('(');
    const std::string_view word = trimmed(body.substr(0, std::min(open, body.find(':'))));
    const bool allow = word == "allow" || word == "allow-file";
    if (!allow && word != "modes") {
      auto report = diags_.report(span(word.empty() ? whole : word), diag::Id::UnknownPragma,
                                  fmt::format("`{}` is no pragma", word));
      if (const std::string near = diag::nearest(word, {"allow", "allow-file", "modes"}); !near.empty())
        report.help(fmt::format("did you mean `{}`?", near)).fix(span(word), near);
      else
        report.help(
            "write `#! allow(SK418): reason`, `#! allow-file(SK418): reason` or `#! modes(eager): reason`");
      return;
    }
    const size_t close = open == std::string_view::npos ? open : body.find(')', open);
    if (close == std::string_view::npos) {
      diags_.report(span(body), diag::Id::UnknownPragma, fmt::format("`{}` without its list", word))
          .help(allow ? "write `#! allow(SK418): reason`" : "write `#! modes(eager): reason`");
      return;
    }
    std::vector<std::string_view> items;
    for (std::string_view rest = body.substr(open + 1, close - open - 1); !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (const auto item = trimmed(rest.substr(0, comma)); !item.empty()) items.push_back(item);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    const std::string_view after = trimmed(body.substr(close + 1));
    const bool reason = after.starts_with(":") && !trimmed(after.substr(1)).empty();
    if (!allow) return modes(items, span(body));
    if (items.empty()) {
      diags_.report(span(body), diag::Id::UnknownPragma, fmt::format("`{}` of no rule", word))
          .help("write `#! allow(SK418): reason`");
      return;
    }
    if (!reason) {
      diags_.report(span(body), diag::Id::AllowWithoutReason)
          .help(fmt::format("write `#! {}: why it is right here`", body.substr(0, close + 1)));
      return;
    }
    const uint32_t line = word == "allow-file" ? 0 : f.own_line ? next_code_line(f.end) : line_of(f.begin);
    for (const std::string_view item : items) {
      const diag::Id id = diag::find(item);
      const Rule* rule = find(id);
      if (rule == nullptr) {
        auto report =
            diags_.report(span(item), diag::Id::AllowImpossible, fmt::format("`{}` is no lint rule", item));
        std::vector<std::string> names;
        for (const Rule& r : rules())
          names.emplace_back(diag::rule(r.id).id), names.emplace_back(diag::rule(r.id).name);
        if (id != diag::Id::kCount)
          report.note("four-digit ids are errors of the language; they cannot be allowed");
        else if (const std::string near = diag::nearest(item, names); !near.empty())
          report.help(fmt::format("did you mean `{}`?", near));
        else
          report.help("`skdsl lint --list` shows the rules");
        continue;
      }
      if (rule->locked) {
        diags_
            .report(span(item), diag::Id::AllowImpossible,
                    fmt::format("{} cannot be allowed", diag::rule(id).id))
            .note("what it finds raises or hangs on the device")
            .help("change the program; the finding says how");
        continue;
      }
      out_.allows.push_back({id, span(item), span(whole), line, f.own_line, items.size() == 1, false});
    }
  }

  void modes(const std::vector<std::string_view>& items, Span span_of_all) {
    if (items.empty())
      diags_.report(span_of_all, diag::Id::UnknownPragma, "`modes` of none").help("write `#! modes(eager)`");
    for (const std::string_view item : items) {
      if (std::find(std::begin(kModes), std::end(kModes), item) != std::end(kModes)) {
        out_.modes.emplace_back(item);
        continue;
      }
      auto report = diags_.report(span(item), diag::Id::UnknownPragma, fmt::format("`{}` is no mode", item));
      if (const std::string near = diag::nearest(item, {std::begin(kModes), std::end(kModes)}); !near.empty())
        report.help(fmt::format("did you mean `{}`?", near)).fix(span(item), near);
      else
        report.help("modes are eager, npugraph_ex and ge_graph");
    }
  }

  uint32_t line_of(size_t at) const {
    return diags_.sources().loc({file_, static_cast<uint32_t>(at), static_cast<uint32_t>(at)}).line;
  }
  uint32_t next_code_line(size_t at) const {
    while (at < text_.size()) {
      const size_t begin = at + 1;
      at = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line =
          trimmed(text_.substr(std::min(begin, text_.size()), at - std::min(begin, at)));
      if (!line.empty() && !line.starts_with("//") && !line.starts_with("#")) return line_of(begin);
    }
    return line_of(text_.size());
  }

  uint32_t file_;
  diag::Engine& diags_;
  std::string_view text_;
  Pragmas out_;
};

}  // namespace

Pragmas read_pragmas(uint32_t file, diag::Engine& diags) { return Reader(file, diags).read(); }

void apply_allows(Pragmas& pragmas, uint32_t file, std::vector<diag::Diagnostic>& findings,
                  const std::vector<diag::Id>& off, diag::Engine& diags) {
  if (pragmas.allows.empty()) return;
  std::erase_if(findings, [&](const diag::Diagnostic& d) {
    if (d.span.file != file) return false;
    const uint32_t line = diags.sources().loc(d.span).line;
    bool allowed = false;
    for (Allow& a : pragmas.allows)
      if (a.id == d.id && (a.line == 0 || a.line == line)) a.used = allowed = true;
    return allowed;
  });
  const std::string_view text = diags.sources().text(file);
  for (const Allow& a : pragmas.allows) {
    if (a.used || std::find(off.begin(), off.end(), a.id) != off.end()) continue;
    auto report = diags.report(a.span, diag::Id::AllowUnused, diag::rule(a.id).id);
    report.help("take it away");
    if (!a.alone) continue;
    // With the blanks before it, or with its whole line.
    Span cut = a.pragma;
    while (cut.begin > 0 && blank(text[cut.begin - 1])) --cut.begin;
    while (cut.end < text.size() && text[cut.end] != '\n') ++cut.end;
    if (a.own_line && cut.end < text.size())
      ++cut.end;
    else if (cut.end > a.pragma.begin && text[cut.end - 1] == '\r')
      --cut.end;
    report.fix(cut, "");
  }
}

}  // namespace skdsl::lint
