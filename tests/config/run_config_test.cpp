// Run configs: working ones, one broken and one whole for each rule, and those of the recipes when they are
// at hand.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/config/options.h"
#include "compiler/config/run_rules.h"
#include "runtime/base/file.h"
#include "tests/config/checked.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(SKDSL_SOURCE_DIR) / "tests" / "config";

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string name = (fs::temp_directory_path() / "skdsl-config-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "run.yaml", std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path() const { return (folder_ / "run.yaml").string(); }

 private:
  fs::path folder_;
};

std::vector<fs::path> yamls(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(RunConfig, WorkingOnesHaveNothingToComplainAbout) {
  const auto files = yamls(kHere / "good");
  EXPECT_GE(files.size(), 12U);
  for (const fs::path& file : files) {
    const Checked c(file.string());
    EXPECT_TRUE(c.ids() == "" || c.ids() == "SK2017") << file << "\n" << c.text();
  }
}

TEST(RunConfig, ThoseOfTheRecipes) {
  const char* const data = std::getenv("SKDSL_DATA_DIR");
  if (!data || !fs::is_directory(fs::path(data) / "run_configs"))
    GTEST_SKIP() << "skipped: SKDSL_DATA_DIR has no run_configs";
  size_t loaded = 0, legacy = 0, other = 0;
  for (const fs::path& file : yamls(fs::path(data) / "run_configs")) {
    const Checked c(file.string());
    const auto text = read_file(file.string());
    ASSERT_TRUE(text);
    // What the layout is can be told without a parser: the current one has this section.
    const bool current = text->find("\nscheduler_config:") != std::string::npos;
    const std::string first = c.diags.all().empty() ? "" : c.diags.all().front().message;
    if (current) {
      EXPECT_FALSE(c.diags.has_errors()) << file << "\n" << c.text();
      const config::RunView view(c.settings, c.context);
      EXPECT_TRUE(view.given("model_config.model_name")) << file;
      EXPECT_NE(text->find(view.text("model_config.model_name")), std::string::npos) << file;
      EXPECT_NE(text->find(fmt::format("batch_size: {}", view.integer("scheduler_config.batch_size"))),
                std::string::npos)
          << file;
      EXPECT_NE(text->find(view.mode()), std::string::npos) << file;
    }
    loaded += !c.diags.has_errors();
    legacy += first.starts_with("legacy layout");
    other += first.starts_with("not an LLM recipe");
    if (!current) {
      EXPECT_EQ(c.ids(), "SK2016") << file << "\n" << c.text();
      EXPECT_NE(first.find('`'), std::string::npos) << "names the key: " << first;
    }
  }
  EXPECT_EQ(loaded, 45U);
  EXPECT_EQ(legacy, 3U);
  EXPECT_EQ(other, 12U);
}

struct RuleCase {
  std::string name, bad, good;
};

std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> out;
  std::ifstream in(kHere / "rules.txt");
  std::string* into = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      out.push_back({line.substr(4), "", ""});
      into = &out.back().bad;
    } else if (line == "--- passes") {
      into = &out.back().good;
    } else if (into) {
      *into += line + "\n";
    }
  }
  return out;
}

struct Directives {
  std::map<std::string, std::string> environment;
  std::string mode;
};

Directives directives(const std::string& text) {
  Directives out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# env ")) {
      const size_t eq = line.find('=');
      out.environment[line.substr(6, eq - 6)] = line.substr(eq + 1);
    }
    if (line.starts_with("# mode ")) out.mode = line.substr(7);
  }
  return out;
}

/// What one rule alone says.
size_t said_by(const config::RunRule& rule, const Checked& c) {
  source::Sources sources;
  for (size_t i = 1; i < c.sources.size(); ++i)
    sources.add(c.sources.name(i), std::string(c.sources.text(i)));
  diag::Engine diags(sources);
  const config::RunView view(c.settings, c.context);
  config::RuleReport report(view, rule.id, diags);
  rule.check(view, report);
  for (const diag::Diagnostic& d : diags.all()) {
    EXPECT_FALSE(d.helps.empty()) << rule.name << ": no way out";
    EXPECT_FALSE(d.notes.empty()) << rule.name << ": no values";
    EXPECT_TRUE(d.span || rule.name == "task_queue_environment") << rule.name << ": no place";
  }
  return diags.all().size();
}

