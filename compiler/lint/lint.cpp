#include "compiler/lint/lint.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "compiler/lint/allow.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint {

namespace {

const std::vector<std::string> kModes{"eager", "npugraph_ex", "ge_graph"};

/// What the compiler says besides: of what is merely recorded lint says nothing.
bool worth_telling(const diag::Diagnostic& d) {
  return d.severity != diag::Severity::Info || find(d.id) != nullptr;
}

/// A message without its numbers: the same trouble in layer 0 and in layer 1 is one trouble.
std::string without_numbers(const std::string& message) {
  std::string out;
  for (const char c : message)
    if (c < '0' || c > '9')
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  return out;
}

/// The findings of all modes, each once.
class Merger {
 public:
  void add(const diag::Engine& diags, const std::string& mode) {
    std::set<std::tuple<diag::Id, uint32_t, uint32_t, uint32_t, std::string>> here;
    std::vector<size_t> fresh;
    for (const diag::Diagnostic& d : diags.all()) {
      if (!worth_telling(d)) continue;
      if (!here.emplace(d.id, d.span.file, d.span.begin, d.span.end, without_numbers(d.message)).second)
        continue;
      const auto [first, last] = known_.equal_range(key(d));
      // A place has findings of one id from the mode that found it first.
      bool old = false;
      for (auto it = first; it != last; ++it) {
        auto& modes = modes_[it->second];
        if (std::find(fresh.begin(), fresh.end(), it->second) != fresh.end()) continue;
        old = true;
        if (modes.empty() || modes.back() != mode) modes.push_back(mode);
      }
      if (old) continue;
      fresh.push_back(findings_.size());
      known_.emplace(key(d), findings_.size());
      findings_.push_back(d);
      modes_.push_back({mode});
    }
  }

  /// Notes the modes of what not all of them have.
  std::vector<diag::Diagnostic> take(size_t modes) {
    for (size_t i = 0; i < findings_.size(); ++i)
      if (!modes_[i].empty() && !modes_[i].front().empty() && modes_[i].size() < modes)
        findings_[i].notes.push_back({{}, fmt::format("in {}", fmt::join(modes_[i], " and "))});
    return std::move(findings_);
  }

 private:
  using Key = std::tuple<diag::Id, uint32_t, uint32_t, uint32_t>;
  static Key key(const diag::Diagnostic& d) { return {d.id, d.span.file, d.span.begin, d.span.end}; }
  std::vector<diag::Diagnostic> findings_;
  std::vector<std::vector<std::string>> modes_;
  std::multimap<Key, size_t> known_;
};

class Linter {
 public:
  Linter(uint32_t file, source::Sources& sources, const Options& options)
      : file_(file), sources_(sources), options_(options), base_(sources) {
    for (const Rule& rule : rules())
      if (rule.check && std::find(options.off.begin(), options.off.end(), rule.id) == options.off.end())
        by_needs_[static_cast<size_t>(rule.needs)].push_back(&rule);
  }

  Result model() {
    Pragmas pragmas = read_pragmas(file_, base_);
    sema::Modules modules(base_);
    modules.load_file(file_);
    Context context{sources_, chip(nullptr), file_, &modules};
    run(Needs::Text, context, base_);
    if (!base_.has_errors()) {
      run(Needs::Tree, context, base_);
      all_modes(modules, pragmas);
    }
    depend_on(modules);
    finish(pragmas);
    return std::move(result_);
  }

  Result run_config() {
    Pragmas pragmas = read_pragmas(file_, base_);
    const config::RunContext run_context{"", nullptr};
    config::Settings settings;
    settings.lenient = options_.lenient;
    config::read_run_config(file_, run_context, settings, base_);
    if (!base_.has_errors()) {
      const config::RunView view(settings, run_context);
      config::check_run_rules(view, base_);
      Context context{sources_, chip(&view), file_};
      const std::string mode = view.mode();
      context.mode = mode;
      context.run = &view;
      config::Builtins builtins;
      builtins.exe_mode = mode;
      context.builtins = &builtins;
      run(Needs::Config, context, base_);
      result_.modes = {mode};
    }
    finish(pragmas);
    return std::move(result_);
  }

 private:
  /// Imports, and places where a file would take the place of a shipped one.
  void depend_on(const sema::Modules& modules) {
    const auto shipped = [&](uint32_t i) {
      return modules[i].path.starts_with("std/") && !std::filesystem::exists(modules[i].path);
    };
    for (uint32_t i = 0; i < modules.size(); ++i) {
      if (i > 0 && !shipped(i)) result_.read.push_back(modules[i].path);
      const auto folder = std::filesystem::path(modules[i].path).parent_path();
      for (const uint32_t k : modules[i].imports)
        if (shipped(k)) result_.read.push_back((folder / modules[k].path).lexically_normal().string());
    }
  }

  const Chip& chip(const config::RunView* run) const {
    if (options_.chip) return *options_.chip;
    const Chip* named = run ? find_chip(run->text("target.chip")) : nullptr;
    return named ? *named : kChips[0];
  }

