// Broken checkpoints: `run` and `import` end with one error that names the file and the tensor.
#include <unistd.h>

#include "tests/models/broken_folder.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";
constexpr const char* kNorm = "model.norm.weight";

struct Case {
  const char* name;
  const char* golden;
  std::function<void(const BrokenFolder&)> spoil;
  std::vector<std::string> says;
  int exit = 1;
};

std::string little_endian(uint64_t n) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &n, sizeof n);
  return out;
}

/// Writes `bits` as the float at element `i` of a tensor.
void poke(const BrokenFolder& f, const std::string& file, const std::string& tensor, size_t i,
          uint32_t bits) {
  f.edit_weights(file, [&](Json& header, std::string& data) {
    const auto begin =
        static_cast<size_t>(entry(header, tensor).find("data_offsets")->as_array()[0].as_int());
    std::memcpy(data.data() + begin + 4 * i, &bits, sizeof bits);
  });
}

/// Changes an entry of the header of llama's one file.
std::function<void(const BrokenFolder&)> header(std::function<void(Json& header)> edit) {
  return [edit](const BrokenFolder& f) {
    f.edit_weights("model.safetensors", [&](Json& h, std::string&) { edit(h); });
  };
}

std::function<void(const BrokenFolder&)> index(std::function<void(Json& weight_map)> edit) {
  return [edit](const BrokenFolder& f) {
    f.edit_json(kIndex, [&](Json& json) {
      Json map = *json.find("weight_map");
      edit(map);
      json.set("weight_map", map);
    });
  };
}