TEST(RunRules, EachHasAFailingAndAPassingConfig) {
  const auto cases = rule_cases();
  std::set<std::string> covered;
  for (const RuleCase& one : cases) {
    SCOPED_TRACE(one.name);
    const config::RunRule* rule = nullptr;
    for (const config::RunRule& r : config::run_rules())
      if (r.name == one.name) rule = &r;
    ASSERT_NE(rule, nullptr) << "no such rule";
    covered.insert(one.name);
    const TemporaryFile bad_file(one.bad), good_file(one.good);
    const Directives bad_with = directives(one.bad), good_with = directives(one.good);
    const Checked bad(bad_file.path(), bad_with.environment, bad_with.mode);
    const Checked good(good_file.path(), good_with.environment, good_with.mode);
    EXPECT_TRUE(bad.has(diag::rule(rule->id).id)) << bad.text();
    EXPECT_GE(said_by(*rule, bad), 1U);
    EXPECT_EQ(said_by(*rule, good), 0U) << good.text();
    EXPECT_FALSE(good.diags.has_errors()) << good.text();
  }
  for (const config::RunRule& rule : config::run_rules())
    EXPECT_TRUE(covered.contains(std::string(rule.name)))
        << "rule " << rule.name << " has no case in rules.txt";
}

TEST(RunKeys, RowsAreWholeAndUnique) {
  std::set<std::string> paths, settings;
  for (const config::RunKey& key : config::run_keys()) {
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    if (key.section != "custom_params") EXPECT_TRUE(settings.insert(key.setting()).second) << key.path();
    EXPECT_FALSE(key.note.empty()) << key.path();
    EXPECT_FALSE(key.source.empty()) << key.path();
    const Json initial = config::default_value(key);
    if (key.status == config::KeyStatus::Dead) continue;
    EXPECT_TRUE(config::conform(key, initial)) << key.path() << ": the default does not fit";
    EXPECT_TRUE(parse_json(key.initial, "default")) << key.path();
  }
}

TEST(RunKeys, PageIsCurrent) {
  const auto page = read_file((fs::path(SKDSL_SOURCE_DIR) / "docs" / "run-config.md").string());
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(config::run_keys_markdown()), std::string::npos)
      << "docs/run-config.md is out of date: its end is what `skdsl config --table` prints";
}

// A value of the wrong type or out of range, for every row of the table, in YAML and by --set.
TEST(RunKeys, EachRefusesWhatItIsNot) {
  size_t refused = 0;
  for (const config::RunKey& key : config::run_keys()) {
    if (key.status == config::KeyStatus::Dead || key.status == config::KeyStatus::Derived) continue;
    const Json wrong = key.type == config::KeyType::Dict || key.type == config::KeyType::OptDict
                           ? Json(3)
                           : Json(Json::Object{{"a", 1}});
    EXPECT_FALSE(config::conform(key, wrong)) << key.path();
    if (key.key == "custom_params") continue;
    source::Sources sources;
    diag::Engine diags(sources);
    config::Settings settings;
    auto set = config::parse_set(key.path() + "=" + to_json(wrong));
    ASSERT_TRUE(set) << key.path();
    settings.items.push_back(std::move(*set));
    config::check_run_settings({}, settings, diags);
    EXPECT_TRUE(diags.has_errors()) << key.path();
    EXPECT_TRUE(settings.items.empty()) << key.path();
    refused += diags.has_errors();
  }
  EXPECT_GT(refused, 150U);
}

TEST(RunOptions, AreTyped) {
  const Checked c((kHere / "good" / "npugraph_options.yaml").string());
  const config::NpuGraphOptions n = config::npugraph_options(c.settings);
  EXPECT_TRUE(n.frozen_parameter);
  EXPECT_EQ(n.capture_limit, 16);
  EXPECT_TRUE(n.clone_input);
  EXPECT_TRUE(n.clone_output);
  EXPECT_FALSE(n.pattern_fusion_pass);
  EXPECT_TRUE(n.inplace_pass);
  EXPECT_TRUE(n.dynamic);
  EXPECT_FALSE(n.force_eager);
  EXPECT_EQ(n.capture_error_mode, "thread_local");
  EXPECT_TRUE(n.use_graph_pool.is_null());

  const Checked g((kHere / "good" / "ge_options.yaml").string());
  const config::GeOptions ge = config::ge_options(g.settings);
  EXPECT_TRUE(ge.experimental_config_frozen_parameter);
  EXPECT_EQ(ge.experimental_config_topology_sorting_strategy, "StableRDFS");
  EXPECT_EQ(ge.ge_config_aicore_num, std::optional<std::string>("24|48"));
  EXPECT_EQ(ge.debug_graph_dump_type, std::optional<std::string>("pbtxt"));
  EXPECT_EQ(ge.ge_config_oo_constant_folding, std::nullopt);
  EXPECT_EQ(ge.experimental_config_static_model_ops_lower_limit, std::nullopt);
}

