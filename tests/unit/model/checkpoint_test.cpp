#include "runtime/model/checkpoint.h"

#include <cmath>
#include <limits>

#include "runtime/model/finite.h"
#include "runtime/model/hf_config.h"
#include "runtime/model/safetensors.h"
#include "runtime/model/tied_head.h"
#include "support.h"

namespace skdsl::model {
namespace fs = std::filesystem;
namespace {

using test::bytes_of;
using test::safetensors;
using test::TempDir;

/// The values of a golden request's last prompt token after the embedding: the embedding row itself, in
/// float64.
std::vector<double> golden_embedding(const Json& golden, int64_t& token) {
  const Json& request = golden.find("requests")->as_array()[0];
  token = request.find("prompt_ids")->as_array().back().as_int();
  const Json& hidden = *request.find("prefill")->find("hidden_after_embed_and_each_layer_last_token");
  std::vector<double> out;
  for (const Json& x : hidden.as_array()[0].as_array()) out.push_back(x.as_double());
  return out;
}

float value_at(const Tensor& t, int64_t i) {
  if (t.dtype() == SK_BF16) return to_f32(t.data<bf16>()[i]);
  return t.data<float>()[i];
}

void expect_embedding_matches(const fs::path& folder) {
  SCOPED_TRACE(folder.string());
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_OK(checkpoint);
  EXPECT_TRUE(checkpoint->has_weights());
  const auto text = read_file(folder / "golden.json");
  ASSERT_OK(text);
  const auto golden = parse_json(*text, "golden.json");
  ASSERT_OK(golden);
  int64_t token = 0;
  const std::vector<double> expected = golden_embedding(*golden, token);
  const auto embedding = checkpoint->tensor("model.embed_tokens.weight");
  ASSERT_OK(embedding);
  ASSERT_EQ(embedding->shape().size(), 2u);
  const int64_t width = embedding->shape()[1];
  ASSERT_EQ(static_cast<size_t>(width), expected.size());
  for (int64_t i = 0; i < width; ++i) {
    const double expected_value = expected[static_cast<size_t>(i)];
    EXPECT_NEAR(value_at(*embedding, token * width + i), expected_value,
                1e-6 * (1 + std::abs(expected_value)));
  }
}

TEST(Checkpoint, ReadsTheValuesThatTheGoldensWereMadeFrom) {
  for (const char* name : {"llama", "llama_awkward", "llama_bf16", "longcat_flash", "longcat_flash_awkward",
                           "longcat_flash_bf16", "deepseek_v3"}) {
    expect_embedding_matches(test::golden(name));
  }
  expect_embedding_matches(test::adder());
}

TEST(Checkpoint, KnowsDtypesAndShapesOfTheAdder) {
  const auto checkpoint = Checkpoint::open(test::adder());
  ASSERT_OK(checkpoint);
  int64_t parameters = 0;
  for (const TensorInfo& t : checkpoint->tensors()) {
    int64_t n = 1;
    for (const int64_t d : t.shape) n *= d;
    parameters += n;
    EXPECT_EQ(t.dtype, t.name.find("router") == t.name.npos ? SK_BF16 : SK_F32) << t.name;
  }
  EXPECT_EQ(parameters, 214'604);  // as its README says
  const TensorInfo* q = checkpoint->find("model.layers.0.self_attn.0.q_a_proj.weight");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->shape, (std::vector<int64_t>{32, 64}));
  EXPECT_EQ(checkpoint->find("absent"), nullptr);
  EXPECT_ERROR(checkpoint->tensor("absent"), "no tensor `absent`");
}

TEST(Checkpoint, ReadsShards) {
  const auto checkpoint = Checkpoint::open(test::golden("deepseek_v3"));
  ASSERT_OK(checkpoint);
  ASSERT_EQ(checkpoint->files().size(), 2u);
  const TensorInfo* first = checkpoint->find("lm_head.weight");
  const TensorInfo* second = checkpoint->find("model.norm.weight");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(checkpoint->file_of(*first).filename(), "model-00001-of-00002.safetensors");
  EXPECT_EQ(checkpoint->file_of(*second).filename(), "model-00002-of-00002.safetensors");
  EXPECT_OK(checkpoint->tensor("model.norm.weight"));
}

TEST(Checkpoint, TensorsOutliveTheCheckpoint) {
  Tensor norm;
  float before = 0;
  {
    const auto checkpoint = Checkpoint::open(test::golden("llama"));
    ASSERT_OK(checkpoint);
    norm = *checkpoint->tensor("model.norm.weight");
    before = norm.data<float>()[3];
  }
  EXPECT_EQ(norm.data<float>()[3], before);
}

const std::string kAB = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                        R"("b":{"dtype":"I8","shape":[1,3],"data_offsets":[8,11]}})";
const std::string kABData = bytes_of<float>({1.5f, -2.0f}) + bytes_of<int8_t>({1, 2, -3});

TEST(Checkpoint, OpensAFileAFolderOrTheOnlySafetensors) {
  const TempDir dir;
  const fs::path file = dir.write("odd_name.safetensors", safetensors(kAB, kABData));
  for (const fs::path& path : {file, dir.path()}) {
    const auto checkpoint = Checkpoint::open(path);
    ASSERT_OK(checkpoint);
    ASSERT_EQ(checkpoint->tensors().size(), 2u);
    EXPECT_EQ(checkpoint->tensor("a")->data<float>()[1], -2.0f);
    EXPECT_EQ(checkpoint->tensor("b")->data<int8_t>()[2], -3);
  }
  dir.write("another.safetensors", safetensors(kAB, kABData));
  EXPECT_ERROR(Checkpoint::open(dir.path()), "holds 2 .safetensors files");
  dir.write("model.safetensors", safetensors(kAB, kABData));
  EXPECT_OK(Checkpoint::open(dir.path()));
}

TEST(Checkpoint, AFolderWithOnlyAConfigHasNoWeights) {
  const TempDir dir;
  EXPECT_ERROR(Checkpoint::open(dir.path()), "neither .safetensors files nor config.json");
  dir.write("config.json", "{}");
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_OK(checkpoint);
  EXPECT_FALSE(checkpoint->has_weights());
  EXPECT_TRUE(checkpoint->tensors().empty());
  dir.write("pytorch_model.bin", "x");  // weights, but not for us: never taken for "no weights"
  EXPECT_ERROR(Checkpoint::open(dir.path()), "`pytorch_model.bin`");
  EXPECT_ERROR(Checkpoint::open(dir.path() / "absent"), "no such folder or file");
}

TEST(Checkpoint, CopiesWhatIsNotAligned) {
  const TempDir dir;
  const std::string header = R"({"x":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
                             R"("y":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},)"
                             R"("z":{"dtype":"I64","shape":[],"data_offsets":[11,19]}})";
  const std::string data =
      bytes_of<uint8_t>({1, 0, 1}) + bytes_of<float>({0.25f, 4.0f}) + bytes_of<int64_t>({-9});
  for (size_t pad = 0; pad < 8; ++pad) {
    const auto checkpoint =
        Checkpoint::open(dir.write("m.safetensors", safetensors(header + std::string(pad, ' '), data)));
    ASSERT_OK(checkpoint);
    EXPECT_EQ(checkpoint->tensor("y")->data<float>()[0], 0.25f);
    EXPECT_EQ(checkpoint->tensor("y")->data<float>()[1], 4.0f);
    EXPECT_EQ(checkpoint->tensor("z")->data<int64_t>()[0], -9);
    EXPECT_EQ(checkpoint->tensor("z")->shape(), std::vector<int64_t>{});
  }
}

TEST(Checkpoint, EmptyTensorsAreFine) {
  const TempDir dir;
  const std::string header = R"({"e":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]},)"
                             R"("f":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("g":{"dtype":"BF16","shape":[3,0],"data_offsets":[4,4]}})";
  const auto checkpoint =
      Checkpoint::open(dir.write("m.safetensors", safetensors(header, bytes_of<float>({7.0f}))));
  ASSERT_OK(checkpoint);
  EXPECT_EQ(checkpoint->tensor("e")->elements(), 0);
  EXPECT_EQ(checkpoint->tensor("g")->shape(), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(checkpoint->tensor("f")->data<float>()[0], 7.0f);
  EXPECT_OK(Checkpoint::open(dir.write("n.safetensors", safetensors("{}", ""))));
}

TEST(Checkpoint, UnsupportedTypesAreRefusedOnlyWhenUsed) {
  const TempDir dir;
  const std::string header = R"({"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
                             R"("q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[8,10]},)"
                             R"("r":{"dtype":"X9","shape":[3],"data_offsets":[10,12]},)"
                             R"("s":{"dtype":"I8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[12,13]}})";
  const auto checkpoint =
      Checkpoint::open(dir.write("m.safetensors", safetensors(header, std::string(13, 'x'))));
  ASSERT_OK(checkpoint);
  EXPECT_EQ(checkpoint->find("d")->dtype, SK_NONE);
  EXPECT_ERROR(checkpoint->tensor("d"), "tensor `d` is of type F64, which is not supported");
  EXPECT_ERROR(checkpoint->tensor("q"), "F8_E4M3");
  EXPECT_ERROR(checkpoint->tensor("r"), "X9");
  EXPECT_ERROR(checkpoint->tensor("r"), "m.safetensors");
  EXPECT_ERROR(checkpoint->tensor("s"), "9 dimensions");
}

