// Random sequences of commands: whatever is asked, the session stays usable, a refused change changes
// nothing, every model in between compiles, and undoing all of it gives the identical plan. 1,000 sequences
// with SKDSL_SOAK=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "cli/repl/document.h"
#include "cli/repl/repl.h"
#include "compiler/superkernel/options.h"
#include "tests/support/cli_run.h"

namespace skdsl::cli::repl {
namespace {

class Commands {
 public:
  Commands(Repl& repl, uint64_t seed) : repl_(repl), random_(seed) {}

  std::string next() {
    switch (pick(16)) {
      case 0:
      case 1:
        return ":merge " + scope() + " " + scope();
      case 2:
      case 3:
        return ":split " + scope() + " at " + op();
      case 4:
        return ":move " + op() + " to " + scope();
      case 5:
        return ":drop " + scope();
      case 6:
        return ":option " + scope() + " " + option();
      case 7:
        return ":stream " + scope() + " " + one({"none", "1", "2", "side"});
      case 8:
        return ":cores " + scope() + " " + one({"none", "aic=8", "aiv=16", "aic=4 aiv=8", "aic=0", "aic=n"});
      case 9:
        return ":prefetch " + scope() + " " + one({"ffn[0].down", "attn[1].q_a", "nothing", "moe"}) + " " +
               one({"none", "after attn[0].o_proj.out max 1MiB", "after x"});
      case 10:
        return ":undo";
      case 11:
        return ":redo";
      case 12:
        return ":set " + one({"enable_multi_streams=2", "enable_multi_streams", "target.cann=8.0",
                              "target.cann", "enable_prefetch=false", "no_key=1", "num_layers=1"});
      case 13:
        return ":batch " + one({"1", "2", "3", "0", "x"});
      case 14:
        return one({":scopes", ":diff", ":explain", ":scope " + scope(), ":plan " + scope(), ":help",
                    ":names", ":set", ":mode"});
      default:
        return one({":merge", ":nothing", ":split a b c d", "x = 1", "y = (", "fn f(",
                    ":option " + scope() + " =", ":explain SK306", "z = unknown_name"});
    }
  }

 private:
  uint64_t pick(uint64_t n) { return random_() % n; }
  std::string one(const std::vector<std::string>& words) { return words[pick(words.size())]; }
  std::string scope() {
    const auto names = repl_.scope_names();
    return names.empty() || pick(12) == 0 ? "scope_9_none" : one(names);
  }
  std::string op() {
    const auto names = repl_.op_names();
    return names.empty() || pick(8) == 0 ? one({"rms_norm", "matmul", ":80", "add"}) : one(names);
  }
  std::string option() {
    return one({"stream-fusion=1", "early-start=0", "preload-code=none", "split-mode=2", "debug-sync-all=1",
                "strict-scope-check=abort", "feed-sync-all=0", "feed-sync-all", "nothing=1",
                "split-mode=99"});
  }

  Repl& repl_;
  std::mt19937_64 random_;
};

std::string plan_of(Repl& repl) {
  std::string out;
  for (const plan::Schedule& s : repl.unit().schedules) out += plan::print(s, *repl.unit().program);
  return out;
}

struct Seen {
  size_t commands = 0, made = 0, refused = 0;
};

void sequence(uint64_t seed, size_t length, Seen& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::istringstream in;
  std::ostringstream out, err;
  Context context{in, out, err};
  std::atomic<bool> interrupt{false};
  Repl repl(context, interrupt, {}, 1);
  repl.check_bits = false;
  ASSERT_TRUE(repl.load(testing::source_path("examples/longcat.sk"))) << err.str();
  const std::string first = plan_of(repl), text = repl.now().text;
  ASSERT_FALSE(first.empty());
  Commands commands(repl, seed);
  for (size_t i = 0; i < length; ++i) {
    const std::string command = commands.next();
    SCOPED_TRACE(command);
    const Snapshot before = repl.now();
    out.str("");
    err.str("");
    if (repl.run(command)) {
      seen.made += !same(before, repl.now());
      EXPECT_FALSE(Document(repl.now().text).broken());
    } else {
      ++seen.refused;
      EXPECT_TRUE(same(before, repl.now())) << "a refused command changed the model";
      EXPECT_FALSE(err.str().empty()) << "a refusal says why";
    }
    ASSERT_TRUE(repl.unit().good());
  }
  seen.commands += length;
  while (repl.changes() > 0) ASSERT_TRUE(repl.undo());
  EXPECT_EQ(repl.now().text, text);
  EXPECT_EQ(plan_of(repl), first);
}

TEST(RandomCommands, UndoGoesBackToTheStart) {
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  const uint64_t sequences = soak ? 1000 : 10;
  // Two long ones, many short ones.
  Seen seen;
  for (uint64_t seed = 1; seed <= sequences; ++seed) {
    sequence(seed, seed > 2 ? 12 : soak ? 300 : 50, seen);
    if (HasFatalFailure()) return;
  }
  std::printf("random commands, seeds 1 to %zu: %zu commands, %zu changed the model, %zu were refused\n",
              static_cast<size_t>(sequences), seen.commands, seen.made, seen.refused);
  EXPECT_GT(seen.made, seen.commands / 20);
  EXPECT_GT(seen.refused, seen.commands / 20);
}

}  // namespace
}  // namespace skdsl::cli::repl
