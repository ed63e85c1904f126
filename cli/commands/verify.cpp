// verify — the same prompts through several modes and schedules, compared bit by bit
//
// Every variant is a run of its own through `run`, with its logits; nine digits tell two floats apart. Where
// a variant differs, both are run again with every kernel's results noted, and the first kernel that differs
// is named.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "cli/model_run.h"
#include "runtime/abi/dtype.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace skdsl::cli {
namespace {

namespace fs = std::filesystem;

struct Options : RunOptions {
  std::vector<std::string> modes;
  std::vector<int64_t> thread_counts{1, 2};
  std::string golden, report_file;
};

/// One way to run.
struct Variant {
  std::string mode;
  std::string superkernel = "on";
  int64_t threads = 1;
  std::string text() const {
    return mode + (mode == "ge_graph" ? fmt::format(", super kernels {}", superkernel) : "") +
           fmt::format(", threads {}", threads);
  }
};

/// What one kernel gave: who it was, and a hash of its results' bytes.
struct Trace {
  Opcode code;
  Loc loc;
  std::string path;
  uint64_t hash = 0;
  std::string values;  // of the first result
};

struct Outcome {
  int exit = 0;
  std::string err;
  Json logits, report;
  double ms = 0;
};

uint64_t hash_bytes(uint64_t h, const void* data, size_t n) {
  const auto* p = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < n; ++i) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

Trace trace_of(const exec::Observed& o) {
  Trace t{o.code, o.loc, o.path, 0xcbf29ce484222325u, ""};
  for (const sk_tensor& r : o.out) {
    size_t elements = 1;
    for (uint32_t d = 0; d < r.rank; ++d) elements *= static_cast<size_t>(r.dim[d]);
    const auto width = static_cast<size_t>(dtype_bytes(static_cast<sk_dtype>(r.dtype)));
    t.hash = hash_bytes(t.hash, r.data, elements * width);
    if (!t.values.empty() || r.dtype != SK_F32) continue;
    for (size_t i = 0; i < std::min<size_t>(elements, 4); ++i)
      t.values += fmt::format("{}{:.9g}", i ? ", " : "", static_cast<const float*>(r.data)[i]);
  }
  return t;
}

Outcome run_once(const Options& options, const Variant& v, std::atomic<bool>& interrupt,
                 std::vector<Trace>* trace = nullptr) {
  const fs::path file = fs::temp_directory_path() / fmt::format("skdsl-verify-{}.json", ::getpid());
  RunOptions o = options;
  o.mode = v.mode;
  o.superkernel = v.superkernel;
  o.threads = v.threads;
  o.dump_logits = file.string();
  o.json = true;
  if (!options.golden.empty()) o.ignore_eos = true;
  if (trace)
    o.observe = [trace](const exec::Observed& seen) {
      if (seen.code != Opcode::Tap) trace->push_back(trace_of(seen));
    };
  std::istringstream in;
  std::ostringstream out, err;
  Context quiet{in, out, err};
  Outcome r;
  const auto start = std::chrono::steady_clock::now();
  r.exit = run_model(o, quiet, interrupt);
  r.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  r.err = err.str();
  if (auto text = read_file(file))
    if (auto json = parse_json(*text, "logits"))
      if (const Json* requests = json->find("requests")) r.logits = *requests;
  std::error_code ignored;
  fs::remove(file, ignored);
  if (auto json = parse_json(out.str(), "report")) r.report = std::move(*json);
  return r;
}

/// The first place where two lists of requests differ; "" when they are equal.
std::string difference(const Json& a, const Json& b) {
  if (!a.is_array() || !b.is_array()) return "no logits were written";
  const auto &x = a.as_array(), &y = b.as_array();
  if (x.size() != y.size()) return fmt::format("{} requests and {}", x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const auto &s = x[i].find("step_logits")->as_array(), &t = y[i].find("step_logits")->as_array();
    for (size_t k = 0; k < std::max(s.size(), t.size()); ++k) {
      if (k >= s.size() || k >= t.size())
        return fmt::format("request {}: {} steps and {}", i, s.size(), t.size());
      const auto &p = s[k].as_array(), &q = t[k].as_array();
      for (size_t e = 0; e < std::min(p.size(), q.size()); ++e)
        if (!(p[e] == q[e]))
          return fmt::format("request {}, step {}, logit {}: {} and {}", i, k, e, to_json(p[e], 0, 9),
                             to_json(q[e], 0, 9));
      if (p.size() != q.size())
        return fmt::format("request {}, step {}: {} logits and {}", i, k, p.size(), q.size());
    }
    if (!(*x[i].find("tokens") == *y[i].find("tokens"))) return fmt::format("request {}: other tokens", i);
  }
  return "";
}

/// The first kernel that both ran and that gave other bits. Passes may leave kernels out of a graph, so the
/// two lists are matched by operator, instance and place, in order.
std::string first_kernel(const std::vector<Trace>& a, const std::vector<Trace>& b) {
  size_t j = 0;
  for (const Trace& x : a) {
    size_t k = j;
    const auto same = [&](const Trace& y) {
      return y.code == x.code && y.path == x.path && y.loc.line == x.loc.line && y.loc.column == x.loc.column;
    };
    while (k < b.size() && !same(b[k])) ++k;
    if (k == b.size()) continue;
    j = k + 1;
    if (b[k].hash == x.hash) continue;
    return fmt::format("`{}`{} at line {}: [{}…] and [{}…]", info(x.code).name,
                       x.path.empty() ? "" : " (" + x.path + ")", x.loc.line, x.values, b[k].values);
  }
  return "no kernel that both ran";
}

/// Recorded logits: {"requests": [{"prompt_ids", "greedy": {"tokens", "logits"}}], "suggested_tolerance"}.
Expected<std::string> against_golden(const std::string& file, const Json& requests, double& worst) {
  auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto golden = parse_json(*text, file);
  if (!golden) return tl::unexpected(golden.error());
  const Json* list = golden->find("requests");
  const Json* tolerance = golden->find("suggested_tolerance");
  const auto number = [&](const char* key, double otherwise) {
    const Json* v = tolerance ? tolerance->find(key) : nullptr;
    return v && v->is_number() ? v->as_double() : otherwise;
  };
  const double abs = number("logits_abs", 1e-4), rel = number("logits_rel", 1e-4);
  if (!list || !list->is_array()) return fail(file + ": `requests` is missing, a list is expected");
  const auto& mine = requests.as_array();
  if (list->as_array().size() != mine.size())
    return fmt::format("{} requests are recorded, {} ran", list->as_array().size(), mine.size());
  for (size_t i = 0; i < mine.size(); ++i) {
    const Json* greedy = list->as_array()[i].find("greedy");
    const Json* tokens = greedy ? greedy->find("tokens") : nullptr;
    const Json* logits = greedy ? greedy->find("logits") : nullptr;
    if (!tokens || !tokens->is_array() || !logits || !logits->is_array())
      return fail(fmt::format("{}: request {} has no `greedy` with `tokens` and `logits`", file, i));
    const auto &want = tokens->as_array(), &have = mine[i].find("tokens")->as_array();
    const auto& steps = mine[i].find("step_logits")->as_array();
    for (size_t k = 0; k < std::min(want.size(), have.size()); ++k) {
      const auto& row = logits->as_array()[k];
      for (size_t e = 0; row.is_array() && e < std::min(row.as_array().size(), steps[k].as_array().size());
           ++e) {
        const double w = row.as_array()[e].as_double();
        worst = std::max(worst, std::abs(steps[k].as_array()[e].as_double() - w) / (abs + rel * std::abs(w)));
      }
      if (!(want[k] == have[k]))
        return fmt::format("request {}, token {}: recorded {}, ran {}", i, k, to_json(want[k]),
                           to_json(have[k]));
    }
    if (have.size() < want.size())
      return fmt::format("request {}: {} tokens are recorded, {} ran; give --max-new-tokens {}", i,
                         want.size(), have.size(), want.size());
  }
  return worst <= 1 ? std::string()
                    : fmt::format("the largest logit error is {:.3f} of the tolerance", worst);
}

double milliseconds(const Json& report, const char* key) {
  const Json* host = report.find("host");
  const Json* v = host ? host->find(key) : nullptr;
  return v && v->is_number() ? v->as_double() : 0;
}

int verify(const Options& given, Context& context, std::atomic<bool>& interrupt) {
  Options options = given;
  if (!options.golden.empty() && options.prompts.empty() && options.prompt_ids.empty()) {
    // The recorded prompts, and as many tokens as were recorded.
    auto text = read_file(options.golden);
    if (!text) return report(text.error(), context);
    auto golden = parse_json(*text, options.golden);
    if (!golden) return report(golden.error(), context);
    const Json* list = golden->find("requests");
    for (const Json& r : list && list->is_array() ? list->as_array() : Json::Array{}) {
      const Json* ids = r.find("prompt_ids");
      if (!ids || !ids->is_array())
        return report(Error{ErrorKind::Input, options.golden + ": a request has no `prompt_ids`", {}},
                      context);
      std::string line;
      for (const Json& id : ids->as_array()) line += (line.empty() ? "" : ",") + to_json(id);
      options.prompt_ids.push_back(line);
      const Json* greedy = r.find("greedy");
      const Json* tokens = greedy ? greedy->find("tokens") : nullptr;
      if (tokens && tokens->is_array())
        options.max_new_tokens =
            std::max<int64_t>(given.max_new_tokens.value_or(0),
                              std::max<int64_t>(options.max_new_tokens.value_or(0),
                                                static_cast<int64_t>(tokens->as_array().size())));
    }
  }
  std::vector<Variant> variants;
  for (const std::string& mode : options.modes)
    for (const int64_t threads : options.thread_counts) {
      variants.push_back({mode, "on", threads});
      if (mode == "ge_graph") variants.push_back({mode, "off", threads});
    }
  std::string text, table;
  size_t same = 0;
  Outcome reference;
  for (size_t i = 0; i < variants.size(); ++i) {
    const Variant& v = variants[i];
    Outcome now = run_once(options, v, interrupt);
    if (interrupt.load()) return 130;
    if (now.exit != 0) {
      context.err << now.err;
      return report(Error{static_cast<ErrorKind>(now.exit), "the run failed: " + v.text(), {}}, context);
    }
    std::string verdict = "reference";
    if (i == 0) {
      reference = now;
      ++same;
    } else if (const std::string wrong = difference(reference.logits, now.logits); wrong.empty()) {
      verdict = "same bits";
      ++same;
    } else {
      std::vector<Trace> a, b;
      run_once(options, variants[0], interrupt, &a);
      run_once(options, v, interrupt, &b);
      verdict = fmt::format("DIFFERENT: {}\n    first kernel that differs: {}", wrong, first_kernel(a, b));
    }
    text += fmt::format("  {:<44} {}\n", v.text(), verdict);
    const Json* graph = now.report.find("graph");
    const auto count = [&](const char* key) {
      return graph && graph->find(key) ? graph->find(key)->as_int() : 0;
    };
    table +=
        fmt::format("| {} | {:.1f} | {:.1f} | {:.2f} | {:.3f} | {} | {} | {} |\n", v.text(),
                    milliseconds(now.report, "load_ms"), milliseconds(now.report, "compile_ms"),
                    milliseconds(now.report, "prefill_ms"), milliseconds(now.report, "decode_ms_per_token"),
                    count("captures"), count("replays"), verdict.substr(0, verdict.find('\n')));
  }
  const size_t requests = reference.logits.as_array().size();
  context.out << fmt::format("{}: {} request{}\n", options.file, requests, requests == 1 ? "" : "s") << text;
  bool good = same == variants.size();
  std::string recorded;
  if (!options.golden.empty()) {
    double worst = 0;
    auto wrong = against_golden(options.golden, reference.logits, worst);
    if (!wrong) return report(wrong.error(), context);
    good &= wrong->empty();
    recorded = wrong->empty()
                   ? fmt::format("tokens equal, largest logit error {:.3f} of the tolerance", worst)
                   : "DIFFERENT: " + *wrong;
    context.out << fmt::format("  {:<44} {}\n", "against " + options.golden, recorded);
  }
  context.out << fmt::format("verdict: {}; same bits in {} of {} runs\n", good ? "verified" : "not verified",
                             same, variants.size());
  if (!options.report_file.empty()) {
    // A second start tells what a first one pays for reading files.
    const Outcome again = run_once(options, variants[0], interrupt);
    std::string page =
        fmt::format("# Test report: {}\n\nVerdict: {}; same bits in {} of {} runs, {} requests.\n\n",
                    options.file, good ? "verified" : "not verified", same, variants.size(), requests);
    page +=
        "| run | load ms | compile ms | prefill ms | decode ms per token | captures | replays | bits "
        "|\n|---|---|---|---|---|---|---|---|\n" +
        table;
    page += fmt::format("\nStart of the first run to its end: {:.1f} ms; of a second start: {:.1f} ms.\n",
                        reference.ms, again.ms);
    if (!recorded.empty())
      page += fmt::format("\nAgainst `{}`: {}.\n", fs::path(options.golden).filename().string(), recorded);
    if (!reference.err.empty()) page += "\nMessages of the first run:\n\n```\n" + reference.err + "```\n";
    if (auto ok = write_file_atomically(options.report_file, page); !ok) return report(ok.error(), context);
  }
  return good ? kDone : kInputHasErrors;
}

}  // namespace

Run define_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->modes = {"eager", "npugraph_ex", "ge_graph"};
  add_model_options(app, *options);
  app.get_option("--mode")->group("");
  app.get_option("--superkernel")->group("");
  app.add_option("--prompt", options->prompts, "a prompt, one for each request; repeatable")
      ->allow_extra_args(false);
  app.add_option("--prompt-ids", options->prompt_ids, "token ids of a prompt: 1,2,3; repeatable")
      ->allow_extra_args(false)
      ->delimiter('\0');
  app.add_option("--max-new-tokens", options->max_new_tokens, "tokens to generate for each request");
  app.add_flag("--ignore-eos", options->ignore_eos, "go on after an end token");
  app.add_option("--modes", options->modes, "modes to compare; the first is the reference")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--threads", options->thread_counts, "numbers of workers to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--golden", options->golden,
                 "recorded tokens and logits; their prompts are used when none are given");
  app.add_option("--report", options->report_file, "write the test report (Markdown)");
  return [options](Context& context) {
    static std::atomic<bool> interrupt{false};
    std::signal(SIGINT, [](int) { interrupt.store(true); });
    return verify(*options, context, interrupt);
  };
}

}  // namespace skdsl::cli
