// Field cases of fused kernels that must not come back: rows that depend on which core runs them, batches
// beyond what a fused kernel was sized for, batches other than one, and dumps that fusion switches off.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

LogitsRun adder(const std::string& mode, size_t requests, int threads) {
  LogitsRun r;
  r.model = source_path("examples/longcat.sk");
  r.weights = source_path("examples/longcat-adder");
  r.mode = mode;
  r.threads = threads;
  r.new_tokens = 4;
  for (size_t i = 0; i < requests; ++i) {
    std::vector<int64_t> prompt;
    for (size_t k = 0; k < 1 + (i * 7) % 5; ++k)
      prompt.push_back(static_cast<int64_t>(1 + (i * 5 + k * 3) % 11));
    r.prompts.push_back(prompt);
  }
  return r;
}

// 1, 2, 3, 5: odd and even; 8, 9, 16, 17: around a tile of eight rows.
TEST(SuperKernelCases, EveryBatchGivesTheRowsThatEachRequestGivesAlone) {
  for (const size_t batch : {1u, 2u, 3u, 5u, 8u, 9u, 16u, 17u}) {
    const Json eager = parsed(logits_text(adder("eager", batch, 1)));
    for (const int threads : {1, 2, 5})
      EXPECT_EQ(parsed(logits_text(adder("ge_graph", batch, threads))), eager)
          << batch << " requests, " << threads << " threads";
  }
}

// A dump inside a scope is written with fusion on, holds the same bytes in every mode, and changes nothing.
TEST(SuperKernelCases, DumpsWorkWithFusionOn) {
  TemporaryFolder temporary;
  const fs::path folder = temporary / "";
  const fs::path program = folder / "m.sk";
  std::ofstream(program) << R"(layer L() {
  decode(x: f32[2, 8], step: Step) -> f32[2, 8] {
    superkernel "s" (stream-fusion = 1) <
      y = x * 2.0
      stream "side" { v = rms_norm(x, full([8], 1.0, f32)) }
      dump y
      z = matmul(y, reshape(cast(arange(0, 64), f32), [8, 8])) + v
      dump z
    >
    return z
  }
}
m = L()
st = Step(kv_len = [5, 3])
print(m.decode(random_normal([2, 8], seed = 1), st))
)";
  std::map<std::string, std::map<std::string, std::string>> seen;
  std::string printed;
  for (const auto& [mode, more] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"eager", {"--mode", "eager"}},
           {"fused", {"--mode", "ge_graph"}},
           {"unfused", {"--mode", "ge_graph", "--superkernel", "off"}}}) {
    const fs::path to = folder / mode;
    std::vector<std::string> args{"run", program.string(), "--set", "batch_size=2", "--dump", to.string()};
    args.insert(args.end(), more.begin(), more.end());
    const CommandResult r = run_command(args);
    ASSERT_EQ(r.exit, 0) << r.err;
    EXPECT_NE(r.err.find("2 tensors written to"), std::string::npos) << r.err;
    if (printed.empty()) printed = r.out;
    EXPECT_EQ(r.out, printed);
    for (const auto& file : fs::directory_iterator(to)) {
      std::ifstream data(file.path(), std::ios::binary);
      seen[mode][file.path().filename().string()] = std::string(std::istreambuf_iterator<char>(data), {});
    }
  }
  ASSERT_EQ(seen["eager"].size(), 2u);
  EXPECT_EQ(seen["fused"], seen["eager"]);
  EXPECT_EQ(seen["unfused"], seen["eager"]);
  for (const auto& [name, bytes] : seen["fused"]) {
    EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
    EXPECT_NE(bytes.find("'shape': (2, 8, )"), std::string::npos) << name;
    EXPECT_EQ(bytes.size() % 64, 0u);  // 64 bytes of header for each 64, 2 x 8 floats
  }
}

}  // namespace
}  // namespace skdsl::testing
