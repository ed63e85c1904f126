// What does machine code of a decode step cost, and what does it save? Each line first shows that the bits
// are the plan executor's; numbers that are compared come from one run, taken in turns. Printed beside the
// limits that the project sets itself; nothing is asserted.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "cli/decode_plan.h"
#include "jit/host/host.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/exec/graph.h"
#include "runtime/model/generate.h"
#include "runtime/model/weights.h"

namespace {

using namespace skdsl;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "jit_bench: %s\n", why.c_str());
  std::exit(1);
}
template <class T>
T must(Expected<T> value) {
  if (!value) stop(value.error().message);
  return std::move(*value);
}

fs::path work_folder() {
  static const fs::path kFolder = [] {
    std::string name = (fs::temp_directory_path() / "skdsl-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) stop("no temporary folder");
    return fs::path(name);
  }();
  return kFolder;
}

/// A model with everything that its sessions share.
struct Model {
  source::Sources sources;
  diag::Engine diags{sources};
  std::ostringstream out, err;
  std::istringstream in;
  cli::Context context{in, out, err};
  std::optional<cli::Compiled> compiled;
  std::optional<model::Weights> weights;

  Model(const std::string& file, const std::string& folder, int64_t batch = 1) {
    cli::ModelOptions o;
    o.file = file;
    o.mode = "ge_graph";
    o.weights = folder.empty() ? "synthetic:1" : folder;
    auto c = cli::compile_model(o, batch, diags, context);
    if (!c) stop(err.str());
    compiled.emplace(std::move(*c));
    model::WeightOptions wo;
    wo.synthetic_seed = compiled->prepared.synthetic_seed;
    for (const DTypeName& n : kDTypeNames)
      if (n.torch == compiled->prepared.compile.sema.builtins.dtype) wo.synthetic_dtype = n.type;
    const auto& checkpoint = compiled->prepared.checkpoint;
    weights.emplace(must(model::Weights::load(
        compiled->elaborated.program, checkpoint && !wo.synthetic_seed ? &*checkpoint : nullptr, wo)));
  }
  const plan::Program& program() const { return compiled->elaborated.program; }

  std::unique_ptr<model::Session> session(bool superkernel, exec::NativeCompiler* native, uint32_t threads,
                                          exec::NativeOptions options = {}) {
    schedule::ScheduleOptions so = compiled->prepared.schedule;
    so.superkernel = superkernel;
    model::SessionOptions o;
    o.mode = "ge_graph";
    o.threads = threads;
    o.compile = graph_compiler(diags, so);
    o.native = native;
    o.native_options = options;
    return must(model::Session::create(
        program(), [&](const std::string& path) { return weights->find(path); }, std::move(o)));
  }
  model::GenerateRequest request(int64_t tokens) const {
    const config::Builtins& b = compiled->prepared.compile.sema.builtins;
    model::GenerateRequest r;
    r.prompts = {{1, 2, 3}};
    r.max_new_tokens = tokens;
    r.ignore_eos = true;
    r.batch_size = 1;
    r.max_seq_len = b.max_seq_len, r.block_size = b.block_size, r.kv_blocks = b.kv_blocks;
    r.keep_logits = true;
    return r;
  }
};

// ---- one super kernel of many small kernels

constexpr int kOps = 240;

std::string chain_file(bool fused) {
  std::string text = "layer L() {\n  decode(x: f32[4, 16], step: Step) -> f32[4, 16] {\n";
  if (fused) text += "    superkernel \"s\" <\n";
  for (int i = 0; i < kOps; ++i) text += "      x = x * 1.0009765625\n";
  if (fused) text += "    >\n";
  text +=
      "    return x\n  }\n}\nm = L()\nst = Step(kv_len = [1, 1, 1, 1])\nprint(m.decode(random_normal([4, "
      "16], seed = 1), st))\n";
  const fs::path file = work_folder() / (fused ? "fused.sk" : "plain.sk");
  std::ofstream(file) << text;
  return file.string();
}

// Calls the kernels of a step one after the other, and nothing else: what the kernels themselves take.
class Floor final : public exec::NativeCompiler {
 public:
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override {
    struct Code final : exec::NativeCode {
      exec::NativeInfo i;
      exec::NativeEntry entry() const override { return &run; }
      const exec::NativeInfo& info() const override { return i; }
    };
    kernels.clear();
    for (const auto& l : step.launches) {
      auto& list = kernels.emplace_back();
      for (const auto& k : step.functions[l.function].kernels)
        list.push_back(kernels::find_kernel(k.code)->run);
    }
    return std::unique_ptr<exec::NativeCode>(new Code);
  }
  static void run(exec::NativeFrame*, const exec::NativeTable* tables, uint32_t) {
    for (size_t l = 0; l < kernels.size(); ++l) {
      auto* call = static_cast<const sk_call*>(tables[l]);
      for (const sk_kernel_fn f : kernels[l]) f(call++, 0, 0, 1);
    }
  }
  static inline std::vector<std::vector<sk_kernel_fn>> kernels;
};

struct Chain {
  diag::Engine* diags;
  cli::DecodePlan plan;
  exec::Bindings bindings;
  exec::Workers workers;
  std::unique_ptr<exec::Graph> graph;
  std::vector<exec::RuntimeValue> args;

  Chain(const std::string& file, bool fused, uint32_t threads, exec::NativeCompiler* native, bool spread,
        exec::NativeOptions options = {})
      : workers(threads) {
    std::istringstream in;
    std::ostringstream out, err;
    cli::Context context{in, out, err};
    source::Sources sources;
    diag::Engine d(sources);
    cli::ModelOptions o;
    o.file = file;
    o.mode = "ge_graph";
    o.superkernel = fused ? "on" : "off";
    auto p = cli::plan_decode(o, 4, d, context);
    if (!p) stop(err.str());
    plan = std::move(*p);
    exec::GraphOptions go;
    go.poison = false, go.spread = spread, go.native = native, go.native_options = options;
    graph = must(exec::Graph::build(plan.plan.program, plan.plan.schedules[0], bindings, workers, go));
    if (native && !graph->executor().native) stop(graph->executor().why_not);
    Tensor x = Tensor::zeros(SK_F32, std::vector<int64_t>{4, 16});
    for (int i = 0; i < 64; ++i) x.data<float>()[i] = static_cast<float>(i) / 8;
    const plan::Function& f = *plan.plan.program.find(plan.plan.schedules[0].function);
    for (const plan::ValueId v : f.regions[f.body].args) {
      const plan::Type& t = f.values[v].type;
      if (t.kind != plan::Kind::Tensor)
        args.emplace_back(int64_t{1});
      else if (t.dtype == plan::DType::F32)
        args.emplace_back(x);
      else {
        std::vector<int64_t> shape;
        for (const int64_t n :
             plan.plan.schedules[0].buffers[plan.plan.schedules[0].inputs[args.size()]].shape)
          shape.push_back(n);
        args.emplace_back(Tensor::zeros(plan::abi_dtype(t.dtype), shape));
      }
    }
  }
  std::vector<float> values() {
    const auto out = must(graph->run(args));
    const Tensor& t = std::get<Tensor>(out[0]);
    return {t.data<float>(), t.data<float>() + t.elements()};
  }
  double ns_per_op(int repeats) {
    // The first ones wake the other worker; on a busy machine few find both cores free.
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      (void)graph->run(args);
      best = std::min(best, ns_since(start));
    }
    return best / kOps;
  }
};

