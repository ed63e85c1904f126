// Random lists of kernels: whatever is not refused ends, calls every kernel, balances its flags, meets on
// both sides, emits every wait and enforces every dependency.
#include <gtest/gtest.h>

#include "compiler/superkernel/case.h"
#include "tests/support/random_program.h"

namespace skdsl::superkernel {
namespace {

using plan::KernelType;
using testing::Random;

constexpr const char* kOptions[] = {"early-start=0",     "early-start=2",    "feed-sync-all=1",
                                    "debug-sync-all=1",  "debug-dcci-all=1", "profiling=1",
                                    "preload-code=none", "preload-code=max", "split-mode=1",
                                    "split-mode=3",      "func-align=0"};

std::vector<SubKernel> random_kernels(Random& random, size_t streams) {
  std::vector<SubKernel> out(1 + random.below(9));
  for (size_t i = 0; i < out.size(); ++i) {
    SubKernel& k = out[i];
    k.id = "k" + std::to_string(i);
    k.task = static_cast<uint32_t>(i);
    k.type = static_cast<KernelType>(random.below(6));
    k.block_dim = static_cast<uint32_t>(1 + random.below(plan::is_vector(k.type) ? 48 : 24));
    k.stream = static_cast<uint32_t>(random.below(streams));
    k.params = static_cast<uint32_t>(random.below(5));
    k.code_bytes = static_cast<uint32_t>(random.below(40000));
    k.sync_all = random.chance(25);
    k.dynamic = random.chance(8);
    k.dcci_before = random.chance(10), k.dcci_after = random.chance(10), k.dcci_disable = random.chance(10);
  }
  const size_t events = random.below(2 * out.size());
  for (uint32_t e = 0; e < events; ++e) {
    const size_t a = random.below(out.size()), b = random.below(out.size());
    if (random.chance(20)) {  // towards, or from, somewhere else
      if (random.chance(50))
        out[a].send_events.push_back(e);
      else
        out[a].recv_events.push_back(e);
    } else if (a < b && out[a].stream != out[b].stream) {
      out[a].send_events.push_back(e);
      out[b].recv_events.push_back(e);
    }
  }
  return out;
}

TEST(SuperKernelProperties, RandomLists) {
  size_t serial = 0, two_stream = 0, refused = 0, mended = 0;
  const size_t rounds = testing::repeats(4000, 200000);
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto kernels = random_kernels(random, 1 + random.below(4));
    std::string text = random.chance(70) ? "stream-fusion=1" : "";
    for (const char* o : kOptions)
      if (random.chance(15) &&
          text.find(std::string(o).substr(0, std::string(o).find('='))) == std::string::npos)
        text += std::string(":") + o;
    const auto options = parse_options(text);
    ASSERT_TRUE(options) << options.error().message;
    const auto got = compile_superkernel(kernels, options->options, {});
    if (!got) {
      EXPECT_FALSE(got.error().message.empty());
      ++refused;
      continue;
    }
    (got->kernel.two_stream ? two_stream : serial) += 1;
    mended += !got->deviations.empty();
    std::vector<std::string> ids;
    for (const SubKernel& k : kernels) ids.push_back(k.id);
    const plan::SkAnalysis seen = plan::analyse(got->kernel);
    const std::string what = text + "\n" + to_json(schedule_json(got->kernel, ids), 1);
    ASSERT_TRUE(seen.ends) << what;
    ASSERT_TRUE(seen.flags_balanced) << what;
    ASSERT_TRUE(seen.all_mix_matches) << what;
    ASSERT_TRUE(seen.every_kernel_called) << what;
    ASSERT_TRUE(seen.feed_end_published) << what;
    ASSERT_TRUE(seen.waits_not_emitted.empty()) << what;
    ASSERT_TRUE(seen.unenforced.empty())
        << ids[seen.unenforced[0].before] << " -> " << ids[seen.unenforced[0].after] << "\n"
        << what;
  }
  std::printf("random lists, seeds 1..%zu: %zu serial, %zu two-stream (%zu mended), %zu refused\n", rounds,
              serial, two_stream, mended, refused);
  EXPECT_GT(serial, rounds / 10);
  EXPECT_GT(two_stream, rounds / 10);
}

}  // namespace
}  // namespace skdsl::superkernel