  void run(Needs needs, const Context& context, diag::Engine& diags) const {
    for (const Rule* rule : by_needs_[static_cast<size_t>(needs)]) {
      Report report(context, rule->id, diags);
      rule->check(context, report);
    }
  }

  void all_modes(const sema::Modules& modules, const Pragmas& pragmas) {
    const std::vector<std::string>& asked = !options_.modes.empty()  ? options_.modes
                                            : !pragmas.modes.empty() ? pragmas.modes
                                                                     : kModes;
    struct Done {
      std::string mode;
      std::unique_ptr<diag::Engine> diags;
      bool refused = false;  // a `require` of the file does not hold
    };
    std::vector<Done> done;
    for (const std::string& mode : asked) {
      auto resolved = options_.resolve(modules, mode);
      if (!resolved) {
        if (base_.has_errors()) return;
        auto report = base_.report({}, diag::Id::FileUnreadable, resolved.error().message);
        for (const std::string& note : resolved.error().notes) report.note(note);
        return;
      }
      result_.read.insert(result_.read.end(), resolved->read.begin(), resolved->read.end());
      auto diags = std::make_unique<diag::Engine>(sources_);
      one_mode(modules, mode, std::move(*resolved), *diags);
      const auto& all = diags->all();
      const bool refused = std::any_of(all.begin(), all.end(),
                                       [](const auto& d) { return d.id == diag::Id::RequireViolated; });
      done.push_back({mode, std::move(diags), refused});
    }
    // A file that refuses a mode by a `require` is not meant for it; one that refuses all is wrong.
    const bool some = std::any_of(done.begin(), done.end(), [](const Done& d) { return !d.refused; });
    for (const Done& d : done) {
      if (some && d.refused) continue;
      merger_.add(*d.diags, d.mode);
      result_.modes.push_back(d.mode);
    }
  }

  void one_mode(const sema::Modules& modules, const std::string& mode, Resolved resolved,
                diag::Engine& diags) {
    const auto v = view(modules, mode, std::move(resolved), diags);
    Context context{sources_, chip(v->run.get()), file_, &modules};
    context.mode = v->mode;
    context.run = v->run.get();
    context.builtins = &v->resolved.compile.sema.builtins;
    run(Needs::Config, context, diags);
    if (!v->elaborated) return;
    context.elaborated = &*v->elaborated;
    context.program = &v->elaborated->program;
    context.calls = &v->calls;
    for (const plan::Function& f : context.program->functions) {
      if (f.phase == plan::Phase::None && f.name != "main") continue;
      const plan::OpOrder order(*context.program, f, plan::order_rules(mode));
      context.function = &f;
      context.order = &order;
      run(Needs::Program, context, diags);
      context.scheduled = &v->simplified;
      for (const plan::Schedule& s : v->schedules) {
        if (s.function != f.name) continue;
        context.schedule = &s;
        run(Needs::Plan, context, diags);
      }
      context.schedule = nullptr;
      context.order = nullptr;
    }
  }

  void finish(Pragmas& pragmas) {
    Merger merger;
    merger.add(base_, "");
    std::vector<diag::Diagnostic> findings = merger.take(0);
    for (diag::Diagnostic& d : merger_.take(result_.modes.size())) findings.push_back(std::move(d));
    const auto& off = options_.off;
    std::erase_if(findings,
                  [&](const auto& d) { return std::find(off.begin(), off.end(), d.id) != off.end(); });
    // With errors or fewer modes than the file has, an allow may be unused for that alone.
    const bool whole =
        !options_.narrowed && std::none_of(findings.begin(), findings.end(), [](const auto& d) {
          return find(d.id) == nullptr && d.severity == diag::Severity::Error;
        });
    diag::Engine late(sources_);
    apply_allows(pragmas, file_, findings, off, late);
    if (whole)
      for (const diag::Diagnostic& d : late.all())
        if (std::find(off.begin(), off.end(), d.id) == off.end()) findings.push_back(d);
    std::vector<size_t> order(findings.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto rank = [&](size_t i) {
      const diag::Diagnostic& d = findings[i];
      return std::tuple(d.span.file != file_, d.span.file, d.span.begin, d.id, i);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
    for (const size_t i : order) result_.findings.push_back(std::move(findings[i]));
    auto& read = result_.read;
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
  }

  uint32_t file_;
  source::Sources& sources_;
  const Options& options_;
  diag::Engine base_;  // what does not depend on the mode
  std::array<std::vector<const Rule*>, 6> by_needs_;
  Merger merger_;
  Result result_;
};

}  // namespace

bool is_run_config(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

Result check(uint32_t file, source::Sources& sources, const Options& options) {
  Linter linter(file, sources, options);
  return is_run_config(sources.name(file)) ? linter.run_config() : linter.model();
}

Expected<Result> check_file(const std::string& path, source::Sources& sources, const Options& options) {
  auto file = sources.read(path);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  return check(*file, sources, options);
}

}  // namespace skdsl::lint