TEST(Checkpoint, RefusesEveryLieOfAHeader) {
  const TempDir dir;
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
  };
  const std::string eight(8, '\0');
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  struct Case {
    const char* what;
    std::string file;
    const char* part;
  };
  const Case cases[] = {
      {"empty file", "", "0 bytes"},
      {"cut in the length", "\x10\0\0", "begins with 8 bytes"},
      {"cut in the header", safetensors(kAB, kABData).substr(0, 40), "the file has only 32"},
      {"length 2^63", safetensors("{}", "", 1ull << 63), "a header of 9223372036854775808 bytes"},
      {"length 2^64 - 1", safetensors("{}", "", ~0ull), "a header of 18446744073709551615 bytes"},
      {"length past the end", safetensors("{}", "", 3), "a header of 3 bytes"},
      {"no JSON", safetensors("hello", ""), "header:1:1"},
      {"JSON cut short", safetensors("{\"a\":", ""), "header:1:5"},
      {"not an object", safetensors("[1]", ""), "the header is a list"},
      {"entry is no object", safetensors(R"({"a":3})", ""),
       "tensor `a`: expected an object, found an integer"},
      {"no dtype", safetensors(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", eight), "as `dtype`"},
      {"dtype is a number", safetensors(one("1", "[2]", "[0,8]"), eight), "as `dtype`"},
      {"shape is missing", safetensors(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", eight), "as `shape`"},
      {"negative dim", safetensors(one("\"F32\"", "[-2]", "[0,8]"), eight), "as `shape`"},
      {"fractional dim", safetensors(one("\"F32\"", "[2.0]", "[0,8]"), eight), "as `shape`"},
      {"one offset", safetensors(one("\"F32\"", "[2]", "[8]"), eight), "as `data_offsets`"},
      {"offsets of 2^64", safetensors(one("\"F32\"", "[2]", "[0,18446744073709551616]"), eight),
       "as `data_offsets`"},
      {"backwards", safetensors(one("\"F32\"", "[2]", "[8,0]"), eight), "end before they begin"},
      {"out of the file", safetensors(one("\"F32\"", "[4]", "[0,16]"), eight), "reach past the 8 bytes"},
      {"far out", safetensors(one("\"F32\"", "[4]", "[0,9223372036854775807]"), eight),
       "reach past the 8 bytes"},
      {"wrong size", safetensors(one("\"F32\"", "[3]", "[0,8]"), eight), "needs 12 bytes"},
      {"wrong dtype", safetensors(one("\"BF16\"", "[2]", "[0,8]"), eight), "needs 4 bytes"},
      {"product overflows", safetensors(one("\"F32\"", "[4294967296,4294967296,4]", "[0,8]"), eight),
       "no size"},
      {"overflow beside zero", safetensors(one("\"F32\"", "[0,4294967296,4294967296,4]", "[0,0]"), ""),
       "no size"},
      {"overlap", safetensors("{" + a + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight),
       "tensors `a` and `b` overlap"},
      {"same place", safetensors("{" + a + R"(,"b":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}})", eight),
       "tensors `a` and `b` overlap"},
      {"hole",
       safetensors("{" + a + R"(,"b":{"dtype":"I8","shape":[1],"data_offsets":[9,10]}})",
                   std::string(10, 'x')),
       "no tensor owns data bytes 8 to 9"},
      {"bytes at the end", safetensors("{" + a + "}", eight + "xx"), "the last 2 of 10 data bytes"},
      {"duplicate", safetensors("{" + a + "," + a + "}", eight), "duplicate key `a`"},
      {"too deep", safetensors(std::string(5000, '['), ""), "more than 128 levels"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto result = Checkpoint::open(dir.write("bad.safetensors", c.file));
    EXPECT_ERROR(result, c.part);
    EXPECT_ERROR(result, (dir.path() / "bad.safetensors").string());
  }
}

TEST(Checkpoint, RefusesAFolderInPlaceOfAFile) {
  const TempDir dir;
  fs::create_directories(dir.path() / "model.safetensors");
  EXPECT_ERROR(Checkpoint::open(dir.path()), "it is a folder, not a file");
}

TEST(Checkpoint, IndexAndShardsMustAgree) {
  const std::string a = R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})";
  const std::string b = R"({"b":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})";
  struct Case {
    const char* what;
    const char* index;
    const char* part;
  };
  const Case cases[] = {
      {"good", R"({"metadata":{},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})", "(no error)"},
      {"missing shard", R"({"weight_map":{"a":"1.safetensors","b":"3.safetensors"}})",
       "shard `3.safetensors` is missing (it holds `b`)"},
      {"outside", R"({"weight_map":{"a":"../1.safetensors"}})", "inside the folder"},
      {"outside by a detour", R"({"weight_map":{"a":"x/../../1.safetensors"}})", "inside the folder"},
      {"absolute", R"({"weight_map":{"a":"/etc/passwd"}})", "inside the folder"},
      {"empty name", R"({"weight_map":{"a":""}})", "inside the folder"},
      {"not in the index", R"({"weight_map":{"a":"1.safetensors","c":"2.safetensors"}})",
       "`b` is in shard `2.safetensors` but not in the index"},
      {"not in the shard", R"({"weight_map":{"a":"1.safetensors","c":"1.safetensors","b":"2.safetensors"}})",
       "`c` is not in shard `1.safetensors`"},
      {"in another shard", R"({"weight_map":{"a":"2.safetensors","b":"1.safetensors"}})",
       "`a` is in shard `1.safetensors`; the index says `2.safetensors`"},
      {"no map", R"({"metadata":{}})", "an object `weight_map`"},
      {"map of numbers", R"({"weight_map":{"a":1}})", "weight_map of `a` is an integer"},
      {"empty map", R"({"weight_map":{}})", "names no tensor"},
      {"twice", R"({"weight_map":{"a":"1.safetensors","a":"2.safetensors"}})", "duplicate key `a`"},
      {"no JSON", "x", "index.json:1:1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const TempDir dir;
    dir.write("1.safetensors", safetensors(a, "x"));
    dir.write("2.safetensors", safetensors(b, "y"));
    dir.write("model.safetensors.index.json", c.index);
    EXPECT_ERROR(Checkpoint::open(dir.path()), c.part);
  }
  const TempDir dir;
  dir.write("1.safetensors", safetensors(a, "x"));
  dir.write("2.safetensors", safetensors(a, "y"));
  dir.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  EXPECT_ERROR(Checkpoint::open(dir.path()), "tensor `a` is in two shards");
}

TEST(Checkpoint, ForeignFormatsSayWhatToDo) {
  for (const auto& [name, what] : std::vector<std::pair<const char*, const char*>>{
           {"pytorch_model-00001-of-00002.bin", "is a PyTorch pickle"},
           {"model.bin", "save_pretrained"},
           {"consolidated.00.pth", "is a PyTorch pickle"},
           {"weights.pt", "is a PyTorch pickle"},
           {"last.ckpt", "is a PyTorch pickle"},
           {"tf_model.h5", "is a Keras file"},
           {"flax_model.msgpack", "is a Flax file"},
           {"q4.gguf", "is a GGUF file"}}) {
    const TempDir dir;
    dir.write("config.json", "{}");
    dir.write(name, "x");
    EXPECT_ERROR(Checkpoint::open(dir.path()), "`" + std::string(name) + "`");
    EXPECT_ERROR(Checkpoint::open(dir.path()), what);
    EXPECT_ERROR(Checkpoint::open(dir.path()), "help: convert them to .safetensors");
  }
}

TEST(Checkpoint, LinksThatLeadNowhereAreNotAbsentFiles) {
  const TempDir dir;
  fs::create_symlink("loop", dir.path() / "loop");
  EXPECT_ERROR(Checkpoint::open(dir.path() / "loop"), "too many levels of symbolic links");
  fs::create_symlink("model.safetensors", dir.path() / "model.safetensors");
  EXPECT_ERROR(Checkpoint::open(dir.path()), "too many levels of symbolic links");
  EXPECT_ERROR(Checkpoint::open(dir.path()), "model.safetensors");
  // As in a cache of the hub: links out of the folder are fine when they lead somewhere.
  const TempDir cache;
  fs::create_symlink(dir.write("blob", safetensors(kAB, kABData)), cache.path() / "model.safetensors");
  EXPECT_OK(Checkpoint::open(cache.path()));
  const TempDir sharded;
  sharded.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors"}})");
  fs::create_symlink("1.safetensors", sharded.path() / "1.safetensors");
  EXPECT_ERROR(Checkpoint::open(sharded.path()), "1.safetensors`: too many levels of symbolic links");
}

TEST(Checkpoint, UnreadableFilesSayWhy) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root reads everything";
  const TempDir dir;
  fs::permissions(dir.write("model.safetensors", safetensors(kAB, kABData)), fs::perms::none);
  EXPECT_ERROR(Checkpoint::open(dir.path()), "model.safetensors`: permission denied");
}

TEST(NonFinite, CountsAndFindsInEachType) {
  const auto look = [](sk_dtype dtype, const std::string& bytes) {
    const auto found = non_finite(dtype, std::as_bytes(std::span(bytes)));
    return found ? describe(*found) : "fine";
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(look(SK_F32, bytes_of<float>({1, -0.0f, 3e38f, 1e-45f})), "fine");
  EXPECT_EQ(look(SK_F32, bytes_of<float>({1, std::nanf(""), 2})), "1 NaN value, the first is element 1");
  EXPECT_EQ(look(SK_F32, bytes_of<float>({inf, -inf})), "2 infinite values, the first is element 0");
  EXPECT_EQ(look(SK_BF16, bytes_of<uint16_t>({0x7f7f, 0xff80})), "1 infinite value, the first is element 1");
  EXPECT_EQ(look(SK_BF16, bytes_of<uint16_t>({0x7f81})), "1 NaN value, the first is element 0");
  EXPECT_EQ(look(SK_F16, bytes_of<uint16_t>({0x7bff, 0xfe00, 0x7c00})),
            "1 NaN and 1 infinite values, the first is element 1");
  EXPECT_EQ(look(SK_I32, bytes_of<float>({inf})), "fine");
  EXPECT_EQ(look(SK_F32, ""), "fine");
  // Far in, beyond whole blocks, in bytes that are not aligned.
  std::vector<float> many(100'001, 1.0f);
  many.back() = inf;
  const std::string shifted = "x" + bytes_of(many);
  const auto found = non_finite(SK_F32, std::as_bytes(std::span(shifted)).subspan(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 100'000);
}

TEST(TiedHead, AHeadThatDiffersIsRefused) {
  const std::string header =
      R"({"model.embed_tokens.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("lm_head.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
  const TempDir dir;
  const auto check = [&](const std::string& file) {
    const auto checkpoint = Checkpoint::open(dir.write("m.safetensors", file));
    return checkpoint ? check_tied_head(*checkpoint, "config.json") : tl::unexpected(checkpoint.error());
  };
  EXPECT_OK(check(safetensors(header, bytes_of<float>({2, 2}))));
  const auto differs = check(safetensors(header, bytes_of<float>({2, 3})));
  EXPECT_ERROR(differs, "config.json sets `tie_word_embeddings` to true, but `lm_head.weight` in");
  EXPECT_ERROR(differs, "true is supported where");
  EXPECT_OK(
      check(safetensors(R"({"lm_head.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd")));
}

TEST(Safetensors, ReadsTheHeaderThatItWrites) {
  std::vector<TensorInfo> infos(2);
  infos[0] = {.name = "w \"quoted\"", .dtype = SK_F32, .dtype_name = "F32", .shape = {2, 3}, .bytes = 24};
  infos[1] = {.name = "v", .dtype = SK_BF16, .dtype_name = "BF16", .shape = {}, .bytes = 2};
  const std::string file = safetensors_header(infos) + std::string(26, 'x');
  const auto back = read_safetensors_header(std::as_bytes(std::span(file)), "f");
  ASSERT_OK(back);
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].name, infos[0].name);
  EXPECT_EQ((*back)[0].shape, infos[0].shape);
  EXPECT_EQ((*back)[0].offset % 8, 0u);
  EXPECT_EQ((*back)[1].offset, (*back)[0].offset + 24);
}

TEST(HfConfig, ReadsConfigsAndEndTokens) {
  const auto llama = read_hf_config(test::golden("llama"));
  ASSERT_OK(llama);
  EXPECT_EQ(llama->find("hidden_size")->as_int(), 64);
  EXPECT_EQ(eos_token_ids(*llama), std::vector<int64_t>{2});
  EXPECT_OK(read_hf_config(test::golden("llama") / "model.safetensors"));

  const auto ids = [](const char* text) { return eos_token_ids(*parse_json(text, "f")); };
  EXPECT_EQ(ids(R"({"eos_token_id":[3,5]})"), (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(ids(R"({"eos_token_id":null})"), std::vector<int64_t>{});
  EXPECT_EQ(ids("{}"), std::vector<int64_t>{});
  EXPECT_EQ(ids(R"({"text_config":{"eos_token_id":7}})"), std::vector<int64_t>{7});
  EXPECT_EQ(ids(R"({"text_config":{}})"), std::vector<int64_t>{});
}

TEST(HfConfig, GenerationConfigDecidesWhenItNamesEndTokens) {
  const TempDir dir;
  dir.write("config.json", R"({"eos_token_id":1})");
  const auto config = read_hf_config(dir.path());
  ASSERT_OK(config);
  EXPECT_EQ(stop_token_ids(dir.path(), *config).value(), std::vector<int64_t>{1});
  dir.write("generation_config.json", R"({"temperature":0.7})");
  EXPECT_EQ(stop_token_ids(dir.path(), *config).value(), std::vector<int64_t>{1});
  dir.write("generation_config.json", R"({"eos_token_id":[4,9]})");
  EXPECT_EQ(stop_token_ids(dir.path(), *config).value(), (std::vector<int64_t>{4, 9}));
  dir.write("generation_config.json", R"({"eos_token_id":"</s>"})");
  EXPECT_ERROR(stop_token_ids(dir.path(), *config), "generation_config.json`: eos_token_id is \"</s>\"");
}

TEST(HfConfig, BadConfigsAreClearErrors) {
  const TempDir dir;
  EXPECT_ERROR(read_hf_config(dir.path()), "config.json`: no such file");
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"[]", "expected an object, found a list"},
           {"{\"a\":1", "config.json:1:6"},
           {R"({"eos_token_id":-1})", "eos_token_id is -1"},
           {R"({"eos_token_id":[1,"x"]})", "eos_token_id is [1,\"x\"]"},
           {R"({"eos_token_id":1.5})", "eos_token_id is 1.5"}}) {
    dir.write("config.json", text);
    EXPECT_ERROR(read_hf_config(dir.path()), part);
  }
}

}  // namespace
}  // namespace skdsl::model
