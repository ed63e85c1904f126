#include "cli/lint_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "compiler/lint/cache.h"
#include "runtime/base/file.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

lint::Resolver run_resolver(const ModelOptions& options) {
  return [options](const sema::Modules& modules, const std::string& mode) -> Expected<lint::Resolved> {
    ModelOptions asked = options;
    asked.file = modules.main().path;
    asked.mode = mode;
    auto prepared = prepare(modules, asked, 1);
    if (!prepared) return tl::unexpected<Error>(std::move(prepared.error()));
    lint::Resolved out{std::move(prepared->compile), std::move(prepared->schedule), {}};
    out.compile.sema.draft = true;  // its phases run as soon as somebody asks for guesses
    if (!prepared->weights_folder.empty()) {
      out.read.push_back(prepared->weights_folder);
    } else if (const std::string named = sema::default_weights_of(modules); !named.empty()) {
      out.read.push_back((fs::path(asked.file).parent_path() / named).string());
    }
    if (!options.config.empty()) out.read.push_back(options.config);
    return out;
  };
}

namespace {

bool says_model_config(const fs::path& path) {
  const auto text = read_file(path);
  return text && (text->starts_with("model_config:") || text->find("\nmodel_config:") != std::string::npos);
}

void walk(const fs::path& folder, std::set<fs::path>& entered, std::vector<std::string>& out) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !entered.insert(real).second) return;
  std::vector<fs::path> entries;
  for (const auto& e : fs::directory_iterator(folder, error)) entries.push_back(e.path());
  if (error) out.push_back(folder.string());  // reading it will say what is wrong
  std::sort(entries.begin(), entries.end());
  for (const fs::path& e : entries) {
    const std::string name = e.filename().string();
    if (name.starts_with(".")) continue;
    std::error_code ignored;
    if (fs::is_directory(e, ignored))
      walk(e, entered, out);
    else if (name.ends_with(".sk"))
      out.push_back(e.string());
    else if (lint::is_run_config(name) && says_model_config(e))
      out.push_back(e.string());
  }
}

/// What decides a result besides the file, its imports and its weights folder.
std::string salt(const lint::Options& options, const LintRun& run) {
  // Another build of the program may find other things.
  struct stat self{};
  ::stat("/proc/self/exe", &self);
  std::string out = fmt::format("{}{} {}.{}\n{}\n{}\n", version_text(), self.st_size, self.st_mtim.tv_sec,
                                self.st_mtim.tv_nsec, fmt::join(options.modes, ","),
                                options.chip ? options.chip->name : "");
  for (const diag::Id id : options.off) out += fmt::format("{} ", diag::rule(id).id);
  const ModelOptions& m = run.model;
  out += fmt::format("\n{}\n{}\n{}\n{}\n", m.config, m.weights, m.lenient, fmt::join(m.set, "\n"));
  // Rules about the environment of a run config.
  for (const char* name : {"TASK_QUEUE_ENABLE", "LOCAL_WORLD_SIZE", "WORLD_SIZE"}) {
    const char* const value = std::getenv(name);
    out += fmt::format("{}={}\n", name, value ? value : "");
  }
  return out;
}

lint::FileReport lint_one(const std::string& path, const LintRun& run, lint::SettingsFinder& settings) {
  lint::FileReport f{path, std::make_shared<source::Sources>(), {}, {}};
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) > kMaxLintBytes) {
    f.error = Error{ErrorKind::Environment,
                    fmt::format("`{}` has {} bytes, lint looks at files of at most {}", path, info.st_size,
                                kMaxLintBytes),
                    {"help: split it into several files and `import` them"}};
    return f;
  }
  auto file = f.sources->read(path);
  if (!file) {
    f.error = std::move(file.error());
    return f;
  }
  const lint::Options options = lint_options(path, run, settings);
  const lint::Cache cache(run.cache ? lint::Cache::default_folder() : "",
                          run.cache ? salt(options, run) : "");
  if (auto known = cache.find(*file, *f.sources)) {
    f.result = std::move(*known);
    return f;
  }
  f.result = lint::check(*file, *f.sources, options);
  cache.keep(*file, *f.sources, f.result);
  return f;
}

}  // namespace

std::vector<std::string> lint_files(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  std::set<fs::path> entered;
  std::error_code ignored;
  for (const std::string& path : paths) {
    if (fs::is_directory(path, ignored))
      walk(path, entered, out);
    else
      out.push_back(path);
  }
  std::set<std::string> seen;
  std::erase_if(out, [&](const std::string& p) { return !seen.insert(p).second; });
  return out;
}

lint::Options lint_options(const std::string& path, const LintRun& run, lint::SettingsFinder& settings) {
  lint::Options options;
  const auto found = settings.find(path);
  const lint::PathSettings mine = found->of(fs::absolute(path).lexically_normal().string());
  options.modes = !run.modes.empty() ? run.modes : mine.modes;
  options.narrowed = !run.modes.empty();
  options.chip = run.chip ? run.chip : find_chip(found->chip);
  options.off = run.off;
  options.off.insert(options.off.end(), mine.allow.begin(), mine.allow.end());
  options.lenient = run.model.lenient;
  options.resolve = run_resolver(run.model);
  return options;
}

std::vector<lint::FileReport> lint_all(const std::vector<std::string>& files, const LintRun& run) {
  std::vector<lint::FileReport> out(files.size());
  lint::SettingsFinder settings;
  const size_t cores = std::max<size_t>(1, std::thread::hardware_concurrency());
  const size_t workers = std::min(run.jobs ? run.jobs : cores, files.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) out[i] = lint_one(files[i], run, settings);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  std::vector<lint::FileReport> problems;
  for (const auto& s : settings.all())
    if (!s->problems.empty())
      problems.push_back(
          {s->sources->size() > 1 ? s->sources->name(1) : s->folder, s->sources, {s->problems, {}, {}}, {}});
  problems.insert(problems.end(), std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
  return problems;
}

}  // namespace skdsl::cli
