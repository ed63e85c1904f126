// ops — the operator table as text, JSON or the page docs/ops.md
#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "cli/cli.h"
#include "stdlib/op_info.h"

namespace skdsl::cli {
namespace {

struct Options {
  std::string name;
  bool json = false;
  bool markdown = false;
};

std::string_view text(Types types) {
  switch (types) {
    case Types::Float:
      return "float tensor";
    case Types::Index:
      return "i32 | i64 tensor";
    case Types::Int:
      return "i8 | i32 | i64 tensor";
    case Types::Int8:
      return "i8 tensor";
    case Types::Int32:
      return "i32 tensor";
    case Types::Bool:
      return "bool tensor";
    case Types::Any:
      return "tensor";
    case Types::Event:
      return "event";
    case Types::HostAny:
      return "value";
  }
  return "";
}

std::string_view text(AttrType type) {
  switch (type) {
    case AttrType::Int:
      return "int";
    case AttrType::Float:
      return "float";
    case AttrType::Bool:
      return "bool";
    case AttrType::Str:
      return "str";
    case AttrType::DType:
      return "dtype";
    case AttrType::IntList:
      return "list[int]";
    case AttrType::Choice:
      return "str";
  }
  return "";
}

std::string_view text(Core core) {
  switch (core) {
    case Core::None:
      return "none";
    case Core::Aic:
      return "AIC";
    case Core::Aiv:
      return "AIV";
    case Core::Mix11:
      return "MIX 1:1";
    case Core::Mix12:
      return "MIX 1:2";
    case Core::AiCpu:
      return "AICPU";
    case Core::Host:
      return "host";
  }
  return "";
}

std::string_view rule_text(ShapeRule rule) {
  static constexpr std::string_view kTexts[] = {
#define SK_SHAPE_RULE(Name, text) text,
#include "stdlib/shape_rules.def"
#undef SK_SHAPE_RULE
  };
  return kTexts[static_cast<size_t>(rule)];
}

std::vector<std::string_view> trait_names(const OpInfo& op) {
  struct Row {
    Trait trait;
    std::string_view name;
  };
  static constexpr Row kRows[] = {{kPure, "pure"},
                                  {kInPlace, "in place"},
                                  {kElementwise, "elementwise"},
                                  {kHostRead, "host read"},
                                  {kHostIo, "host output"},
                                  {kRandom, "random"},
                                  {kDynamicShape, "dynamic shape"},
                                  {kSync, "host sync"},
                                  {kCollective, "collective"},
                                  {kScopeCollective, "collective in scopes"},
                                  {kView, "view"},
                                  {kStructural, "structural"},
                                  {kLayout, "layout"},
                                  {kHostFn, "host function"}};
  std::vector<std::string_view> names;
  for (const Row& row : kRows) {
    if (op.has(row.trait)) names.push_back(row.name);
  }
  return names;
}

std::string parameter(const Param& p) {
  std::string out(p.name);
  if (p.variadic) out += "…";
  if (p.is_attr) {
    if (p.default_text == "none") return out + " = none";
    if (!p.default_text.empty())
      return out + fmt::format(" = {}", p.attr == AttrType::Choice ? fmt::format("\"{}\"", p.default_text)
                                                                   : std::string(p.default_text));
  }
  return p.optional ? out + " = none" : out;
}

std::string signature(const OpInfo& op) {
  std::string out = fmt::format("{}(", op.name);
  bool first = true;
  for (const Param& p : op.params) {
    if (!first) out += ", ";
    first = false;
    out += parameter(p);
  }
  out += ')';
  first = true;
  for (const std::string_view result : op.results) {
    out += fmt::format("{}{}", first ? " -> " : ", ", result);
    first = false;
  }
  return out;
}

std::string choices_text(const Param& p) {
  std::string out = "\"";
  for (const char c : p.choices) out += c == '|' ? std::string("\", \"") : std::string(1, c);
  return out + "\"";
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view w : words) out += fmt::format("{}{}", out.empty() ? "" : ", ", w);
  return out;
}

/// Indented facts of one operator.
std::string detail(const OpInfo& op) {
  std::string out = fmt::format("{}\n  {}\n", signature(op), op.summary);
  for (const Param& p : op.params) {
    out += fmt::format("  {:<24}{}", p.name, p.is_attr ? text(p.attr) : text(p.types));
    if (p.optional) out += ", optional";
    if (!p.choices.empty()) out += ": " + choices_text(p);
    out += '\n';
  }
  out += fmt::format("  {:<24}{}\n  {:<24}{}\n", "result", rule_text(op.rule), "core", text(op.core));
  if (const auto names = trait_names(op); !names.empty())
    out += fmt::format("  {:<24}{}\n", "traits", joined(names));
  if (!op.source.empty()) out += fmt::format("  {:<24}{}\n", "source", op.source);
  return out;
}

std::string all_text() {
  std::string out;
  std::string_view category;
  for (const OpInfo& op : kOps) {
    if (op.category != category) {
      category = op.category;
      out += fmt::format("{}{}\n", out.empty() ? "" : "\n", category);
    }
    out += fmt::format("  {}\n      {}\n", signature(op), op.summary);
  }
  return out;
}

std::string to_json(const OpInfo& op) {
  std::string params, results, traits;
  for (const Param& p : op.params) {
    params += fmt::format(
        R"({}{{"name":{},"kind":"{}","type":{},"optional":{},"variadic":{},"default":{},"choices":{}}})",
        params.empty() ? "" : ",", diag::json_string(p.name), p.is_attr ? "attribute" : "operand",
        diag::json_string(p.is_attr ? text(p.attr) : text(p.types)),
        p.optional || (p.is_attr && !p.default_text.empty()), p.variadic,
        p.default_text.empty() ? "null" : diag::json_string(p.default_text),
        p.choices.empty() ? "null" : "[" + choices_text(p) + "]");
  }
  for (const std::string_view r : op.results)
    results += fmt::format("{}{}", results.empty() ? "" : ",", diag::json_string(r));
  for (const std::string_view t : trait_names(op))
    traits += fmt::format("{}{}", traits.empty() ? "" : ",", diag::json_string(t));
  return fmt::format(
      R"({{"name":{},"category":{},"summary":{},"params":[{}],"results":[{}],"result_rule":{},"core":{},"traits":[{}],"source":{}}})",
      diag::json_string(op.name), diag::json_string(op.category), diag::json_string(op.summary), params,
      results, diag::json_string(rule_text(op.rule)), diag::json_string(text(op.core)), traits,
      diag::json_string(op.source));
}

std::string markdown_cell(std::string_view s) {
  std::string out;
  for (const char c : s) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string to_markdown() {
  std::string out =
      "# Operators\n\n"
      "This page is what `skdsl ops --markdown` prints from `stdlib/ops.def`; edit that table, not this "
      "page.\n\n"
      "Operands come as values, attributes are known when the plan is made; both may be given by name. `= "
      "none` may be left out.\n";
  std::string_view category;
  for (const OpInfo& op : kOps) {
    if (op.category != category) {
      category = op.category;
      out += fmt::format("\n## {}\n", category);
    }
    out += fmt::format("\n### {}\n\n`{}`\n\n{}.\n\n| parameter | takes |\n|---|---|\n", op.name,
                       signature(op), op.summary);
    for (const Param& p : op.params) {
      out += fmt::format(
          "| `{}` | {}{}{} |\n", p.name, markdown_cell(p.is_attr ? text(p.attr) : text(p.types)),
          p.optional ? ", optional" : "", p.choices.empty() ? "" : ": " + markdown_cell(choices_text(p)));
    }
    out += fmt::format("\nResult: {}. Core: {}.", rule_text(op.rule), text(op.core));
    if (const auto names = trait_names(op); !names.empty()) out += fmt::format(" Traits: {}.", joined(names));
    if (!op.source.empty()) out += fmt::format(" Source: {}.", op.source);
    out += '\n';
  }
  return out;
}

int list(const Options& options, Context& context) {
  if (options.markdown) {
    context.out << to_markdown();
    return kDone;
  }
  const OpInfo* only = nullptr;
  if (!options.name.empty()) {
    const Opcode op = find_op(options.name);
    if (op == Opcode::kCount) {
      std::vector<std::string> names;
      for (const OpInfo& row : kOps) names.emplace_back(row.name);
      Error error{ErrorKind::Usage, fmt::format("`{}` is no operator", options.name), {}};
      const std::string meant = diag::nearest(options.name, names);
      error.notes.push_back(meant.empty() ? "help: `skdsl ops` lists them"
                                          : fmt::format("help: did you mean `{}`?", meant));
      return report(error, context);
    }
    only = &info(op);
  }
  if (options.json) {
    std::string rows;
    for (const OpInfo& op : kOps) {
      if (only == nullptr || only == &op) rows += (rows.empty() ? "" : ",") + to_json(op);
    }
    context.out << fmt::format(R"({{"format_version":1,"ops":[{}]}})", rows) << '\n';
  } else {
    context.out << (only != nullptr ? detail(*only) : all_text());
  }
  return kDone;
}

}  // namespace

Run define_ops(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "one operator, with its parameters");
  auto* const json = app.add_flag("--json", options->json, "one JSON document");
  auto* const markdown = app.add_flag("--markdown", options->markdown, "the page docs/ops.md");
  json->excludes(markdown);
  return [options](Context& context) { return list(*options, context); };
}

}  // namespace skdsl::cli