TEST(RunOptions, FollowTheModelConfig) {
  const TemporaryFile file(
      "model_config:\n  exe_mode: npugraph_ex\n  enable_dynamic_graph: False\n  enable_static_kernel: True\n"
      "  custom_params: {enable_superkernel: True}\n");
  const Checked c(file.path());
  const config::NpuGraphOptions n = config::npugraph_options(c.settings);
  EXPECT_FALSE(n.dynamic);
  EXPECT_TRUE(n.static_kernel_compile);
  EXPECT_TRUE(n.super_kernel_optimize);
  auto set = config::parse_set("npugraph_ex.capture_limit=3");
  ASSERT_TRUE(set);
  config::Settings more = c.settings;
  more.items.push_back(*set);
  EXPECT_EQ(config::npugraph_options(more).capture_limit, 3);
}

TEST(RunView, TaskQueueIsShownAndNotOverwritten) {
  const auto row = [](const std::string& yaml, std::map<std::string, std::string> env) {
    const TemporaryFile file(yaml);
    const Checked c(file.path(), std::move(env));
    const config::RunView view(c.settings, c.context);
    for (const config::Derived& d : view.derived())
      if (d.path == "environment.TASK_QUEUE_ENABLE") return d.value + (c.has("SK910") ? " warned" : "");
    return std::string();
  };
  EXPECT_EQ(row("model_config: {exe_mode: npugraph_ex}\n", {}), "1");
  EXPECT_EQ(row("model_config: {exe_mode: eager}\n", {}), "2");
  EXPECT_EQ(row("model_config: {exe_mode: ge_graph, platform_version: \"950\"}\n", {}), "1");
  EXPECT_EQ(row("model_config: {exe_mode: npugraph_ex}\n", {{"TASK_QUEUE_ENABLE", "0"}}), "0");
  EXPECT_EQ(row("model_config: {exe_mode: npugraph_ex}\n", {{"TASK_QUEUE_ENABLE", "2"}}), "1 warned");
  EXPECT_EQ(row("model_config: {exe_mode: eager}\n", {{"TASK_QUEUE_ENABLE", "7"}}), "2 warned");
}

TEST(RunConfig, StrictAndLenient) {
  const TemporaryFile recorded("parallel_config: {world_size: 2}\nscheduler_config: {batch_size: 2}\n");
  EXPECT_EQ(Checked(recorded.path()).ids(), "SK2017");
  EXPECT_EQ(Checked(recorded.path(), {}, "", true).ids(), "SK2018");
  const TemporaryFile plain("parallel_config: {world_size: 1}\nscheduler_config: {batch_size: 2}\n");
  EXPECT_EQ(Checked(plain.path(), {}, "", true).ids(), "");
  const TemporaryFile unknown("scheduler_config: {batch_sice: 2, world_size: 1}\n");
  EXPECT_EQ(Checked(unknown.path()).ids(), "SK901 SK912");
  const Checked lenient(unknown.path(), {}, "", false, true);
  EXPECT_EQ(lenient.ids(), "SK2021 SK2021");
  EXPECT_FALSE(lenient.diags.has_errors());
}

// Texts that are no run config must end in a report, whatever they are.
TEST(RunConfig, OddTexts) {
  for (const std::string text : {"",
                                 "\n",
                                 "a",
                                 "- 1\n- 2\n",
                                 "model_config: 3\n",
                                 "? [a]\n: b\n",
                                 "a: &x [*x]\n",
                                 "---\n---\n",
                                 "model_config:\n",
                                 "a: b: c\n",
                                 "{",
                                 "model_config: {exe_mode: [}\n",
                                 "\"",
                                 "a: |\n  text\n",
                                 "%YAML 9\n---\na: 1\n",
                                 "a: !!int x\n",
                                 "ge: {debug: 3}\n",
                                 "ge: {debug: {graph_dump: [1]}}\n",
                                 "model_config: {custom_params: 4}\n",
                                 "*a\n",
                                 "model_config: {next_n: 99999999999999999999}\n",
                                 "data_config: {temperature: .nan}\n",
                                 "data_config: {top_p: inf}\n"}) {
    const TemporaryFile file(text);
    const Checked c(file.path());
    EXPECT_TRUE(!c.readable || c.diags.has_errors()) << text << "\n" << c.text();
  }
  std::string deep = "model_config: ";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_TRUE(Checked(TemporaryFile(deep).path()).diags.has_errors());
  std::string aliases = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    aliases += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) aliases += fmt::format("{}*a{}", k ? ", " : "", i - 1);
    aliases += "]\n";
  }
  EXPECT_TRUE(Checked(TemporaryFile(aliases).path()).diags.has_errors());
}

}  // namespace
}  // namespace skdsl::testing
