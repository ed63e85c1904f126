// Machine code of whole models: what is emitted, who runs, a cold and a warm cache, and long runs; always the
// same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "jit/host/host.h"
#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

/// The cache of this test program alone, in a folder that goes with it.
class OwnCache {
 public:
  OwnCache() { ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  std::string objects() const { return folder_ / "cache/skdsl/objects"; }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

struct Emitted {
  std::map<std::string, size_t> kernel_calls;                  // by function: first phases of kernels
  std::map<std::string, std::map<std::string, size_t>> calls;  // by function: other functions defined here
  std::set<std::string> declared;
};

Emitted read(const std::string& ir) {
  Emitted out;
  static const std::regex kDefine("define .*@\"?([^\"(]+)\"?\\(.*"),
      kDeclare("declare .*@\"?([^\"(]+)\"?\\(.*"), kCall(".*call [^@]*@\"?([^\"(]+)\"?\\((.*)\\).*");
  std::string function;
  for (const std::string& line : lines_of(ir)) {
    std::smatch m;
    if (std::regex_match(line, m, kDefine))
      function = m[1], out.kernel_calls[function];
    else if (std::regex_match(line, m, kDeclare))
      out.declared.insert(m[1]);
    else if (std::regex_match(line, m, kCall)) {
      const std::string callee = m[1], args = m[2];
      if (callee.starts_with("sk_kernel_"))
        out.kernel_calls[function] += args.substr(args.find(',')).starts_with(", i32 0, ");
      else
        ++out.calls[function][callee];
    }
  }
  return out;
}

std::string dump(std::vector<std::string> more) {
  std::vector<std::string> args{"dump", "--stage=llvm", source_path("examples/longcat.sk")};
  args.insert(args.end(), more.begin(), more.end());
  const CommandResult r = run_command(args);
  EXPECT_EQ(r.exit, 0) << r.err;
  return r.out;
}

TEST(LongCat, CallsEachFusedOpOnceAndSharesFunctionsBetweenLayers) {
  const CommandResult explained = run_command({"explain", source_path("examples/longcat.sk"), "--json"});
  const auto fused = static_cast<size_t>(parsed(explained.out).find("totals")->find("ops_fused")->as_int());
  ASSERT_GT(fused, 50u);
  for (const char* threads : {"1", "2"}) {
    const Emitted e = read(dump({"--threads", threads}));
    const std::string step = "LongCatFlash.decode";
    ASSERT_TRUE(e.kernel_calls.contains(step));
    size_t calls = 0, shared = 0;
    for (const auto& [callee, times] : e.calls.at(step)) {
      if (!e.kernel_calls.contains(callee)) continue;
      calls += times * e.kernel_calls.at(callee);
      shared += times > 1;
    }
    EXPECT_EQ(calls, fused) << threads;
    // The two layers run the same three; a scope at an end of the model would add its own.
    EXPECT_EQ(shared, 3u) << threads;
    EXPECT_EQ(e.kernel_calls.size(), 1 + 3u) << threads;
    for (const std::string& name : e.declared)
      EXPECT_TRUE(name.starts_with("sk_kernel_") || name == "sk_native_meet" ||
                  name == "sk_native_boundary" || name == "sk_native_fault")
          << name;
  }
}

TEST(LongCat, CodeHasPlacesAndNames) {
  const std::string ir = dump({});
  EXPECT_NE(ir.find("!DISubprogram(name: \"sk_scope_0_part1_"), std::string::npos);
  EXPECT_NE(ir.find("!DIFile(filename: \""), std::string::npos);
  EXPECT_NE(ir.find("!DILocation(line: "), std::string::npos);
  const CommandResult text = run_command({"dump", "--stage=asm", source_path("examples/longcat.sk")});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_NE(text.out.find("sk_kernel_rms_norm"), std::string::npos);
  const CommandResult wrong =
      run_command({"dump", "--stage=llvm", source_path("examples/longcat.sk"), "--scope", "nothing"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_NE(wrong.err.find("no super kernel of a scope `nothing`"), std::string::npos) << wrong.err;
}

Json run_json(std::vector<std::string> more) {
  std::vector<std::string> args{
      "run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58=", "--json"};
  args.insert(args.end(), more.begin(), more.end());
  const CommandResult r = run_command(args);
  EXPECT_EQ(r.exit, 0) << r.err;
  return parsed(r.out);
}
const Json& executor(const Json& report) { return report.find("graph")->find("executors")->as_array().at(0); }

TEST(Run, SaysWhoRunsAndWhetherTheCacheServed) {
  const OwnCache cache;
  const Json cold = run_json({});
  EXPECT_EQ(executor(cold).find("executor")->as_string(), "jit");
  EXPECT_EQ(executor(cold).find("distinct_superkernels")->as_int(), 3);
  EXPECT_FALSE(executor(cold).find("from_cache")->as_bool());
  const Json warm = run_json({});
  EXPECT_TRUE(executor(warm).find("from_cache")->as_bool());
  EXPECT_EQ(*warm.find("requests"), *cold.find("requests"));
  const Json plan = run_json({"--jit", "off"});
  EXPECT_EQ(executor(plan).find("executor")->as_string(), "plan");
  EXPECT_EQ(*plan.find("requests"), *cold.find("requests"));
  const CommandResult steps = run_command(
      {"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58=", "--steps"});
  EXPECT_NE(steps.err.find("decode, static graph (jit), "), std::string::npos) << steps.err;
  // Watched kernels run in the plan executor, and that is said.
  const CommandResult watched = run_command(
      {"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58=", "--diagnose"});
  EXPECT_EQ(watched.exit, 0);
  EXPECT_NE(watched.err.find("the plan executor runs `LongCatFlash.decode"), std::string::npos)
      << watched.err;
  const CommandResult wrong =
      run_command({"run", source_path("examples/longcat.sk"), "--prompt", "1", "--jit-option", "preloat=on"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_NE(wrong.err.find("did you mean `preload`"), std::string::npos) << wrong.err;
}

TEST(Run, ADamagedObjectIsCompiledAgainWithAWarning) {
  const OwnCache cache;
  const Json good = run_json({});
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(cache.objects())) {
    ++files;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-200, std::ios::end);
    file.put('\x7f');
  }
  ASSERT_EQ(files, 3u);  // its program and its graph are kept too
  const CommandResult r =
      run_command({"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58="});
  EXPECT_EQ(r.exit, 0);
  EXPECT_EQ(r.out, "85\n");
  EXPECT_NE(r.err.find("SK3506"), std::string::npos) << r.err;
  const CommandResult again =
      run_command({"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58="});
  EXPECT_EQ(again.err.find("SK3506"), std::string::npos) << again.err;
}

TEST(CacheCommand, ListsExplainsAndClears) {
  const OwnCache cache;
  const std::string model = source_path("examples/longcat.sk");
  EXPECT_NE(run_command({"cache", "why", model}).out.find("not in the cache; nothing of that name"),
            std::string::npos);
  run_json({});
  EXPECT_NE(run_command({"cache", "ls"}).out.find("step    LongCatFlash.decode"), std::string::npos);
  EXPECT_NE(run_command({"cache", "why", model}).out.find("decode B=1 T=1 W=1: in the cache"),
            std::string::npos)
      << run_command({"cache", "why", model}).out;
  const std::string other = run_command({"cache", "why", model, "--superkernel", "off"}).out;
  EXPECT_NE(other.find("the nearest object is another: plan is `"), std::string::npos) << other;
  EXPECT_NE(run_command({"cache", "clear"}).out.find("3 files removed"), std::string::npos);
  EXPECT_EQ(run_command({"cache", "why"}).exit, 2);
}

// A model of random weights; `layers` and positions as asked.
std::string synthetic_folder(const TemporaryFolder& at, const std::string& config,
                             std::map<std::string, std::string> changes) {
  std::string text = *read_file(source_path(config));
  for (const auto& [key, value] : changes) {
    const std::regex field("\"" + key + "\"\\s*:\\s*[^,}\\n]+");
    text = std::regex_replace(text, field, "\"" + key + "\": " + value);
  }
  std::ofstream(at / "config.json") << text;
  return at / "";
}

TEST(Synthetic, AThousandTokensAreTheSameEverywhere) {
  const OwnCache cache;
  struct Model {
    const char* sk;
    const char* config;
  };
  for (const Model& m : {Model{"examples/longcat.sk", "examples/longcat-adder/config.json"},
                         Model{"examples/llama.sk", "tests/models/golden/llama/config.json"}}) {
    TemporaryFolder folder;
    LogitsRun r;
    r.model = source_path(m.sk);
    r.weights = synthetic_folder(folder, m.config, {{"max_position_embeddings", "2048"}});
    r.prompts = {{1, 2, 3}};
    r.new_tokens = 1000;
    r.mode = "ge_graph";
    r.more = {"--jit", "off"};
    const std::string reference = logits_text(r);
    ASSERT_FALSE(reference.empty());
    for (const int threads : {1, 2, 5}) {
      r.threads = threads;
      for (const std::vector<std::string>& more :
           {std::vector<std::string>{},
            {"--static-kernels"},
            {"--jit-option", "narrow_sync=off"},
            {"--jit-option", "preload=on", "--jit-option", "early_start=on", "--jit-option", "copies=on"}}) {
        // Five workers on few cores give theirs away at every meeting: slow, and the same.
        if (threads == 5 && !more.empty()) continue;
        r.new_tokens = (threads == 5 || !more.empty()) && std::getenv("SKDSL_SOAK") == nullptr ? 100 : 1000;
        r.more = more;
        if (r.new_tokens != 1000) {
          LogitsRun plan = r;
          plan.more = {"--jit", "off"}, plan.threads = 1;
          const std::string same = logits_text(plan);
          // Linked by ORC, then from the cache by the loader; five workers have the objects of two.
          for (const char* start : {"cold", "warm"})
            EXPECT_TRUE(logits_text(r) == same) << m.sk << ", " << threads << " threads, " << start;
          continue;
        }
        EXPECT_TRUE(logits_text(r) == reference)
            << m.sk << ", " << threads << " threads, " << (more.empty() ? "" : more.back());
      }
    }
  }
}

}  // namespace
}  // namespace skdsl::testing
