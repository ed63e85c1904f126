#include "tests/unit/passes/helpers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace skdsl::testing {

plan::Program program(std::string_view text) {
  auto p = plan::parse_program(text);
  EXPECT_TRUE(p.has_value()) << (p ? "" : p.error().message);
  if (!p) return {};
  for (const std::string& m : plan::verify(*p)) ADD_FAILURE() << m;
  return std::move(*p);
}

Diags::Diags() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::string(100, 'x') + "\n";
  sources.add("t.sk", text);
}

std::string Diags::text() const {
  std::string out;
  for (const diag::Diagnostic& d : engine.all()) {
    const Loc l = sources.loc(d.span);
    out += fmt::format("{} {}:{}: {}\n", diag::rule(d.id).id, l.line, l.column, d.message);
    for (const diag::Note& n : d.notes) out += "  note: " + n.text + "\n";
    for (const std::string& h : d.helps) out += "  help: " + h + "\n";
  }
  return out;
}

std::string functions(std::string_view printed) {
  const size_t at = printed.find("func ");
  return at == std::string_view::npos ? "" : std::string(printed.substr(at));
}

std::string after(bool (*pass)(passes::PassContext&), std::string_view text) {
  plan::Program p = program(text);
  const std::string before = print(p);
  Diags diags;
  passes::PassContext context{p, diags.engine};
  const bool changed = pass(context);
  for (const std::string& m : plan::verify(p)) ADD_FAILURE() << m << "\n" << print(p);
  EXPECT_EQ(changed, print(p) != before);
  EXPECT_EQ(diags.text(), "");
  return print(p);
}

}  // namespace skdsl::testing
