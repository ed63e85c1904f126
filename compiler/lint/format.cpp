#include "compiler/lint/format.h"

#include <algorithm>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

Summary summary(const std::vector<FileReport>& files) {
  Summary s;
  for (const FileReport& f : files) {
    ++s.files;
    if (f.error) ++s.unreadable;
    for (const diag::Diagnostic& d : f.result.findings)
      ++(d.severity == diag::Severity::Error     ? s.errors
         : d.severity == diag::Severity::Warning ? s.warnings
         : d.severity == diag::Severity::Perf    ? s.perf
                                                 : s.infos);
  }
  return s;
}

namespace {
std::string count(size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}
}  // namespace

std::string to_human(const std::vector<FileReport>& files, bool colour) {
  std::string out;
  for (const FileReport& f : files) {
    if (f.error) {
      out += fmt::format("{}error{}: {}\n", colour ? "\x1b[1;31m" : "", colour ? "\x1b[0m" : "",
                         f.error->message);
      for (const std::string& note : f.error->notes)
        out += fmt::format("  = {}{}\n", note.starts_with("help: ") ? "" : "note: ", note);
      out += '\n';
    }
    for (const diag::Diagnostic& d : f.result.findings) out += diag::to_human(d, *f.sources, colour) + '\n';
  }
  const Summary s = summary(files);
  if (s.errors + s.warnings + s.perf + s.infos + s.unreadable == 0)
    return out + fmt::format("{}: nothing found\n", count(s.files, "file", "files"));
  out += fmt::format("{}: {}, {}, {} about speed, {}", count(s.files, "file", "files"),
                     count(s.errors, "error", "errors"), count(s.warnings, "warning", "warnings"), s.perf,
                     count(s.infos, "info", "infos"));
  if (s.unreadable > 0) out += fmt::format("; {} not read", s.unreadable);
  size_t safe = 0, unsafe = 0;
  for (const FileReport& f : files)
    for (const diag::Diagnostic& d : f.result.findings)
      if (!d.fix.edits.empty()) ++(d.fix.applicability == diag::Applicability::Safe ? safe : unsafe);
  if (safe > 0) out += fmt::format("; {} can be mended with --fix", safe);
  if (unsafe > 0) out += fmt::format("; {} with --fix-unsafe", unsafe);
  return out + '\n';
}

std::string to_json(const std::vector<FileReport>& files) {
  std::string findings, unreadable;
  for (const FileReport& f : files) {
    if (f.error)
      unreadable += fmt::format("{}\n  {{\"file\":{},\"message\":{}}}", unreadable.empty() ? "" : ",",
                                diag::json_string(f.path), diag::json_string(f.error->message));
    for (const diag::Diagnostic& d : f.result.findings)
      findings += fmt::format("{}\n  {}", findings.empty() ? "" : ",", diag::to_json(d, *f.sources));
  }
  const Summary s = summary(files);
  return fmt::format(
      "{{\n \"format_version\":1,\n \"findings\":[{}],\n \"unreadable\":[{}],\n "
      "\"summary\":{{\"files\":{},\"errors\":{},"
      "\"warnings\":{},\"perf\":{},\"infos\":{}}}\n}}\n",
      findings, unreadable, s.files, s.errors, s.warnings, s.perf, s.infos);
}

std::string to_jsonl(const std::vector<FileReport>& files) {
  std::string out;
  for (const FileReport& f : files) {
    if (f.error)
      out += fmt::format("{{\"unreadable\":{},\"message\":{}}}\n", diag::json_string(f.path),
                         diag::json_string(f.error->message));
    for (const diag::Diagnostic& d : f.result.findings) out += diag::to_json(d, *f.sources) + '\n';
  }
  return out;
}

namespace {
/// The characters that end a workflow command or one of its properties.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out;
}
}  // namespace

std::string to_github(const std::vector<FileReport>& files) {
  std::string out;
  for (const FileReport& f : files) {
    if (f.error)
      out += fmt::format("::error file={}::{}\n", escaped(f.path, true), escaped(f.error->message, false));
    for (const diag::Diagnostic& d : f.result.findings) {
      const std::string_view level = d.severity == diag::Severity::Error     ? "error"
                                     : d.severity == diag::Severity::Warning ? "warning"
                                                                             : "notice";
      const Loc from = f.sources->loc(d.span), to = f.sources->loc({d.span.file, d.span.end, d.span.end});
      std::string text = d.message;
      for (const std::string& help : d.helps) text += "\nhelp: " + help;
      std::string place =
          fmt::format("file={}", escaped(d.span ? f.sources->name(d.span.file) : f.path, true));
      if (d.span) {
        place += fmt::format(",line={},endLine={}", from.line, to.line);
        if (from.line == to.line)
          place += fmt::format(",col={},endColumn={}", from.column, std::max(to.column, from.column));
      }
      out += fmt::format("::{} {},title={}::{}\n", level, place,
                         escaped(fmt::format("{} {}", diag::rule(d.id).id, diag::rule(d.id).name), true),
                         escaped(text, false));
    }
  }
  return out;
}

std::string list_rules() {
  std::string out;
  for (const Rule& r : rules()) {
    const diag::Rule& row = diag::rule(r.id);
    out += fmt::format("{:<6} {:<34} {:<8} {:<18} {:<7} {}\n", row.id, row.name, diag::name(row.severity),
                       row.category, diag::name(row.fix), r.locked ? "cannot be allowed" : "");
    while (out.ends_with(" \n")) out.erase(out.size() - 2, 1);
  }
  return out;
}

std::string list_rules_json() {
  std::string list;
  for (const Rule& r : rules()) {
    const diag::Rule& row = diag::rule(r.id);
    list += fmt::format(
        "{}\n  "
        "{{\"id\":\"{}\",\"name\":\"{}\",\"severity\":\"{}\",\"category\":\"{}\",\"fix\":\"{}\",\"page\":"
        "\"docs/"
        "diagnostics/{}.md\",\"allow\":{}}}",
        list.empty() ? "" : ",", row.id, row.name, diag::name(row.severity), row.category,
        diag::name(row.fix), row.id, !r.locked);
  }
  return fmt::format("{{\n \"format_version\":1,\n \"rules\":[{}]\n}}\n", list);
}

}  // namespace skdsl::lint