std::string whole(const BrokenFolder& f) { return f.read("model.safetensors"); }

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"missing tensor",
       "llama",
       header([](Json& h) {
         // Renamed, so that its bytes still have an owner.
         for (auto& [name, value] : h.as_object())
           if (name == kNorm) name = "model.normm.weight";
       }),
       {"1 tensor missing", "missing: `model.norm.weight`", "did you mean `model.normm.weight`?",
        "/llama` does not fit the model"}},
      {"misshapen",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("shape", Json::Array{32, 2}); }),
       {"`model.norm.weight` in", "model.safetensors` is F32[32, 2], expected [64]"}},
      {"integers for floats",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("dtype", "I32"); }),
       {"`model.norm.weight` in", "is I32[64], expected a float type"}},
      {"unknown dtype",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("dtype", "F33"); }),
       {"`model.norm.weight` in", "is F33[64], of a type that is not supported"}},
      {"dtype of another size",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("dtype", "BF16"); }),
       {"model.safetensors`: tensor `model.norm.weight`", "needs 128 bytes"}},
      {"dtype no string",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("dtype", 5); }),
       {"model.safetensors`: tensor `model.norm.weight`", "expected a string as `dtype`"}},
      {"zero-size tensor",
       "llama",
       [](const BrokenFolder& f) {
         f.edit_weights("model.safetensors", [](Json& h, std::string& data) {
           // The last tensor of the data, so that no hole is left.
           std::string last;
           int64_t end = -1;
           for (const auto& [name, value] : h.as_object())
             if (const Json* range = value.find("data_offsets"); range && range->as_array()[1].as_int() > end)
               last = name, end = range->as_array()[1].as_int();
           Json& e = entry(h, last);
           const int64_t begin = e.find("data_offsets")->as_array()[0].as_int();
           e.set("shape", Json::Array{0});
           e.set("data_offsets", Json::Array{begin, begin});
           data.resize(static_cast<size_t>(begin));
         });
       },
       {"is F32[0], expected", "model.safetensors`"}},
      {"negative size",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("shape", Json::Array{-64}); }),
       {"tensor `model.norm.weight`", "non-negative integers as `shape`"}},
      {"size that overflows",
       "llama",
       header(
           [](Json& h) { entry(h, kNorm).set("shape", Json::Array{int64_t{1} << 32, int64_t{1} << 32, 4}); }),
       {"tensor `model.norm.weight`", "no size that can be stored"}},
      {"overlap",
       "llama",
       header([](Json& h) {
         const Json range = *entry(h, "lm_head.weight").find("data_offsets");
         const int64_t begin = range.as_array()[0].as_int();
         entry(h, kNorm).set("data_offsets", Json::Array{begin, begin + 256});
       }),
       {"model.safetensors`: tensors `model.norm.weight` and `lm_head.weight` overlap"}},
      {"out of the file",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("data_offsets", Json::Array{1 << 30, (1 << 30) + 256}); }),
       {"tensor `model.norm.weight`", "reach past the"}},
      {"backwards",
       "llama",
       header([](Json& h) { entry(h, kNorm).set("data_offsets", Json::Array{256, 0}); }),
       {"tensor `model.norm.weight`", "end before they begin"}},
      {"hole", "llama", header([](Json& h) { erase(h, kNorm); }), {"model.safetensors`: no tensor owns"}},
      {"bytes behind the end",
       "llama",
       [](const BrokenFolder& f) { f.write("model.safetensors", whole(f) + "12345"); },
       {"model.safetensors`: no tensor owns the last 5"}},
      {"duplicate in a header",
       "llama",
       [](const BrokenFolder& f) {
         std::string bytes = whole(f);
         uint64_t length = 0;
         std::memcpy(&length, bytes.data(), 8);
         const std::string again = ",\"model.norm.weight\":{}}";
         const size_t end = bytes.rfind('}', 8 + length - 1);
         bytes.replace(end, 1, again);
         f.write("model.safetensors", little_endian(length + again.size() - 1) + bytes.substr(8));
       },
       {"model.safetensors`: header", "duplicate key `model.norm.weight`"}},
      {"header of 2^63 bytes",
       "llama",
       [](const BrokenFolder& f) {
         f.write("model.safetensors", little_endian(1ull << 63) + whole(f).substr(8));
       },
       {"model.safetensors`: a header of 9223372036854775808 bytes"}},
      {"header that is no JSON",
       "llama",
       [](const BrokenFolder& f) { f.write("model.safetensors", little_endian(4) + "nope"); },
       {"model.safetensors`: header:1:"}},
      {"cut in the data",
       "llama",
       [](const BrokenFolder& f) { f.write("model.safetensors", whole(f).substr(0, whole(f).size() - 100)); },
       {"model.safetensors`: tensor `", "the file is cut short"}},
      {"cut in the header",
       "llama",
       [](const BrokenFolder& f) { f.write("model.safetensors", whole(f).substr(0, 100)); },
       {"model.safetensors`: a header of", "but the file has only 92"}},
      {"empty file",
       "llama",
       [](const BrokenFolder& f) { f.write("model.safetensors", ""); },
       {"model.safetensors`: 0 bytes"}},
      {"NaN",
       "llama",
       [](const BrokenFolder& f) { poke(f, "model.safetensors", kNorm, 7, 0x7fc00000); },
       {"1 tensor with NaN or infinite values", "`model.norm.weight` in",
        "model.safetensors` has 1 NaN value, the first is element 7"}},
      {"infinity in a shard",
       "deepseek_v3",
       [](const BrokenFolder& f) { poke(f, kSecond, kNorm, 0, 0xff800000); },
       {"`model.norm.weight` in", std::string(kSecond) + "` has 1 infinite value, the first is element 0"}},
      {"not a file",
       "llama",
       [](const BrokenFolder& f) {
         f.remove("model.safetensors");
         fs::create_directory(f / "model.safetensors");
       },
       {"model.safetensors`: it is a folder, not a file"},
       3},
      {"a link in a circle",
       "llama",
       [](const BrokenFolder& f) {
         f.remove("model.safetensors");
         fs::create_symlink("model.safetensors", f / "model.safetensors");
       },
       {"model.safetensors`: too many levels of symbolic links"},
       3},
      {"pickle alone",
       "llama",
       [](const BrokenFolder& f) {
         f.remove("model.safetensors");
         f.write("pytorch_model.bin", "x");
       },
       {"`pytorch_model.bin` is a PyTorch pickle", "convert them to .safetensors"}},
      {"GGUF alone",
       "llama",
       [](const BrokenFolder& f) {
         f.remove("model.safetensors");
         f.write("model-q4.gguf", "x");
       },
       {"`model-q4.gguf` is a GGUF file", "Hugging Face folder"}},
      {"empty folder",
       "llama",
       [](const BrokenFolder& f) {
         for (const char* name : {"model.safetensors", "config.json", "golden.json"}) f.remove(name);
       },
       {"holds neither .safetensors files nor config.json"}},
      {"two files, no index",
       "deepseek_v3",
       [](const BrokenFolder& f) { f.remove(kIndex); },
       {"holds 2 .safetensors files", "but no model.safetensors.index.json"}},
      {"missing shard",
       "deepseek_v3",
       [](const BrokenFolder& f) { f.remove(kSecond); },
       {kIndex, "shard `model-00002-of-00002.safetensors` is missing"}},
      {"index up and out",
       "deepseek_v3",
       index([](Json& map) { map.set(kNorm, "../model.safetensors"); }),
       {kIndex, "sends `model.norm.weight` to `../model.safetensors`"}},
      {"absolute index",
       "deepseek_v3",
       index([](Json& map) { map.set(kNorm, "/etc/hostname"); }),
       {kIndex, "sends `model.norm.weight` to `/etc/hostname`"}},
      {"index names another shard",
       "deepseek_v3",
       index([](Json& map) { map.set(kNorm, kFirst); }),
       {kIndex, "`model.norm.weight` is in shard `model-00002-of-00002.safetensors`"}},
      {"not in the index",
       "deepseek_v3",
       index([](Json& map) { erase(map, kNorm); }),
       {kIndex, "`model.norm.weight` is in shard", "but not in the index"}},
      {"only in the index",
       "deepseek_v3",
       index([](Json& map) { map.set("ghost", kFirst); }),
       {kIndex, "`ghost` is not in shard `model-00001-of-00002.safetensors`"}},
      {"index with numbers",
       "deepseek_v3",
       index([](Json& map) { map.set(kNorm, 2); }),
       {kIndex, "weight_map of `model.norm.weight` is an integer"}},
      {"in two shards",
       "deepseek_v3",
       [](const BrokenFolder& f) {
         f.edit_weights(kFirst, [](Json& h, std::string& data) {
           const auto at = static_cast<int64_t>(data.size());
           h.set(kNorm,
                 Json::Object{
                     {"dtype", "F32"}, {"shape", Json::Array{1}}, {"data_offsets", Json::Array{at, at + 4}}});
           data += "abcd";
         });
       },
       {"tensor `model.norm.weight` is in two shards", kFirst, kSecond}},
      {"index that is no JSON", "deepseek_v3", [](const BrokenFolder& f) { f.write(kIndex, "{"); }, {kIndex}},
  };
  return kCases;
}

