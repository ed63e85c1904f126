// run_commands — commands that run the model: its time, its bits in every mode, and the linter
#include <algorithm>
#include <chrono>

#include "cli/repl/repl.h"

namespace skdsl::cli::repl {

namespace {

constexpr int64_t kTimedTokens = 9;  // of which the first comes from the prefill
constexpr size_t kLeastRounds = 5;
constexpr size_t kMostRounds = 60;
constexpr double kMostSeconds = 5;
constexpr double kStable = 0.02;  // how far the medians of both halves may be apart

double median(std::vector<double> xs) {
  std::sort(xs.begin(), xs.end());
  return xs.empty() ? 0 : (xs[(xs.size() - 1) / 2] + xs[xs.size() / 2]) / 2;
}

bool stable(const std::vector<double>& xs) {
  if (xs.size() < kLeastRounds * 2) return false;
  const auto middle = xs.begin() + static_cast<std::ptrdiff_t>(xs.size() / 2);
  const double a = median({xs.begin(), middle}), b = median({middle, xs.end()});
  return std::abs(a - b) <= kStable * std::max(a, b);
}

}  // namespace

bool command_time(Repl& repl, const Arguments&) {
  if (!repl.need_model()) return false;
  LiveOptions options;
  options.whole = true;
  options.interrupt = &repl.interrupt();
  Snapshot first = repl.now();
  first.text = repl.original();
  const bool changed = first.text != repl.now().text;
  struct Side {
    std::string name;
    std::unique_ptr<Live> live;
    std::vector<double> ms;
  };
  std::vector<Side> sides;
  const auto add = [&](const std::string& name, const Snapshot& s) -> bool {
    auto live = Live::load(s, options);
    if (!live) return repl.failed(live.error());
    if ((*live)->is_script())
      return repl.failed(Error{ErrorKind::Input,
                               "a script has no decode step that could be timed alone",
                               {"help: :time takes a file with a model"}});
    sides.push_back({name, std::move(*live), {}});
    return true;
  };
  if (changed && !add("the file", first)) return false;
  if (!add(changed ? "changed" : "the model", repl.now())) return false;
  const auto start = std::chrono::steady_clock::now();
  size_t rounds = 0;
  for (; rounds < kMostRounds; ++rounds) {
    // In turn, so that what disturbs the machine disturbs both; the first round compiles and counts for
    // nothing.
    for (Side& side : sides) {
      auto run = side.live->run(kTimedTokens);
      if (!run) return repl.failed(run.error());
      if (rounds > 0) side.ms.push_back(run->decode_ms);
    }
    if (std::all_of(sides.begin(), sides.end(), [](const Side& s) { return stable(s.ms); })) break;
    if (rounds >= kLeastRounds &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kMostSeconds)
      break;
  }
  for (const Side& side : sides)
    repl.context().out << fmt::format("  {:<10} {:.3f} ms a decode step\n", side.name, median(side.ms));
  repl.context().out << fmt::format("  host, {}, one worker, median of {} rounds of {} steps{}\n",
                                    sides.back().live->mode(), sides.back().ms.size(), kTimedTokens - 1,
                                    changed ? ", in turn" : "");
  return true;
}

bool command_verify(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  std::vector<std::string> args{"verify", repl.file()};
  for (std::string& f : repl.flags()) args.push_back(std::move(f));
  const auto given = [&](std::string_view flag) {
    return std::any_of(a.words.begin(), a.words.end(),
                       [&](const std::string& w) { return w.starts_with(flag); });
  };
  if (!given("--prompt") && !given("--golden"))
    for (const char* ids : {"1,2,3", "2,1"}) args.insert(args.end(), {"--prompt-ids", ids});
  if (!given("--max-new-tokens") && !given("--golden"))
    args.insert(args.end(), {"--max-new-tokens", "4", "--ignore-eos"});
  args.insert(args.end(), a.words.begin(), a.words.end());
  return repl.run_command(std::move(args));
}

bool command_lint(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  std::vector<std::string> args{"lint", repl.file(), "--no-cache"};
  const ModelOptions& o = repl.now().options;
  if (!o.config.empty()) args.insert(args.end(), {"--config", o.config});
  if (!o.weights.empty()) args.insert(args.end(), {"--weights", o.weights});
  for (const std::string& s : o.set) args.insert(args.end(), {"--set", s});
  args.insert(args.end(), a.words.begin(), a.words.end());
  return repl.run_command(std::move(args));
}

}  // namespace skdsl::cli::repl
