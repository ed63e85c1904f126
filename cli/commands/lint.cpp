// lint — what a file does that a mode, the device or the next reader will not like
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/cli.h"
#include "cli/lint_run.h"
#include "compiler/config/run_config.h"
#include "compiler/lint/baseline.h"
#include "compiler/lint/fix.h"
#include "compiler/lint/rule.h"
#include "runtime/base/file.h"
#include "runtime/base/heap.h"

namespace skdsl::cli {
namespace {

struct Options {
  LintRun run;
  std::vector<std::string> paths, select, ignore;
  std::string format, baseline, chip;
  bool fix = false, fix_unsafe = false, diff = false, list = false, json = false, no_cache = false,
       update_baseline = false;
};

/// The rules that a word of --select or --ignore means: an id, the beginning of ids (`SK4`), a name or a
/// category.
std::vector<diag::Id> rules_of(const std::string& word) {
  std::vector<diag::Id> out;
  for (const lint::Rule& r : lint::rules()) {
    const diag::Rule& row = diag::rule(r.id);
    const bool beginning = word.size() >= 3 && word.size() < 5 && row.id.starts_with(word);
    if (row.id == word || row.name == word || row.category == word || beginning) out.push_back(r.id);
  }
  return out;
}

Expected<std::vector<diag::Id>> rules_off(const Options& o) {
  const auto ids = [](const std::vector<std::string>& words, const char* flag,
                      bool ignore) -> Expected<std::vector<diag::Id>> {
    std::vector<diag::Id> out;
    for (const std::string& word : words) {
      const auto named = rules_of(word);
      if (named.empty()) {
        std::vector<std::string> names;
        for (const lint::Rule& r : lint::rules())
          for (const auto text : {diag::rule(r.id).id, diag::rule(r.id).name, diag::rule(r.id).category})
            names.emplace_back(text);
        const std::string near = diag::nearest(word, names);
        return tl::unexpected<Error>(Error{ErrorKind::Usage,
                                           fmt::format("{}: there is no rule `{}`", flag, word),
                                           {near.empty() ? "help: `skdsl lint --list` shows the rules"
                                                         : fmt::format("help: did you mean `{}`?", near)}});
      }
      for (const diag::Id id : named) {
        if (ignore && lint::find(id)->locked) {
          if (named.size() > 1) continue;  // of a group the others are meant
          return tl::unexpected<Error>(Error{ErrorKind::Usage,
                                             fmt::format("{}: {} cannot be ignored", flag, diag::rule(id).id),
                                             {"what it finds raises or hangs on the device"}});
        }
        out.push_back(id);
      }
    }
    return out;
  };
  auto off = ids(o.ignore, "--ignore", true);
  if (!off || o.select.empty()) return off;
  const auto chosen = ids(o.select, "--select", false);
  if (!chosen) return chosen;
  for (const lint::Rule& r : lint::rules())
    if (std::find(chosen->begin(), chosen->end(), r.id) == chosen->end()) off->push_back(r.id);
  return off;
}

/// Applies the fixes of all files: writes them, or prints the difference. Gives the exit code of what went
/// wrong.
int fix_files(const Options& o, const std::vector<std::string>& files, Context& context) {
  const auto trust = o.fix_unsafe ? diag::Applicability::Unsafe : diag::Applicability::Safe;
  lint::SettingsFinder settings;
  size_t fixes = 0, changed = 0;
  int code = kDone;
  for (const std::string& path : files) {
    source::Sources sources;
    const auto file = sources.read(path);
    if (!file || sources.text(*file).size() > kMaxLintBytes) continue;  // told with the findings
    const std::string before(sources.text(*file));
    const lint::Applied applied = lint::fix_all(path, before, lint_options(path, o.run, settings), trust);
    if (applied.text == before) continue;
    fixes += applied.fixes;
    ++changed;
    if (o.diff) {
      context.out << lint::unified_diff(path, before, applied.text);
    } else if (auto written = write_file_atomically(path, applied.text); !written) {
      code = std::max(code, report(written.error(), context));
    }
  }
  if (!o.diff && changed > 0)
    context.err << fmt::format("{} {} in {} {}\n", fixes, fixes == 1 ? "fix" : "fixes", changed,
                               changed == 1 ? "file" : "files");
  return code;
}

std::string formatted(const std::vector<lint::FileReport>& files, const std::string& format, bool colour) {
  if (format == "json") return lint::to_json(files);
  if (format == "jsonl") return lint::to_jsonl(files);
  if (format == "sarif") return lint::to_sarif(files, SKDSL_VERSION);
  if (format == "github") return lint::to_github(files);
  if (format == "junit") return lint::to_junit(files);
  return lint::to_human(files, colour);
}

int usage(std::string message, std::string help, Context& context) {
  return report(Error{ErrorKind::Usage, std::move(message), {"help: " + std::move(help)}}, context);
}

/// The mode that --config or --set name: then no other is meant.
std::string named_mode(const ModelOptions& model) {
  source::Sources sources;
  diag::Engine quiet(sources);
  config::Settings settings;
  if (!model.config.empty()) (void)config::read_run_config(model.config, {}, settings, quiet);
  for (const std::string& text : model.set)
    if (auto s = config::parse_set(text)) settings.items.push_back(std::move(*s));
  const config::Setting* const mode = settings.find("exe_mode");
  return mode && mode->value.is_string() ? mode->value.as_string() : "";
}

int run_lint(Options& o, Context& context) {
  grow_heap(size_t{2} << 20);
  if (o.list) {
    context.out << (o.json || o.format == "json" ? lint::list_rules_json() : lint::list_rules());
    return kDone;
  }
  if (o.paths.empty())
    return usage("no file or folder is named", "write skdsl lint FILE.sk, or a folder", context);
  if (o.json && !o.format.empty() && o.format != "json")
    return usage("--json and --format " + o.format, "take one of them", context);
  if (o.update_baseline && o.baseline.empty())
    return usage("--update-baseline without a file", "write --baseline FILE --update-baseline", context);
  if (!o.chip.empty() && !(o.run.chip = find_chip(o.chip)))
    return usage(fmt::format("there is no chip `{}`", o.chip), "chips are a2, a3 and 950", context);
  auto off = rules_off(o);
  if (!off) return report(off.error(), context);
  o.run.off = std::move(*off);
  o.run.cache = !o.no_cache;
  if (o.run.modes.empty())
    if (const std::string mode = named_mode(o.run.model); !mode.empty()) o.run.modes = {mode};

  const std::vector<std::string> files = lint_files(o.paths);
  int code = kDone;
  if (o.fix || o.fix_unsafe || o.diff) code = fix_files(o, files, context);
  if (o.diff) return code;
  std::vector<lint::FileReport> reports = lint_all(files, o.run);
  if (o.update_baseline) {
    if (auto written = write_file_atomically(o.baseline, lint::Baseline::of(reports).text()); !written)
      return report(written.error(), context);
  }
  size_t known = 0;
  if (!o.baseline.empty()) {
    const auto baseline = lint::Baseline::read(o.baseline);
    if (!baseline) return report(baseline.error(), context);
    known = baseline->apply(reports);
  }
  const std::string format = o.json ? "json" : o.format.empty() ? "human" : o.format;
  context.out << formatted(reports, format, context.out_colour);
  if (known > 0 && format == "human") context.out << fmt::format("{} known from {}\n", known, o.baseline);
  for (const lint::FileReport& f : reports)
    if (f.error) code = std::max(code, static_cast<int>(f.error->kind));
  return std::max<int>(code, lint::summary(reports).errors > 0 ? kInputHasErrors : kDone);
}

}  // namespace

Run define_lint(CLI::App& app) {
  auto o = std::make_shared<Options>();
  LintRun& run = o->run;
  app.add_option("paths", o->paths, ".sk files, run configs (.yaml), and folders with such files");
  const auto words = [&](const char* name, std::vector<std::string>& to, const char* text) {
    return app.add_option(name, to, text)->delimiter(',')->take_all()->expected(1)->allow_extra_args(false);
  };
  words("--mode", run.modes, "check in these modes only; default: all that a file does not pin")
      ->check(CLI::IsMember({"eager", "npugraph_ex", "ge_graph"}));
  words("--select", o->select, "only these rules: ids, beginnings of ids (SK4), names or categories");
  words("--ignore", o->ignore, "without these rules");
  app.add_flag("--fix", o->fix, "apply the safe fixes");
  app.add_flag("--fix-unsafe", o->fix_unsafe, "apply the unsafe ones too");
  app.add_flag("--diff", o->diff, "print what the fixes would change, and change nothing");
  app.add_option("--format", o->format, "human, json, jsonl, sarif, github or junit")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(lint::kFormats), std::end(lint::kFormats))));
  app.add_flag("--json", o->json, "the same as --format json");
  app.add_option("--baseline", o->baseline, "findings of this file are known and not told");
  app.add_flag("--update-baseline", o->update_baseline, "write the findings to the baseline first");
  app.add_flag("--list", o->list, "print the rules");
  app.add_option("--chip", o->chip, "a2, a3 or 950; default: of the settings, else a3");
  app.add_option("--config", run.model.config, "check .sk files under this run config");
  app.add_option("--weights", run.model.weights, "check .sk files with this folder's config.json");
  app.add_option("--set", run.model.set, "key=value, as in `skdsl run`; repeatable")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_flag("--lenient", run.model.lenient, "unknown keys of a run config are warnings");
  app.add_flag("--no-cache", o->no_cache, "look at every file anew");
  app.add_option("--jobs", run.jobs, "files at a time; default: one for each core")
      ->check(CLI::Range(0, 1024));
  return [o](Context& context) { return run_lint(*o, context); };
}

}  // namespace skdsl::cli
