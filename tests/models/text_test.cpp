// From a text to a text: prompts, streaming, draws and stop strings through `skdsl run`.
//
// stories260K is other people's data: its tests need SKDSL_DATA_DIR and are skipped without it.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/base/utf8.h"
#include "runtime/model/tokenizer.h"
#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModes[] = {"eager", "ge_graph"};

CommandResult run_adder(std::vector<std::string> more) {
  std::vector<std::string> args{"run", source_path("examples/longcat.sk"), "--prompt", "27+58="};
  args.insert(args.end(), more.begin(), more.end());
  return run_command(args);
}
const Json& request(const Json& report, size_t i) { return report.find("requests")->as_array()[i]; }

TEST(Text, AStopStringEndsTheCompletionBeforeIt) {
  for (const char* mode : kModes) {
    EXPECT_EQ(run_adder({"--mode", mode}).out, "85\n");
    EXPECT_EQ(run_adder({"--mode", mode, "--stop", "5"}).out, "8\n");
    EXPECT_EQ(run_adder({"--mode", mode, "--stop", "99", "--stop", "85"}).out, "\n");
    EXPECT_EQ(run_adder({"--mode", mode, "--stop", "6", "--stop", "5\n"}).out, "85\n");
    const Json report = parsed(run_adder({"--mode", mode, "--stop", "8", "--json"}).out);
    EXPECT_EQ(request(report, 0).find("text")->as_string(), "");
    EXPECT_EQ(request(report, 0).find("stop")->as_string(), "stop_string");
    EXPECT_EQ(integers(*request(report, 0).find("tokens")), (std::vector<int64_t>{11}));
  }
  const Json report = parsed(run_adder({"--stop", "2", "--prompt", "10+12=", "--json"}).out);
  EXPECT_EQ(request(report, 0).find("stop")->as_string(), "eos");
  EXPECT_EQ(request(report, 1).find("stop")->as_string(), "stop_string");
  EXPECT_EQ(request(report, 1).find("text")->as_string(), "");
  EXPECT_TRUE(report.find("sampling")->is_null());
}

TEST(Text, WrongFlagsAreUsageErrors) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--stop", ""},
                                                {"--top-k", "3"},
                                                {"--temperature", "-1"},
                                                {"--temperature", "x"},
                                                {"--temperature", "1", "--top-p", "2"},
                                                {"--temperature", "1", "--top-k", "0"},
                                                {"--seed", "-1"}}) {
    const CommandResult r = run_adder(flags);
    EXPECT_EQ(r.exit, 2) << flags[0];
    EXPECT_NE(r.err.find(flags.size() > 2 ? flags[2] : flags[0]), std::string::npos) << r.err;
    EXPECT_EQ(r.out, "");
  }
  const CommandResult ids =
      run_command({"run", source_path("examples/llama.sk"), "--weights",
                   source_path("tests/models/golden/llama"), "--prompt-ids", "1,2", "--stop", "x"});
  EXPECT_EQ(ids.exit, 1);
  EXPECT_NE(ids.err.find("--stop needs a tokenizer"), std::string::npos) << ids.err;
}

TEST(Text, DrawsDoNotDependOnModeThreadsOrTheRestOfTheBatch) {
  const auto tokens = [](const std::string& mode, const std::vector<std::string>& more) {
    std::vector<std::string> args{"run",
                                  source_path("examples/llama.sk"),
                                  "--weights",
                                  source_path("tests/models/golden/llama"),
                                  "--mode",
                                  mode,
                                  "--set",
                                  "dtype=float32",
                                  "--ignore-eos",
                                  "--max-new-tokens",
                                  "12",
                                  "--json",
                                  "--temperature",
                                  "1.5",
                                  "--top-k",
                                  "30",
                                  "--top-p",
                                  "0.95",
                                  "--prompt-ids",
                                  "1,2,3"};
    args.insert(args.end(), more.begin(), more.end());
    const CommandResult r = run_command(args);
    EXPECT_EQ(r.exit, 0) << r.err;
    return parsed(r.out);
  };
  const Json alone = tokens("eager", {"--seed", "5", "--threads", "1"});
  EXPECT_EQ(alone.find("sampling")->find("generator")->as_string(), "Philox4x32-10");
  const auto reference = integers(*request(alone, 0).find("tokens"));
  EXPECT_EQ(reference.size(), 12u);
  const Json batch =
      tokens("ge_graph", {"--seed", "5", "--prompt-ids", "4,5", "--prompt-ids", "1,2,3", "--threads", "2"});
  EXPECT_EQ(integers(*request(batch, 0).find("tokens")), reference);
  EXPECT_NE(integers(*request(batch, 2).find("tokens")), reference) << "each request draws for itself";
  EXPECT_NE(integers(*request(tokens("eager", {"--seed", "6"}), 0).find("tokens")), reference);
  EXPECT_EQ(integers(*request(tokens("eager", {"--seed", "6"}), 0).find("tokens")),
            integers(*request(tokens("ge_graph", {"--seed", "6"}), 0).find("tokens")));
}