/// Least of many short turns, one variant after the other; a busy machine gets fewer of them.
std::vector<double> in_turns(const std::vector<std::function<double()>>& variants, int rounds) {
  constexpr double kMostNs = 8e9;
  std::vector<double> best(variants.size(), 1e300);
  const auto start = Clock::now();
  for (int r = 0; r < rounds && (r < 2 || ns_since(start) < kMostNs); ++r)
    for (size_t v = 0; v < variants.size(); ++v) best[v] = std::min(best[v], variants[v]());
  return best;
}

// Two threads on two cores hand one line to and fro; half a round trip.
double ping_pong_ns() {
  struct alignas(64) Line {
    std::atomic<uint32_t> value{0};
  } line;
  constexpr uint32_t kTurns = 500;
  // On a busy machine the other thread may not run at all for a while.
  const auto wait_for = [&](uint32_t value) {
    for (uint32_t idle = 0; line.value.load(std::memory_order_acquire) != value;) {
      if (++idle < 4000)
        exec::relax();
      else
        std::this_thread::yield();
    }
  };
  std::thread other([&] {
    for (uint32_t i = 1; i < 2 * kTurns; i += 2) {
      wait_for(i);
      line.value.store(i + 1, std::memory_order_release);
    }
  });
  const auto start = Clock::now();
  for (uint32_t i = 0; i < 2 * kTurns; i += 2) {
    line.value.store(i + 1, std::memory_order_release);
    wait_for(i + 2);
  }
  const double ns = ns_since(start) / (2 * kTurns);
  other.join();
  return ns;
}

