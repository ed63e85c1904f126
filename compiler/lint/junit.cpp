// junit — one test case a file; errors and warnings fail it, the rest is its output
#include "compiler/lint/format.h"

namespace skdsl::lint {

namespace {
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += c;
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;  // XML has no other control characters
    }
  }
  return out;
}
}  // namespace

std::string to_junit(const std::vector<FileReport>& files) {
  std::string cases;
  size_t failures = 0, errors = 0;
  for (const FileReport& f : files) {
    std::string inner, quiet;
    if (f.error) {
      ++errors;
      inner += fmt::format("    <error message=\"{}\"/>\n", xml(f.error->message));
    }
    size_t bad = 0;
    for (const diag::Diagnostic& d : f.result.findings) {
      const std::string text = diag::to_human(d, *f.sources, false);
      if (d.severity != diag::Severity::Error && d.severity != diag::Severity::Warning) {
        quiet += text;
        continue;
      }
      ++bad;
      inner += fmt::format("    <failure type=\"{}\" message=\"{}\">{}</failure>\n", diag::rule(d.id).id,
                           xml(d.message), xml(text));
    }
    failures += bad > 0;
    if (!quiet.empty()) inner += fmt::format("    <system-out>{}</system-out>\n", xml(quiet));
    cases += inner.empty()
                 ? fmt::format("  <testcase classname=\"skdsl.lint\" name=\"{}\"/>\n", xml(f.path))
                 : fmt::format("  <testcase classname=\"skdsl.lint\" name=\"{}\">\n{}  </testcase>\n",
                               xml(f.path), inner);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"skdsl lint\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuite>\n",
      files.size(), failures, errors, cases);
}

}  // namespace skdsl::lint