TEST(Text, ATokenizerModelServesWhereThereIsNoTokenizerJson) {
  TemporaryFolder folder;
  const auto copy = [&](const std::string& from, const std::string& to) {
    fs::copy_file(source_path(from), folder / to);
  };
  copy("tests/models/golden/llama/config.json", "config.json");
  copy("tests/tokenizers/sp_bpe.model", "tokenizer.model");
  const std::vector<std::string> args{"run",
                                      source_path("examples/llama.sk"),
                                      "--weights",
                                      folder / "",
                                      "--set",
                                      "vocab_size=1000",
                                      "--prompt",
                                      "The river reads",
                                      "--max-new-tokens",
                                      "4",
                                      "--json"};
  const CommandResult r = run_command(args);
  ASSERT_EQ(r.exit, 0) << r.err;
  auto model = model::Tokenizer::open(folder / "");
  ASSERT_TRUE(model.has_value());
  const auto ids = model->encode("The river reads").value();
  EXPECT_EQ(integers(*request(parsed(r.out), 0).find("prompt_ids")),
            std::vector<int64_t>(ids.begin(), ids.end()));
  EXPECT_EQ(ids[0], 1) << "the begin token";
  // tokenizer.json wins.
  copy("tests/tokenizers/gpt2.json", "tokenizer.json");
  const CommandResult json = run_command(args);
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_NE(integers(*request(parsed(json.out), 0).find("prompt_ids")),
            std::vector<int64_t>(ids.begin(), ids.end()));
}

/// Keeps what had been written at each flush.
class Flushes : public std::stringbuf {
 public:
  std::vector<std::string> seen;

 protected:
  int sync() override {
    seen.push_back(str());
    return std::stringbuf::sync();
  }
};

class Stories : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("SKDSL_DATA_DIR");
    if (!data) GTEST_SKIP() << "skipped: SKDSL_DATA_DIR is not set";
    folder_ = std::string(data) + "/stories260K";
    if (!fs::exists(folder_)) GTEST_SKIP() << "skipped: " << folder_ << " is not there";
    golden_ = parsed(read_file(folder_ + "/golden_text.json").value());
  }
  std::vector<std::string> args(const char* mode, const std::vector<std::string>& more) const {
    std::vector<std::string> out{"run",
                                 source_path("examples/llama.sk"),
                                 "--weights",
                                 folder_,
                                 "--mode",
                                 mode,
                                 "--ignore-eos",
                                 "--threads",
                                 "1"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  std::string folder_;
  Json golden_;
};

TEST_F(Stories, EncodeCases) {
  const auto tokenizer = model::Tokenizer::open(folder_);
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
  size_t compared = 0;
  for (const Json& c : golden_.find("encode_cases")->as_array()) {
    const auto ids = tokenizer->encode(c.find("text")->as_string());
    ASSERT_TRUE(ids.has_value());
    EXPECT_EQ(std::vector<int64_t>(ids->begin(), ids->end()), integers(*c.find("ids")));
    EXPECT_EQ(tokenizer->decode(*ids, true), c.find("decoded")->as_string());
    ++compared;
  }
  EXPECT_GE(compared, 9u);
}

TEST_F(Stories, TheGoldenStoriesFromTextToText) {
  for (const char* mode : kModes)
    for (const Json& run : golden_.find("runs")->as_array()) {
      const std::string prompt = run.find("prompt")->as_string();
      const auto tokens = integers(*run.find("tokens"));
      const std::vector<std::string> more{"--prompt", prompt, "--max-new-tokens",
                                          std::to_string(tokens.size())};
      const CommandResult text = run_command(args(mode, more));
      ASSERT_EQ(text.exit, 0) << text.err;
      EXPECT_EQ(prompt + text.out, run.find("text")->as_string() + "\n") << mode;
      auto json_flags = more;
      json_flags.push_back("--json");
      const Json report = parsed(run_command(args(mode, json_flags)).out);
      EXPECT_EQ(integers(*request(report, 0).find("prompt_ids")), integers(*run.find("prompt_ids")));
      EXPECT_EQ(integers(*request(report, 0).find("tokens")), tokens) << mode << ": " << prompt;
      EXPECT_EQ(prompt + request(report, 0).find("text")->as_string(), run.find("text")->as_string());
    }
}

TEST_F(Stories, AThousandTokensStreamInWholeCharacters) {
  std::string reference;
  for (const char* mode : kModes) {
    // So hot that byte tokens come in every order.
    Flushes flushes;
    std::ostream out(&flushes);
    std::istringstream in;
    std::ostringstream err;
    cli::Context context{in, out, err};
    const int exit = cli::run(args(mode, {"--prompt", "Once upon", "--max-seq-len", "1100",
                                          "--max-new-tokens", "1000", "--temperature", "50", "--seed", "11"}),
                              context);
    ASSERT_EQ(exit, 0) << err.str();
    EXPECT_GE(flushes.seen.size(), 1000u);
    size_t grown = 0, last = 0;
    for (const std::string& text : flushes.seen) {
      EXPECT_FALSE(invalid_utf8(text)) << "half a character was printed";
      grown += text.size() > last;
      last = text.size();
    }
    EXPECT_GT(grown, 400u) << "text comes while tokens are generated";
    EXPECT_NE(flushes.str().find("\ufffd"), std::string::npos)
        << "the seed draws bytes that are no character";
    if (reference.empty()) reference = flushes.str();
    EXPECT_EQ(flushes.str(), reference) << mode;
  }
}

}  // namespace
}  // namespace skdsl::testing