void dispatch() {
  std::puts("== dispatch: a super kernel of 240 small kernels");
  jit::Compiler jit;
  Floor floor_compiler;
  const std::string fused = chain_file(true), plain = chain_file(false);
  Chain floor(fused, true, 1, &floor_compiler, false), code(fused, true, 1, &jit, false),
      walked(fused, true, 1, nullptr, false), launched(plain, false, 1, nullptr, false);
  for (Chain* c : {&code, &walked, &launched})
    if (c->values() != floor.values()) stop("one worker: the values differ");
  const auto one = in_turns({[&] { return floor.ns_per_op(20); }, [&] { return code.ns_per_op(20); },
                             [&] { return walked.ns_per_op(20); }, [&] { return launched.ns_per_op(20); }},
                            200);
  std::printf("one worker, the kernels alone:                  %7.1f ns each\n", one[0]);
  std::printf("one worker, machine code adds:                  %7.1f ns each (limit 30 ns)\n",
              one[1] - one[0]);
  std::printf("one worker, the plan executor adds:             %7.1f ns each\n", one[2] - one[0]);
  std::printf("one worker, a launch without super kernel adds: %7.1f ns each (limit 300 ns)\n",
              one[3] - one[0]);

  Chain code2(fused, true, 2, &jit, true), walked2(fused, true, 2, nullptr, true),
      launched2(plain, false, 2, nullptr, true);
  for (Chain* c : {&code2, &walked2, &launched2})
    if (c->values() != floor.values()) stop("two workers: the values differ");
  const auto two = in_turns({[&] { return code.ns_per_op(20); }, [&] { return code2.ns_per_op(20); },
                             [&] { return walked2.ns_per_op(20); }, [&] { return launched2.ns_per_op(20); },
                             [&] { return ping_pong_ns(); }},
                            5000);
  const double sync = two[1] - two[0];
  std::printf(
      "two workers, a sync at each boundary:           %7.1f ns; a line handed over: %.1f ns; ratio %.2f "
      "(limit 1.30)\n",
      sync, two[4], sync / two[4]);
  std::printf("two workers, the plan executor's sync:          %7.1f ns; ratio %.2f\n", two[2] - two[0],
              (two[2] - two[0]) / two[4]);
  std::printf("two workers, a launch without super kernel:     %7.1f ns (limit 300 ns); ratio %.2f\n\n",
              two[3] - one[0], (two[3] - one[0]) / two[4]);
}

// ---- models