class BadCheckpoint : public ::testing::TestWithParam<size_t> {};

TEST_P(BadCheckpoint, IsOneClearError) {
  const Case& c = cases()[GetParam()];
  SCOPED_TRACE(c.name);
  const BrokenFolder folder(c.golden);
  c.spoil(folder);
  const std::string model = source_path(std::string("examples/") + c.golden + ".sk");
  const std::vector<std::vector<std::string>> commands = {
      {"run", model, "--weights", folder.path(), "--prompt-ids", "1,2", "--max-new-tokens", "2"},
      {"run", model, "--weights", folder.path(), "--prompt-ids", "1,2", "--mode", "ge_graph", "--json"},
      {"import", folder.path()},
      {"import", folder.path(), "--json"}};
  for (const auto& command : commands) {
    const CommandResult r = run_command(command);
    EXPECT_EQ(r.exit, c.exit) << r.err;
    size_t errors = 0;
    for (size_t at = r.err.find("error"); at != r.err.npos; at = r.err.find("\nerror", at + 1)) ++errors;
    EXPECT_EQ(errors, 1u) << r.err;
    for (const std::string& part : c.says)
      EXPECT_NE(r.err.find(part), r.err.npos) << part << " is not in " << r.err;
    EXPECT_EQ(r.err.find("internal"), r.err.npos) << r.err;
    if (command.back() == "--json") {
      const auto document = parse_json(r.out, "output");
      ASSERT_TRUE(document.has_value()) << r.out;
      ASSERT_NE(document->find("error"), nullptr);
      EXPECT_NE(r.err.find(document->find("error")->find("message")->as_string()), r.err.npos);
    } else {
      EXPECT_EQ(r.out, "");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Cases, BadCheckpoint, ::testing::Range<size_t>(0, cases().size()));

TEST(BadCheckpointExtra, ATensorThatNobodyReadsIsAWarningAndAnErrorUnderStrict) {
  const BrokenFolder folder("llama");
  folder.edit_weights("model.safetensors", [](Json& h, std::string& data) {
    const auto at = static_cast<int64_t>(data.size());
    h.set(
        "surplus",
        Json::Object{{"dtype", "F32"}, {"shape", Json::Array{1}}, {"data_offsets", Json::Array{at, at + 4}}});
    data += std::string("\0\0\xc0\x7f", 4);  // a NaN that does not matter
  });
  const std::vector<std::vector<std::string>> commands = {
      {"run", source_path("examples/llama.sk"), "--weights", folder.path(), "--prompt-ids", "1"},
      {"import", folder.path()}};
  for (std::vector<std::string> command : commands) {
    const CommandResult warned = run_command(command);
    EXPECT_EQ(warned.exit, 0) << warned.err;
    EXPECT_NE(warned.err.find("warning: `surplus` in `" + folder.path()), warned.err.npos) << warned.err;
    command.push_back("--strict");
    const CommandResult strict = run_command(command);
    EXPECT_EQ(strict.exit, 1);
    EXPECT_NE(strict.err.find("`surplus` in `" + folder.path()), strict.err.npos) << strict.err;
  }
}

TEST(BadCheckpointAccess, AFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root reads everything";
  const BrokenFolder folder("llama");
  fs::permissions(folder / "model.safetensors", fs::perms::none);
  const CommandResult r = run_command({"import", folder.path()});
  EXPECT_EQ(r.exit, 3);
  EXPECT_NE(r.err.find("model.safetensors`: permission denied"), r.err.npos) << r.err;
}

}  // namespace
}  // namespace skdsl::testing
