// explain — a diagnostic's page, from the table and docs/diagnostics
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"

namespace skdsl::cli {
namespace {

struct Page {
  std::string_view id, text;
};
constexpr Page kPages[] = {
#include "diagnostic_pages.inc"
};

struct Options {
  std::string subject;
  bool json = false;
};

std::string_view page_of(std::string_view id) {
  for (const Page& page : kPages) {
    if (page.id == id) return page.text;
  }
  return {};
}

int explain(const Options& options, Context& context) {
  const diag::Id id = diag::find(options.subject);
  if (id == diag::Id::kCount) {
    std::vector<std::string> names;
    for (size_t i = 0; i < static_cast<size_t>(diag::Id::kCount); ++i) {
      names.emplace_back(diag::rule(static_cast<diag::Id>(i)).id);
      names.emplace_back(diag::rule(static_cast<diag::Id>(i)).name);
    }
    Error error{ErrorKind::Usage, fmt::format("`{}` is no diagnostic", options.subject), {}};
    if (const std::string meant = diag::nearest(options.subject, names); !meant.empty()) {
      error.notes.push_back(fmt::format("help: did you mean `{}`?", meant));
    } else {
      error.notes.emplace_back(
          "help: diagnostics are named as in their output, for example SK3004 or shape-mismatch");
    }
    return report(error, context);
  }
  const diag::Rule& row = diag::rule(id);
  const std::string_view page = page_of(row.id);
  if (options.json) {
    context.out
        << fmt::format(
               R"({{"format_version":1,"id":{},"name":{},"severity":{},"category":{},"message":{},"page":{}}})",
               diag::json_string(row.id), diag::json_string(row.name),
               diag::json_string(diag::name(row.severity)), diag::json_string(row.category),
               diag::json_string(row.message), diag::json_string(page))
        << '\n';
    return kDone;
  }
  context.out << fmt::format("{} {} ({}, {})\nmessage: {}\n\n{}", row.id, row.name, diag::name(row.severity),
                             row.category, row.message, page);
  return kDone;
}

}  // namespace

Run define_explain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("subject", options->subject, "a diagnostic's id or name")->required();
  app.add_flag("--json", options->json, "one JSON document");
  return [options](Context& context) { return explain(*options, context); };
}

}  // namespace skdsl::cli