std::string llama_folder(const char* name, int dim, int layers, int heads, int kv, int hidden, int vocab) {
  const fs::path folder = work_folder() / name;
  fs::create_directories(folder);
  std::ofstream(folder / "config.json")
      << "{\"model_type\": \"llama\", \"vocab_size\": " << vocab << ", \"hidden_size\": " << dim
      << ", \"intermediate_size\": " << hidden << ", \"num_hidden_layers\": " << layers
      << ", \"num_attention_heads\": " << heads << ", \"num_key_value_heads\": " << kv
      << ", \"rms_norm_eps\": 1e-05, \"rope_theta\": 10000.0, \"max_position_embeddings\": 256, "
         "\"tie_word_embeddings\": false, \"torch_dtype\": \"float32\"}\n";
  return folder.string();
}

struct Generated {
  double us_per_step = 0;
  std::vector<std::vector<float>> logits;
};
Generated generate(Model& m, model::Session& s, int64_t tokens) {
  s.reset_states();
  const auto result = must(model::generate(s, m.request(tokens)));
  return {result.decode_ms_per_token * 1000, result.requests[0].logits};
}

void shapes() {
  std::puts(
      "== super kernel : best graph mode without (same kernels, one launch each, spinning hand-off); least "
      "of the turns");
  struct Shape {
    const char* name;
    int dim, layers, heads, kv, hidden, vocab;
    int64_t tokens;
    int rounds;
  };
  for (const Shape& s :
       {Shape{"260K", 64, 5, 8, 4, 172, 512, 60, 40}, Shape{"15M", 288, 6, 6, 6, 768, 32000, 24, 8},
        Shape{"110M", 768, 12, 12, 12, 2048, 32000, 6, 4}}) {
    const std::string folder = llama_folder(s.name, s.dim, s.layers, s.heads, s.kv, s.hidden, s.vocab);
    Model m(SKDSL_SOURCE_DIR "/examples/llama.sk", folder);
    jit::Compiler jit;
    for (const uint32_t threads : {1u, 2u}) {
      auto off = m.session(false, nullptr, threads), on = m.session(true, &jit, threads),
           walked = m.session(true, nullptr, threads);
      const auto reference = generate(m, *off, s.tokens).logits;
      if (generate(m, *on, s.tokens).logits != reference ||
          generate(m, *walked, s.tokens).logits != reference)
        stop("logits differ");
      const auto best = in_turns({[&] { return generate(m, *off, s.tokens).us_per_step; },
                                  [&] { return generate(m, *on, s.tokens).us_per_step; },
                                  [&] { return generate(m, *walked, s.tokens).us_per_step; }},
                                 s.rounds);
      std::printf(
          "%5s, %u worker%s: without %9.1f us a step, super kernel as machine code %9.1f us, ratio %.3f; in "
          "the plan executor %9.1f us\n",
          s.name, threads, threads == 1 ? " " : "s", best[0], best[1], best[0] / best[1], best[2]);
    }
  }
  std::puts("");
}

