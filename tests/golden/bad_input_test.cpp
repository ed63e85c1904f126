// bad_input — what `run` is given may be wrong in any way: one clear error, the right exit code, never a
// crash
//
// Each case names the fragments that make its message useful: what was seen, the rule, the way out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.h"

namespace skdsl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const fs::path kSource = SKDSL_SOURCE_DIR;
const std::string kLlama = (kSource / "examples" / "llama.sk").string();
const fs::path kGolden = kSource / "tests" / "models" / "golden";

struct Result {
  int code = 0;
  std::string out, err;
};

Result run(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.begin(), "run");
  std::istringstream in(input);
  std::ostringstream out, err;
  cli::Context context{.in = in, .out = out, .err = err};
  testing::internal::CaptureStdout();
  Result r;
  r.code = cli::run(args, context);
  std::fflush(stdout);
  r.out = testing::internal::GetCapturedStdout() + out.str();
  r.err = err.str();
  return r;
}

size_t errors_in(const std::string& text) {
  size_t n = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) n += line.starts_with("error");
  return n;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("skdsl_bad_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  /// A writable copy of a golden model.
  fs::path copy(const std::string& model) {
    const fs::path to = folder_ / model;
    fs::copy(kGolden / model, to, fs::copy_options::recursive);
    return to;
  }

  static std::vector<std::string> llama(const fs::path& weights, std::vector<std::string> more) {
    std::vector<std::string> args{kLlama, "--weights", weights.string(), "--set", "dtype=float32"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  static Result golden_llama(std::vector<std::string> more) {
    return run(llama(kGolden / "llama", std::move(more)));
  }

  /// One error with these fragments and no output.
  static void expect(const Result& r, int code, const std::vector<std::string>& fragments) {
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_EQ(errors_in(r.err), 1U) << r.err;
    EXPECT_EQ(r.out, "");
    for (const std::string& f : fragments)
      EXPECT_NE(r.err.find(f), std::string::npos) << "no `" << f << "` in\n" << r.err;
    EXPECT_EQ(r.err.find("internal error"), std::string::npos) << r.err;
  }

  /// Rewrites the header of a .safetensors file.
  static void edit_header(const fs::path& file, const std::function<void(Json&)>& edit) {
    const std::string bytes = read(file);
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    Json header = Json::parse(bytes.substr(8, size));
    edit(header);
    std::string text = header.dump();
    while (text.size() % 8 != 0) text += ' ';
    size = text.size();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&size), 8);
    out << text << bytes.substr(8 + static_cast<size_t>([&] {
                                  uint64_t old = 0;
                                  std::memcpy(&old, bytes.data(), 8);
                                  return old;
                                }()));
  }

  static void edit_config(const fs::path& folder, const std::function<void(Json&)>& edit) {
    Json config = Json::parse(read(folder / "config.json"));
    edit(config);
    std::ofstream(folder / "config.json") << config.dump();
  }

  fs::path folder_;
};

// ---- the source file

TEST_F(BadInput, FileThatIsNoSource) {
  expect(run({(folder_ / "nope.sk").string()}), cli::kInputHasErrors, {"nope.sk", "No such file"});
  expect(run({folder_.string()}), cli::kInputHasErrors, {"is a directory", "a file is expected"});
  expect(run({write("binary.sk", std::string_view("print(1)\n\0\1\2", 12))}), cli::kInputHasErrors,
         {"is not a text file", "line 2, column 1"});
  expect(run({write("latin.sk", "print(\"\xff\xfe\")\n")}), cli::kInputHasErrors,
         {"not valid UTF-8", "0xff", "line 1, column 8"});
  expect(run({write("empty.sk", "")}), cli::kInputHasErrors, {"nothing to run", "help: "});
}

