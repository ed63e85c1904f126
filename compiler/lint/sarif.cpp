// sarif — findings as a SARIF 2.1.0 log (OASIS), for code scanning services
//
// Columns count UTF-16 code units there, as the log says; lines and byte offsets are as everywhere.
#include <algorithm>
#include <set>

#include "compiler/lint/format.h"
#include "compiler/lint/rule.h"
#include "runtime/base/json.h"

namespace skdsl::lint {

namespace {

/// 1-based column in UTF-16 code units of a byte column.
int64_t utf16_column(std::string_view line, uint32_t column) {
  int64_t units = 1;
  for (size_t i = 0; i + 1 < column && i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    if ((c & 0xc0u) != 0x80u) units += c >= 0xf0 ? 2 : 1;
  }
  return units;
}

/// A path as a URI reference: what is no plain character of a path is written as %XX.
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return path.starts_with("/") ? "file://" + out : out;
}

Json region(const source::Sources& sources, Span span) {
  const Loc from = sources.loc(span), to = sources.loc({span.file, span.end, span.end});
  return Json::Object{{"startLine", from.line},
                      {"startColumn", utf16_column(sources.line(from.file, from.line), from.column)},
                      {"endLine", to.line},
                      {"endColumn", utf16_column(sources.line(to.file, to.line), to.column)},
                      {"byteOffset", span.begin},
                      {"byteLength", span.end - span.begin}};
}

Json location(const source::Sources& sources, Span span, const std::string& message = "") {
  Json::Object out{{"physicalLocation",
                    Json::Object{{"artifactLocation", Json::Object{{"uri", uri(sources.name(span.file))}}},
                                 {"region", region(sources, span)}}}};
  if (!message.empty()) out.emplace_back("message", Json::Object{{"text", message}});
  return out;
}

std::string_view level(diag::Severity s) {
  return s == diag::Severity::Error ? "error" : s == diag::Severity::Warning ? "warning" : "note";
}

Json rule_json(diag::Id id) {
  const diag::Rule& row = diag::rule(id);
  return Json::Object{{"id", row.id},
                      {"name", row.name},
                      {"shortDescription", Json::Object{{"text", row.name}}},
                      {"help", Json::Object{{"text", fmt::format("skdsl explain {}", row.id)}}},
                      {"defaultConfiguration", Json::Object{{"level", level(row.severity)}}},
                      {"properties", Json::Object{{"category", row.category}}}};
}

Json result_json(const FileReport& f, const diag::Diagnostic& d, size_t index) {
  std::string text = d.message;
  for (const std::string& help : d.helps) text += "\nhelp: " + help;
  Json::Object out{{"ruleId", diag::rule(d.id).id},
                   {"ruleIndex", index},
                   {"level", level(d.severity)},
                   {"message", Json::Object{{"text", text}}}};
  // A finding without a place is about the file.
  Json::Array locations{
      d.span ? location(*f.sources, d.span)
             : Json(Json::Object{{"physicalLocation",
                                  Json::Object{{"artifactLocation", Json::Object{{"uri", uri(f.path)}}}}}})};
  out.emplace_back("locations", std::move(locations));
  Json::Array related;
  for (const diag::Note& note : d.notes)
    if (note.span) related.push_back(location(*f.sources, note.span, note.text));
  if (!related.empty()) out.emplace_back("relatedLocations", std::move(related));
  if (!d.fix.edits.empty()) {
    Json::Array replacements;
    for (const diag::Edit& e : d.fix.edits)
      replacements.push_back(Json::Object{{"deletedRegion", region(*f.sources, e.span)},
                                          {"insertedContent", Json::Object{{"text", e.text}}}});
    out.emplace_back(
        "fixes",
        Json::Array{Json::Object{
            {"description",
             Json::Object{{"text", d.fix.applicability == diag::Applicability::Safe ? "safe" : "unsafe"}}},
            {"artifactChanges",
             Json::Array{Json::Object{
                 {"artifactLocation", Json::Object{{"uri", uri(f.sources->name(d.fix.edits[0].span.file))}}},
                 {"replacements", std::move(replacements)}}}}}});
  }
  return out;
}

}  // namespace

std::string to_sarif(const std::vector<FileReport>& files, std::string_view version) {
  std::vector<diag::Id> ids;
  std::set<diag::Id> seen;
  Json::Array results, notifications;
  for (const FileReport& f : files) {
    if (f.error)
      notifications.push_back(Json::Object{
          {"level", "error"},
          {"message", Json::Object{{"text", f.error->message}}},
          {"locations", Json::Array{Json::Object{
                            {"physicalLocation",
                             Json::Object{{"artifactLocation", Json::Object{{"uri", uri(f.path)}}}}}}}}});
    for (const diag::Diagnostic& d : f.result.findings) {
      if (seen.insert(d.id).second) ids.push_back(d.id);
      const auto index = static_cast<size_t>(std::find(ids.begin(), ids.end(), d.id) - ids.begin());
      results.push_back(result_json(f, d, index));
    }
  }
  Json::Array rules;
  for (const diag::Id id : ids) rules.push_back(rule_json(id));
  Json::Object driver{{"name", "skdsl"}, {"version", version}, {"rules", std::move(rules)}};
  Json::Object invocation{{"executionSuccessful", notifications.empty()}};
  if (!notifications.empty()) invocation.emplace_back("toolExecutionNotifications", std::move(notifications));
  const Json log =
      Json::Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", Json::Array{Json::Object{{"tool", Json::Object{{"driver", std::move(driver)}}},
                                                     {"columnKind", "utf16CodeUnits"},
                                                     {"invocations", Json::Array{std::move(invocation)}},
                                                     {"results", std::move(results)}}}}};
  return to_json(log, 1) + '\n';
}

}  // namespace skdsl::lint