/// The LongCat example's weights for another number of layers.
std::string longcat_folder(int layers) {
  const fs::path folder = work_folder() / ("longcat-" + std::to_string(layers));
  fs::create_directories(folder);
  const fs::path from(SKDSL_SOURCE_DIR "/examples/longcat-adder");
  const std::string file = must(read_file(from / "model.safetensors"));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);
  const Json header = must(parse_json(file.substr(8, header_bytes), "header"));
  const std::string_view data = std::string_view(file).substr(8 + header_bytes);
  std::string names, bytes;
  const auto add = [&](const std::string& name, const Json& t) {
    const auto& offsets = t.find("data_offsets")->as_array();
    const auto begin = static_cast<size_t>(offsets[0].as_int()),
               end = static_cast<size_t>(offsets[1].as_int());
    names += (names.empty() ? "{\"" : ", \"") + name + "\": {\"dtype\": \"" + t.find("dtype")->as_string() +
             "\", \"shape\": " + to_json(*t.find("shape")) + ", \"data_offsets\": [" +
             std::to_string(bytes.size()) + ", " + std::to_string(bytes.size() + end - begin) + "]}";
    bytes += data.substr(begin, end - begin);
  };
  const std::string prefix = "model.layers.";
  for (const auto& [name, t] : header.as_object()) {
    if (name == "__metadata__") continue;
    if (!name.starts_with(prefix)) {
      add(name, t);
      continue;
    }
    const size_t dot = name.find('.', prefix.size());
    const int from_layer = std::stoi(name.substr(prefix.size(), dot - prefix.size()));
    for (int l = from_layer; l < layers; l += 2) add(prefix + std::to_string(l) + name.substr(dot), t);
  }
  names += "}";
  names.resize((names.size() + 7) / 8 * 8, ' ');
  const uint64_t n = names.size();
  std::ofstream out(folder / "model.safetensors", std::ios::binary);
  out.write(reinterpret_cast<const char*>(&n), 8);
  out << names << bytes;
  std::string config = must(read_file(from / "config.json"));
  const std::string was = "\"num_layers\": 2";
  config.replace(config.find(was), was.size(), "\"num_layers\": " + std::to_string(layers));
  std::ofstream(folder / "config.json") << config;
  return folder.string();
}

double thread_cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

// Notes the processor time of a compilation, which other work on the machine does not change much.
class Timed final : public exec::NativeCompiler {
 public:
  jit::Compiler jit;
  double ms = 0;
  explicit Timed(jit::ObjectCache cache = jit::ObjectCache({})) : jit(std::move(cache)) {}
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override {
    const double start = thread_cpu_ms();
    auto code = jit.compile(step);
    ms = thread_cpu_ms() - start;
    return code;
  }
};

struct Start {
  double first_ms = 1e300, end_ms = 1e300, cpu_ms = 1e300;
  void keep(const Start& s) {
    first_ms = std::min(first_ms, s.first_ms), end_ms = std::min(end_ms, s.end_ms),
    cpu_ms = std::min(cpu_ms, s.cpu_ms);
  }
};
// A process of its own, from its start to the first byte of the completion, and to its end.
Start first_token_ms(const std::string& folder, const std::string& cache) {
  int pipe_fds[2];
  if (::pipe(pipe_fds) != 0) stop("no pipe");
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_fds[1], 1);
    ::close(pipe_fds[0]);
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    if (!std::freopen("/dev/null", "w", stderr)) ::_exit(1);
    // The prefill gives the first token; the second one is the first of the graph.
    ::execl(SKDSL_PROGRAM, "skdsl", "run", SKDSL_SOURCE_DIR "/examples/longcat.sk", "--weights",
            folder.c_str(), "--mode", "ge_graph", "--prompt-ids", "1,5,10", "--max-new-tokens", "2",
            "--ignore-eos", nullptr);
    ::_exit(127);
  }
  ::close(pipe_fds[1]);
  char byte;
  if (::read(pipe_fds[0], &byte, 1) != 1) stop("the program wrote nothing");
  const double first = ns_since(start) / 1e6;
  while (::read(pipe_fds[0], &byte, 1) == 1) {
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) stop("the program failed");
  ::close(pipe_fds[0]);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return {first, ns_since(start) / 1e6, ms(used.ru_utime) + ms(used.ru_stime)};
}