TEST_F(BadInput, DeepNesting) {
  const std::string open(10'000, '('), close(10'000, ')');
  expect(run({write("brackets.sk", "x = " + open + "1" + close + "\n")}), cli::kInputHasErrors,
         {"SK1005", "deeper than 256"});
  std::string blocks;
  for (int i = 0; i < 10'000; ++i) blocks += "if true {";
  expect(run({write("blocks.sk", blocks + "print(1)" + std::string(10'000, '}') + "\n")}),
         cli::kInputHasErrors, {"SK1005", "deeper than 256"});
}

TEST_F(BadInput, LongLines) {
  std::string chain = "x = 1";
  for (int i = 0; i < 1'250'000; ++i) chain += " + 1";
  const Result r = run({write("chain.sk", chain + "\n")});
  expect(r, cli::kInputHasErrors, {"SK1006", "help: "});
  EXPECT_LT(r.err.size(), 2000U) << "the excerpt shows a part of the line";
  // A long line as such is fine.
  const Result fine = run({write("comment.sk", "print(1) //" + std::string(5'000'000, 'a') + "\n")});
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_EQ(fine.out, "1\n");
}

// ---- the command line

TEST_F(BadInput, CommandLine) {
  expect(run({}), cli::kUsage, {"file is required"});
  expect(golden_llama({"--prompt-ids", "1", "--frobnicate"}), cli::kUsage,
         {"--frobnicate", "skdsl run --help"});
  expect(golden_llama({"--prompt-ids", "1", "--mode", "fast"}), cli::kUsage,
         {"unknown mode `fast`", "eager, npugraph_ex and ge_graph"});
  expect(golden_llama({"--prompt-ids", "1", "--mode", "ge_grph"}), cli::kUsage,
         {"unknown mode `ge_grph`", "did you mean `ge_graph`?"});
  expect(golden_llama({"--prompt-ids", "1", "--set", "nonsense"}), cli::kUsage,
         {"--set nonsense", "key=value"});
  expect(golden_llama({"--prompt-ids", "1", "--set", "hiden_size=3"}), cli::kInputHasErrors,
         {"SK2006", "`hiden_size`", "did you mean `hidden_size`?"});
  expect(golden_llama({"--prompt-ids", "1", "--set", "hidden_size=wide"}), cli::kInputHasErrors,
         {"SK3017", "--set hidden_size=wide", "expected an integer"});
  expect(golden_llama({"--prompt-ids", "1", "--set", "dtype=int8"}), cli::kInputHasErrors,
         {"`int8` is not an activation dtype", "float32, bfloat16 or float16"});
  expect(golden_llama({"--prompt-ids", "1", "--max-new-tokens", "-3"}), cli::kInputHasErrors,
         {"--max-new-tokens is -3", "at least 1"});
}

TEST_F(BadInput, Prompts) {
  expect(golden_llama({}), cli::kUsage, {"no prompt", "--prompt-ids"});
  expect(golden_llama({"--prompt-ids", ""}), cli::kUsage, {"--prompt-ids", "is not a token id", "1,2,3"});
  expect(golden_llama({"--prompt-ids", "1,x"}), cli::kUsage, {"`x` is not a token id"});
  expect(golden_llama({"--prompt-ids", "99999999999"}), cli::kUsage, {"99999999999"});
  expect(golden_llama({"--prompt-ids", "1,2,99999"}), cli::kInputHasErrors,
         {"prompt 1, position 2", "99999", "below 112"});
  expect(golden_llama({"--prompt-ids", "1,-2"}), cli::kInputHasErrors,
         {"prompt 1, position 1", "-2", "at least 0"});
  expect(golden_llama({"--prompt", "hello"}), cli::kInputHasErrors,
         {"--prompt needs a tokenizer", "tokenizer.json", "--prompt-ids"});
}

// Whatever does not fit is refused before the first token.
TEST_F(BadInput, Sizes) {
  expect(golden_llama({"--max-seq-len", "8", "--prompt-ids", "1,2,3,4,5", "--max-new-tokens", "10"}),
         cli::kInputHasErrors,
         {"prompt 1 has 5 tokens", "10 new", "max_seq_len, 8", "--max-seq-len", "--max-new-tokens"});
  expect(golden_llama({"--set", "batch_size=1", "--prompt-ids", "1", "--prompt-ids", "2"}),
         cli::kInputHasErrors, {"2 prompts", "batch_size is 1"});
  expect(golden_llama({"--block-size", "4", "--kv-blocks", "3", "--prompt-ids", "1,2,3,4,5,6,7,8,9",
                       "--max-new-tokens", "4"}),
         cli::kInputHasErrors, {"3 KV blocks of 4 rows", "2 are usable", "--kv-blocks 4"});
  expect(golden_llama({"--kv-blocks", "1", "--prompt-ids", "1"}), cli::kUsage,
         {"kv_blocks is 1", "at least 2"});
}

TEST_F(BadInput, LogitsFileThatCannotBeWritten) {
  const std::string file = write("plain", "a regular file");
  const Result r =
      golden_llama({"--prompt-ids", "1", "--max-new-tokens", "2", "--dump-logits", file + "/logits.json"});
  EXPECT_EQ(r.code, cli::kEnvironment) << r.err;
  EXPECT_EQ(errors_in(r.err), 1U) << r.err;
  EXPECT_NE(r.err.find("plain/logits.json"), std::string::npos) << r.err;
  EXPECT_EQ(read(file), "a regular file");
}

// ---- weights and config.json

TEST_F(BadInput, WeightsThatAreNotThere) {
  expect(run(llama(folder_ / "nowhere", {"--prompt-ids", "1"})), cli::kEnvironment,
         {"nowhere", "no such folder", "Hugging Face folder"});
  fs::create_directories(folder_ / "hollow");
  expect(run(llama(folder_ / "hollow", {"--prompt-ids", "1"})), cli::kInputHasErrors,
         {"hollow", "config.json"});
}

TEST_F(BadInput, TruncatedWeights) {
  const fs::path model = copy("llama");
  const auto size = fs::file_size(model / "model.safetensors");
  for (const uintmax_t keep : {size - 1, size / 2, uintmax_t{100}, uintmax_t{7}, uintmax_t{0}}) {
    fs::resize_file(model / "model.safetensors", keep);
    SCOPED_TRACE("cut to " + std::to_string(keep) + " bytes");
    expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors, {"model.safetensors"});
  }
}

TEST_F(BadInput, HeaderThatIsNonsense) {
  const fs::path model = copy("llama");
  std::string bytes = read(model / "model.safetensors");
  const uint64_t huge = ~uint64_t{0} / 2;
  std::memcpy(bytes.data(), &huge, 8);
  std::ofstream(model / "model.safetensors", std::ios::binary) << bytes;
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors, {"model.safetensors"});
}

TEST_F(BadInput, MissingTensor) {
  const fs::path model = copy("llama");
  edit_header(model / "model.safetensors", [](Json& h) {
    h["model.layers.1.self_attn.q_proj.renamed"] = h["model.layers.1.self_attn.q_proj.weight"];
    h.erase("model.layers.1.self_attn.q_proj.weight");
  });
  const Result r = run(llama(model, {"--prompt-ids", "1"}));
  expect(r, cli::kInputHasErrors, {"model.layers.1.self_attn.q_proj.weight"});
}

TEST_F(BadInput, MisshapenTensor) {
  const fs::path model = copy("llama");
  edit_header(model / "model.safetensors",
              [](Json& h) { h["model.layers.0.self_attn.q_proj.weight"]["shape"] = {32, 128}; });
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors,
         {"model.layers.0.self_attn.q_proj.weight", "[32, 128]", "[64, 64]"});
}

TEST_F(BadInput, MissingShard) {
  const fs::path model = copy("deepseek_v3");
  fs::remove(model / "model-00002-of-00002.safetensors");
  const Result r = run(llama(model, {"--prompt-ids", "1"}));
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.code, cli::kInternal);
  EXPECT_NE(r.err.find("model-00002-of-00002.safetensors"), std::string::npos) << r.err;
}

TEST_F(BadInput, ExtraTensor) {
  const fs::path model = copy("llama");
  edit_header(model / "model.safetensors", [](Json& h) {
    h["model.layers.9.extra.weight"] = h["model.norm.weight"];
    h["model.layers.9.extra.weight"]["shape"] = {0};
    const auto end = h["model.norm.weight"]["data_offsets"][1];
    h["model.layers.9.extra.weight"]["data_offsets"] = {end, end};
  });
  const Result lenient = run(llama(model, {"--prompt-ids", "1", "--max-new-tokens", "1"}));
  EXPECT_EQ(lenient.code, 0) << lenient.err;
  EXPECT_NE(lenient.err.find("warning: "), std::string::npos) << lenient.err;
  EXPECT_NE(lenient.err.find("model.layers.9.extra.weight"), std::string::npos) << lenient.err;
  expect(run(llama(model, {"--prompt-ids", "1", "--max-new-tokens", "1", "--strict"})), cli::kInputHasErrors,
         {"model.layers.9.extra.weight"});
}

TEST_F(BadInput, ConfigThatChangesTheMathematics) {
  const fs::path model = copy("llama");
  edit_config(model, [](Json& c) { c["sliding_window"] = 4096; });
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors,
         {"SK3018", "config.json", "`sliding_window`", "4096"});
  edit_config(model, [](Json& c) {
    c["sliding_window"] = nullptr;
    c["rope_scaling"] = {{"rope_type", "longrope"}, {"factor", 4.0}};
  });
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors,
         {"SK3016", "config.json", "rope_scaling", "longrope", "llama3"});
  edit_config(model, [](Json& c) {
    c["rope_scaling"] = nullptr;
    c["quantization_config"] = {{"quant_method", "fp8"}};
  });
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors,
         {"SK3018", "config.json", "`quantization_config`", "fp8"});
}

TEST_F(BadInput, ConfigThatIsBroken) {
  const fs::path model = copy("llama");
  std::ofstream(model / "config.json") << "{\"hidden_size\": 64, ";
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors, {"config.json:1:"});
  std::ofstream(model / "config.json") << "[1, 2]";
  expect(run(llama(model, {"--prompt-ids", "1"})), cli::kInputHasErrors, {"config.json"});
}

TEST_F(BadInput, ModeAgainstTheSchedule) {
  const Result r = run({(kSource / "examples" / "longcat.sk").string(), "--mode", "eager", "--set",
                        "enable_multi_streams=1", "--weights", (kGolden / "longcat_flash").string(),
                        "--prompt-ids", "1,2"});
  expect(r, cli::kInputHasErrors,
         {"SK3016", "enable_multi_streams > 0 needs exe_mode ge_graph", "exe_mode = eager"});
}

}  // namespace
}  // namespace skdsl
