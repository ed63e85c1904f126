#include "compiler/config/run_rules.h"

#include <cstdlib>

#include "compiler/config/run_edit.h"

namespace skdsl::config {

namespace {
constexpr RunRule kRules[] = {
#define SK_RUN_RULE(function, diagnostic, source) {#function, diag::Id::diagnostic, source, rules::function},
#include "compiler/config/run_rules.def"
};

/// Lists what nothing follows from.
void tell_recorded_only(const RunView& view, diag::Engine& diags) {
  std::string list;
  for (const Effective& e : view.rows()) {
    if (!e.given || e.acts() || e.value == default_value(*e.key)) continue;
    // Without a model file nobody can say what its keys do.
    if (e.key->section == "custom_params" && !view.context().declares) continue;
    // Of an option that the mode does not have, its own warning tells.
    if ((e.key->section == "npugraph_ex" || e.key->section == "ge") &&
        view.mode() != (e.key->section == "ge" ? "ge_graph" : "npugraph_ex"))
      continue;
    const bool off = e.key->type == KeyType::Switch && !view.flag(e.key->path());
    if (off) continue;
    std::string value = to_json(e.value);
    if (value.size() > 40) value = value.substr(0, 37) + "...";
    list += fmt::format("{}{} = {} ({})", list.empty() ? "" : ", ", e.key->path(), value,
                        e.key->status == KeyStatus::NoEffect ? fmt::format("no effect here: {}", e.key->note)
                                                             : std::string(e.key->note));
  }
  if (list.empty()) return;
  if (diags.strict)
    diags.report({}, diag::Id::RunNotDone, list).help("leave these keys out, or run without --strict");
  else
    diags.report({}, diag::Id::RunRecordedOnly, list);
}

}  // namespace

std::span<const RunRule> run_rules() { return kRules; }

diag::Engine::Builder RuleReport::say(std::initializer_list<std::string_view> keys,
                                      const std::string& message, const std::string& help,
                                      std::string_view instead) {
  std::vector<std::string> copies(keys.begin(), keys.end());
  return say(copies, message, help, instead);
}

diag::Engine::Builder RuleReport::say(std::span<const std::string> keys, const std::string& message,
                                      const std::string& help, std::string_view instead) {
  const Effective* blamed = nullptr;
  for (const std::string& key : keys)
    if (const Effective& e = view_.at(key); !blamed && e.span) blamed = &e;
  auto report = diags_.report(blamed ? blamed->span : Span{}, id_, message);
  for (const std::string& key : keys) {
    const Effective& e = view_.at(key);
    report.note(&e == blamed ? Span{} : e.span, fmt::format("{} = {} ({})", key, to_json(e.value), e.origin));
  }
  report.help(help);
  if (!instead.empty() && blamed && blamed == &view_.at(keys[0]))
    report.fix(blamed->span, std::string(instead));
  return report;
}

void RuleReport::set(diag::Engine::Builder said, std::string_view path, const std::string& value) const {
  set_key(diags_.sources(), view_, path, value, said);
}

void RuleReport::drop(diag::Engine::Builder said, std::string_view path) const {
  drop_key(diags_.sources(), view_, path, said);
}

std::string RuleReport::environment(const char* name) const {
  const char* value = view_.context().environment ? view_.context().environment(name) : std::getenv(name);
  return value ? value : "";
}

void check_run_rules(const RunView& view, diag::Engine& diags) {
  const size_t errors = diags.errors();
  for (const RunRule& rule : kRules) {
    RuleReport report(view, rule.id, diags);
    rule.check(view, report);
  }
  if (diags.errors() == errors) tell_recorded_only(view, diags);
}

}  // namespace skdsl::config