void start_up() {
  std::puts("== start: a LongCat-shaped model of 28 layers, weights mapped, a process of its own");
  const std::string folder = longcat_folder(28);
  Start cold, warm;
  for (int i = 0; i < 5; ++i) {
    const fs::path cache = work_folder() / ("cache-" + std::to_string(i));
    fs::create_directories(cache);
    cold.keep(first_token_ms(folder, cache.string()));
    warm.keep(first_token_ms(folder, cache.string()));
  }
  std::printf(
      "cold start to the first token %6.1f ms (limit 150), with the first step of the graph %6.1f ms; "
      "processor time of all %6.1f ms\n",
      cold.first_ms, cold.end_ms, cold.cpu_ms);
  std::printf(
      "warm start to the first token %6.1f ms (limit 50),  with the first step of the graph %6.1f ms; "
      "processor time of all %6.1f ms\n",
      warm.first_ms, warm.end_ms, warm.cpu_ms);
  const auto opened = Clock::now();
  if (!jit::engine()) stop("no engine");
  std::printf("opening the JIT                                 %6.2f ms\n", ns_since(opened) / 1e6);
  std::vector<double> best;
  std::vector<std::unique_ptr<Model>> models;
  for (const int layers : {1, 28, 100})
    models.push_back(
        std::make_unique<Model>(SKDSL_SOURCE_DIR "/examples/longcat.sk", longcat_folder(layers)));
  std::vector<std::function<double()>> variants;
  for (auto& m : models)
    variants.emplace_back([&m] {
      Timed timed;
      auto s = m->session(true, &timed, 2);
      generate(*m, *s, 2);
      return timed.ms;
    });
  best = in_turns(variants, 8);
  std::printf("JIT of one distinct layer, and the two ends:    %6.2f ms of processor time (limit 25)\n",
              best[0]);
  std::printf("JIT of 28 layers %6.2f ms, of 100 layers %6.2f ms, %.2f times one (limit 1.30)\n", best[1],
              best[2], best[2] / best[0]);
  const jit::ObjectCache cache(work_folder() / "objects");
  const auto cached = in_turns({[&] {
                                 Timed timed(cache);
                                 auto s = models[1]->session(true, &timed, 2);
                                 generate(*models[1], *s, 2);
                                 return timed.ms;
                               }},
                               8);
  std::printf("28 layers from the cache, linked without LLVM:  %6.2f ms of processor time\n\n", cached[0]);
}

// ---- switches

void switches() {
  std::puts(
      "== switches: the time of a decode step with a switch turned, against the defaults; two workers, in "
      "turns");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"examples/longcat.sk", longcat_folder(28)},
      {"examples/llama.sk", llama_folder("15M", 288, 6, 6, 6, 768, 32000)}};
  for (const auto& [file, folder] : cases) {
    Model m(std::string(SKDSL_SOURCE_DIR "/") + file, folder);
    jit::Compiler jit;
    std::vector<std::string> names{"the defaults"};
    std::vector<exec::NativeOptions> options(1);
#define SK_NATIVE_OPTION(option, on, text)                          \
  names.emplace_back(std::string(#option) + (on ? " off" : " on")); \
  options.emplace_back().option = !on;
#include "runtime/exec/native_options.def"
#undef SK_NATIVE_OPTION
    std::vector<std::unique_ptr<model::Session>> sessions;
    for (const auto& o : options) sessions.push_back(m.session(true, &jit, 2, o));
    const auto reference = generate(m, *sessions[0], 20).logits;
    std::vector<std::function<double()>> variants;
    for (auto& s : sessions) {
      if (generate(m, *s, 20).logits != reference) stop("logits differ");
      variants.emplace_back([&] { return generate(m, *s, 20).us_per_step; });
    }
    const auto best = in_turns(variants, 15);
    std::printf("%s\n", file.c_str());
    for (size_t i = 0; i < names.size(); ++i)
      std::printf("  %-20s %9.1f us a step, %.3f of the defaults\n", names[i].c_str(), best[i],
                  best[i] / best[0]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string only = argc > 1 ? argv[1] : "";
  const std::pair<const char*, void (*)()> parts[] = {
      {"dispatch", dispatch}, {"shapes", shapes}, {"start", start_up}, {"switches", switches}};
  for (const auto& [name, run] : parts)
    if (only.empty() || only == name) run();
  std::error_code ignored;
  fs::remove_all(work_folder(), ignored);
  return 0;
}
