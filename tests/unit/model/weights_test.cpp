#include "runtime/model/weights.h"

#include <cmath>
#include <limits>
#include <set>

#include "runtime/model/hf_config.h"
#include "runtime/model/synthetic.h"
#include "support.h"

namespace skdsl::model {
namespace fs = std::filesystem;
namespace {

using plan::DType;
using test::bytes_of;
using test::safetensors;
using test::TempDir;
using test::weight;

Checkpoint open(const fs::path& path) {
  auto checkpoint = Checkpoint::open(path);
  EXPECT_OK(checkpoint);
  return std::move(*checkpoint);
}

/// Two experts of two matrices each, a head, a bias in another dtype.
TempDir& small_folder() {
  static TempDir dir;
  static const bool written = [] {
    const std::string header = R"({
      "e.0.g":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},
      "e.0.u":{"dtype":"F32","shape":[1,2],"data_offsets":[16,24]},
      "e.1.g":{"dtype":"F32","shape":[2,2],"data_offsets":[24,40]},
      "e.1.u":{"dtype":"F32","shape":[1,2],"data_offsets":[40,48]},
      "head":{"dtype":"BF16","shape":[2,2],"data_offsets":[48,56]},
      "half":{"dtype":"F16","shape":[2],"data_offsets":[56,60]},
      "int":{"dtype":"I8","shape":[4],"data_offsets":[60,64]}})";
    std::vector<float> floats(12);
    for (size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i) + 0.5f;
    const std::string data = bytes_of(floats) +
                             bytes_of<uint16_t>({0x3f80, 0x4000, 0xc040, 0x3e80}) +  // 1, 2, -3, .25
                             bytes_of<uint16_t>({0x3c00, 0xc500}) +                  // 1, -5
                             bytes_of<int8_t>({1, -2, 3, -4});
    dir.write("model.safetensors", safetensors(header, data));
    return true;
  }();
  EXPECT_TRUE(written);
  return dir;
}

std::vector<float> floats_of(const Tensor& t) { return {t.data<float>(), t.data<float>() + t.elements()}; }

TEST(Weights, AssemblesConcatenatedAndStackedSources) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.weights = {
      weight("joined", DType::Stored, {3, 2}, {{"e.0.g", "e.0.u"}}),
      weight("stack", DType::Stored, {2, 2, 2}, {{"e.0.g"}, {"e.1.g"}}, true),
      weight("both", DType::Stored, {2, 3, 2}, {{"e.0.u", "e.0.g"}, {"e.1.u", "e.1.g"}}, true),
      weight("stack_of_one", DType::Stored, {1, 2, 2}, {{"e.1.g"}}, true),
      weight("stack_of_none", DType::Stored, {0, 2, 2}, {}, true),
  };
  program.unused_sources = {"h*", "int"};
  const auto weights = Weights::load(program, &checkpoint, {.strict = true});
  ASSERT_OK(weights);
  EXPECT_EQ(floats_of(*weights->find("joined")), (std::vector<float>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}));
  EXPECT_EQ(weights->find("joined")->shape(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(floats_of(*weights->find("stack")), (std::vector<float>{0.5, 1.5, 2.5, 3.5, 6.5, 7.5, 8.5, 9.5}));
  EXPECT_EQ(weights->find("stack")->shape(), (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(floats_of(*weights->find("both")),
            (std::vector<float>{4.5, 5.5, 0.5, 1.5, 2.5, 3.5, 10.5, 11.5, 6.5, 7.5, 8.5, 9.5}));
  EXPECT_EQ(weights->find("stack_of_one")->shape(), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(weights->find("stack_of_none")->elements(), 0);
  EXPECT_EQ(weights->find("absent"), nullptr);
  EXPECT_EQ(weights->total_bytes(), 24u + 32u + 48u + 16u);
  EXPECT_EQ(weights->allocated_bytes(), 24u + 32u + 48u);
  EXPECT_TRUE(weights->warnings().empty());
}

TEST(Weights, ConvertsTypedWeightsAndKeepsStoredOnes) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.weights = {
      weight("stored", DType::Stored, {2, 2}, {{"head"}}),
      weight("typed", DType::F32, {2, 2}, {{"head"}}),
      weight("half", DType::F32, {2}, {{"half"}}),
      weight("down", DType::BF16, {2, 2}, {{"e.0.g"}}),
      weight("f16", DType::F16, {2, 2}, {{"head"}}),
      weight("int", DType::I8, {4}, {{"int"}}),
      weight("mixed", DType::F32, {4, 2}, {{"head", "e.0.g"}}),
  };
  const auto weights = Weights::load(program, &checkpoint, {});
  ASSERT_OK(weights);
  EXPECT_EQ(weights->find("stored")->dtype(), SK_BF16);
  EXPECT_EQ(floats_of(*weights->find("typed")), (std::vector<float>{1, 2, -3, 0.25}));
  EXPECT_EQ(floats_of(*weights->find("half")), (std::vector<float>{1, -5}));
  EXPECT_EQ(weights->find("down")->dtype(), SK_BF16);
  EXPECT_EQ(to_f32(weights->find("down")->data<bf16>()[3]), 3.5f);
  EXPECT_EQ(to_f32(weights->find("f16")->data<f16>()[2]), -3.0f);
  EXPECT_EQ(weights->find("int")->data<int8_t>()[3], -4);
  EXPECT_EQ(floats_of(*weights->find("mixed")), (std::vector<float>{1, 2, -3, 0.25, 0.5, 1.5, 2.5, 3.5}));
}

TEST(Weights, JoinsTheExpertsOfTheAdder) {
  const Checkpoint checkpoint = open(test::adder());
  const std::string base = "model.layers.1.mlp.";
  std::vector<std::vector<std::string>> rows;
  for (int e = 0; e < 4; ++e) {
    const std::string expert = base + "experts." + std::to_string(e);
    rows.push_back({expert + ".gate_proj.weight", expert + ".up_proj.weight"});
  }
  plan::Program program;
  program.weights = {weight("w13", DType::Stored, {4, 80, 64}, rows, true),
                     weight("router", DType::F32, {6, 64}, {{base + "router.classifier.weight"}})};
  const auto weights = Weights::load(program, &checkpoint, {});
  ASSERT_OK(weights);
  const Tensor* w13 = weights->find("w13");
  EXPECT_EQ(w13->dtype(), SK_BF16);
  const auto* at = w13->data<std::byte>();
  for (const auto& row : rows)
    for (const std::string& name : row) {
      const auto part = checkpoint.bytes(*checkpoint.find(name));
      EXPECT_EQ(std::memcmp(at, part.data(), part.size()), 0) << name;
      at += part.size();
    }
  EXPECT_EQ(at - w13->data<std::byte>(), w13->bytes());
  EXPECT_EQ(weights->allocated_bytes(), static_cast<uint64_t>(w13->bytes()));  // the router stays mapped
  EXPECT_FALSE(weights->warnings().empty());
}

TEST(Weights, TiedWeightsShareTheMappedBytes) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.weights = {weight("embed.w", DType::Stored, {2, 2}, {{"head"}}),
                     weight("head.w", DType::Stored, {2, 2}, {{"head"}}),
                     weight("j1", DType::Stored, {3, 2}, {{"e.0.g", "e.0.u"}}),
                     weight("j2", DType::Stored, {3, 2}, {{"e.0.g", "e.0.u"}})};
  const auto weights = Weights::load(program, &checkpoint, {});
  ASSERT_OK(weights);
  EXPECT_EQ(weights->find("embed.w")->view.data, weights->find("head.w")->view.data);
  EXPECT_EQ(static_cast<const void*>(weights->find("head.w")->view.data),
            static_cast<const void*>(checkpoint.bytes(*checkpoint.find("head")).data()));
  EXPECT_EQ(weights->find("j1")->view.data, weights->find("j2")->view.data);
  EXPECT_EQ(weights->total_bytes(), 8u + 24u);
}

TEST(Weights, OneErrorTellsAllThatIsWrong) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.files = {"", "model.sk"};
  program.weights = {
      weight("gone", DType::Stored, {2, 2}, {{"haed"}}),
      weight("gone_too", DType::Stored, {2, 2}, {{"something.else.entirely"}}),
      weight("shape", DType::Stored, {2, 3}, {{"head"}}),
      weight("rank", DType::Stored, {4}, {{"e.0.g"}}),
      weight("sum", DType::Stored, {4, 2}, {{"e.0.g", "e.0.u"}}),
      weight("tail", DType::Stored, {3, 7}, {{"e.0.g", "e.0.u"}}),
      weight("mixed", DType::Stored, {2, 2, 2}, {{"e.0.g"}, {"head"}}, true),
      weight("int", DType::F32, {4}, {{"int"}}),
      weight("rows", DType::Stored, {3, 2, 2}, {{"e.0.g"}, {"e.1.g"}}, true),
      weight("good", DType::Stored, {2}, {{"half"}}),
  };
  program.weights[2].loc = {1, 12, 3, 5};
  // `head` is read by "shape", so the nearest unread name for `haed` must be another; give it one.
  program.weights[2].sources = {{"e.1.u"}};
  program.weights[6].sources = {{"e.0.g"}, {"e.1.x"}};
  const auto result = Weights::load(program, &checkpoint, {});
  ASSERT_FALSE(result.has_value());
  const std::string where = (small_folder().path() / "model.safetensors").string();
  EXPECT_ERROR(result,
               "`" + small_folder().path().string() + "` does not fit the model: 3 tensors missing, 7 of");
  EXPECT_ERROR(result, "missing: `haed`, for weight `gone`; did you mean `head`?");
  EXPECT_ERROR(result, "missing: `something.else.entirely`, for weight `gone_too`\n");
  EXPECT_ERROR(result, "missing: `e.1.x`, for weight `mixed`");
  EXPECT_ERROR(
      result, "`e.1.u` in `" + where + "` is F32[1, 2], expected [2, 3], for weight `shape` (model.sk:12:3)");
  EXPECT_ERROR(result, "`e.0.g` in `" + where + "` is F32[2, 2], expected [4], for weight `rank`");
  EXPECT_ERROR(result, "joined on axis 0 they give 3 rows, expected [4, 2], for weight `sum`");
  EXPECT_ERROR(result, "is F32[1, 2], expected […, 7], for weight `tail`");
  EXPECT_ERROR(result, "`int` in `" + where + "` is I8[4], expected f32, for weight `int`");
  EXPECT_ERROR(result, "weight `rows` is [3, 2, 2], but has sources for 2 rows");
  EXPECT_EQ(test::error_text(result).find("`good`"), std::string::npos);
}

TEST(Weights, StoredSourcesMustHaveOneDtype) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.weights = {weight("mixed", DType::Stored, {2, 2, 2}, {{"e.0.g"}, {"head"}}, true)};
  EXPECT_ERROR(Weights::load(program, &checkpoint, {}), "`head` in");
  EXPECT_ERROR(Weights::load(program, &checkpoint, {}), "must have one dtype, and others have f32");
}

TEST(Weights, ValuesThatAreNoNumbersAreNamed) {
  const TempDir dir;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto write = [&](const std::vector<float>& a, const std::vector<uint16_t>& b) {
    dir.write("m.safetensors", safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
                                           R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]}})",
                                           test::bytes_of(a) + test::bytes_of(b)));
    return open(dir.path());
  };
  plan::Program program;
  program.weights = {weight("a", DType::Stored, {4}, {{"a"}})};
  const Checkpoint bad = write({1, -inf, 2, nan}, {0, 0x7fc0});
  const auto result = Weights::load(program, &bad, {});
  EXPECT_ERROR(result, "has 1 tensor with NaN or infinite values");
  EXPECT_ERROR(result, "`a` in `" + (dir.path() / "m.safetensors").string() +
                           "` has 1 NaN and 1 infinite values, the first is element 1");
  const WeightReport report = inspect_weights(program, bad, true);
  ASSERT_TRUE(report.error.has_value());
  EXPECT_EQ(test::text_of(*report.error), test::error_text(result));
  EXPECT_FALSE(inspect_weights(program, bad, false).error.has_value());
  // What nobody reads may be anything.
  const Checkpoint unread = write({1, 2, 3, 4}, {0, 0x7fc0});
  EXPECT_OK(Weights::load(program, &unread, {}));
  program.weights.push_back(weight("b", DType::F32, {2}, {{"b"}}));
  EXPECT_ERROR(Weights::load(program, &unread, {}), "`b` in");
}

TEST(Weights, UnsupportedTypesAreErrorsOnlyWhenRead) {
  const TempDir dir;
  dir.write("m.safetensors", safetensors(R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},)"
                                         R"("b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[2,4]}})",
                                         "abcd"));
  const Checkpoint checkpoint = open(dir.path());
  plan::Program program;
  program.weights = {weight("a", DType::I8, {2}, {{"a"}})};
  EXPECT_OK(Weights::load(program, &checkpoint, {}));
  // Without a dtype of its own a declaration means floats; integers would be taken for them.
  program.weights[0].type.dtype = DType::Stored;
  EXPECT_ERROR(Weights::load(program, &checkpoint, {}), "is I8[2], expected a float type");
  program.weights[0].type.dtype = DType::I8;
  program.weights.push_back(weight("b", DType::Stored, {2}, {{"b"}}));
  EXPECT_ERROR(Weights::load(program, &checkpoint, {}), "`b` in");
  EXPECT_ERROR(Weights::load(program, &checkpoint, {}), "F8_E4M3[2], of a type that is not supported");
}

TEST(Weights, UnreadTensorsAreWarningsOrErrors) {
  const Checkpoint checkpoint = open(small_folder().path());
  plan::Program program;
  program.weights = {weight("head", DType::Stored, {2, 2}, {{"head"}})};
  program.unused_sources = {"*al?", "int"};
  const auto weights = Weights::load(program, &checkpoint, {});
  ASSERT_OK(weights);
  ASSERT_EQ(weights->warnings().size(), 2u);
  EXPECT_NE(weights->warnings()[0].find("2 tensors `e.{n}.g` (`e.0.g` in"), std::string::npos);
  EXPECT_NE(weights->warnings()[1].find("`e.{n}.u`"), std::string::npos);
  const auto strict = Weights::load(program, &checkpoint, {.strict = true});
  EXPECT_ERROR(strict, "holds tensors that the model does not read");
  EXPECT_ERROR(strict, "`e.{n}.u`");
  program.unused_sources.push_back("e.*.*");
  EXPECT_OK(Weights::load(program, &checkpoint, {.strict = true}));
}

TEST(Weights, NeedACheckpointOrASeed) {
  const TempDir dir;
  dir.write("config.json", "{}");
  const Checkpoint empty = open(dir.path());
  plan::Program program;
  program.weights = {weight("w", DType::Stored, {2}, {{"w"}})};
  EXPECT_ERROR(Weights::load(program, nullptr, {}), "there are no weights");
  EXPECT_ERROR(Weights::load(program, &empty, {}), "has no weights");
  EXPECT_OK(Weights::load(program, &empty, {.synthetic_seed = 1}));
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1, .synthetic_dtype = SK_I8}),
               "float type");
}

TEST(Synthetic, ValuesFollowFromSeedNameAndIndexAlone) {
  // Computed independently, in Python.
  plan::Program program;
  program.weights = {weight("embed", DType::Stored, {16, 4}, {{"model.embed.weight"}}),
                     weight("norm", DType::Stored, {8}, {{"norm.weight"}}),
                     weight("bias", DType::F32, {8}, {{"norm.bias"}}), weight("q", DType::I8, {8}, {{"q"}})};
  const auto weights = Weights::load(program, nullptr, {.synthetic_seed = 7});
  ASSERT_OK(weights);
  const float* embed = weights->find("embed")->data<float>();
  EXPECT_EQ(embed[0], 0x1.b291e2p-1f);
  EXPECT_EQ(embed[1], -0x1.b230dcp-1f);
  EXPECT_EQ(embed[5], 0x1.748a3cp-1f);
  const float* norm = weights->find("norm")->data<float>();
  EXPECT_EQ(norm[0], 0x1.04e9b0p+0f);
  EXPECT_EQ(norm[1], 0x1.e0bcd8p-1f);
  EXPECT_EQ(norm[5], 0x1.086eacp+0f);
  const float* bias = weights->find("bias")->data<float>();
  EXPECT_EQ(bias[0], -0x1.440e98p-6f);
  EXPECT_EQ(bias[1], -0x1.226b86p-14f);
  const int8_t* q = weights->find("q")->data<int8_t>();
  EXPECT_EQ(q[0], -18);
  EXPECT_EQ(q[1], -96);
  EXPECT_EQ(q[5], 62);

  SourceSpec spec{"model.embed.weight", SK_F32, {16, 4}};
  float middle[3];
  fill_synthetic(spec, 7, 4, 3, reinterpret_cast<std::byte*>(middle));
  EXPECT_EQ(middle[1], embed[5]);
}

TEST(Synthetic, MatricesHaveTheDeviationOfTheirFanIn) {
  SourceSpec spec{"w", SK_F32, {64, 1024}};
  std::vector<float> values(64 * 1024);
  fill_synthetic(spec, 123, 0, 64 * 1024, reinterpret_cast<std::byte*>(values.data()));
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0.0, 1e-3);
  EXPECT_NEAR(std::sqrt(squares / n), 1.0 / 32, 5e-4);
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 60'000u);
}

TEST(Synthetic, OtherSeedsAndNamesGiveOtherValues) {
  const auto first = [](const char* name, uint64_t seed) {
    std::vector<float> v(8);
    fill_synthetic({name, SK_F32, {8, 1}}, seed, 0, 8, reinterpret_cast<std::byte*>(v.data()));
    return v;
  };
  EXPECT_EQ(first("a", 1), first("a", 1));
  EXPECT_NE(first("a", 1), first("a", 2));
  EXPECT_NE(first("a", 1), first("b", 1));
}

plan::Program joined_program() {
  plan::Program program;
  program.weights = {
      weight("embed.w", DType::Stored, {6, 4}, {{"embed"}}),
      weight("head.w", DType::Stored, {6, 4}, {{"embed"}}),
      weight("gate_up", DType::Stored, {10, 4}, {{"gate", "up"}}),
      weight("qkv", DType::Stored, {7, 4}, {{"q", "k", "v"}}),
      weight("experts", DType::Stored, {2, 6, 4}, {{"e.0.g", "e.0.u"}, {"e.1.g", "e.1.u"}}, true),
      weight("router", DType::F32, {3, 4}, {{"router"}}),
      weight("up_again", DType::Stored, {7, 4}, {{"up"}}),
      weight("bias", DType::F32, {3}, {{"router_bias"}}),
      weight("rope", DType::BF16, {2, 3}, {{"rope"}}),
  };
  return program;
}

TEST(Synthetic, AWrittenFolderLoadsToTheSameBits) {
  const plan::Program program = joined_program();
  for (const sk_dtype dtype : {SK_F32, SK_BF16, SK_F16}) {
    const TempDir dir;
    const fs::path folder = dir.path() / "new" / "model";
    const auto config = parse_json(R"({"hidden_size": 4})", "c");
    ASSERT_OK(config);
    ASSERT_OK(write_synthetic(program, folder, 99, dtype, *config));
    EXPECT_EQ(*read_hf_config(folder), *config);
    const Checkpoint checkpoint = open(folder);
    EXPECT_EQ(checkpoint.find("router")->dtype, SK_F32);
    EXPECT_EQ(checkpoint.find("embed")->dtype, dtype);
    EXPECT_EQ(checkpoint.find("gate")->shape, (std::vector<int64_t>{3, 4}));  // what `up` leaves
    EXPECT_EQ(checkpoint.find("v")->shape, (std::vector<int64_t>{3, 4}));     // 2 + 2 + 3
    const auto from_file = Weights::load(program, &checkpoint, {.strict = true});
    const auto from_seed = Weights::load(program, nullptr, {.synthetic_seed = 99, .synthetic_dtype = dtype});
    ASSERT_OK(from_file);
    ASSERT_OK(from_seed);
    EXPECT_EQ(from_file->total_bytes(), from_seed->total_bytes());
    for (const auto& decl : program.weights) {
      const Tensor* a = from_file->find(decl.path);
      const Tensor* b = from_seed->find(decl.path);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(describe(a->view), describe(b->view));
      EXPECT_EQ(std::memcmp(a->view.data, b->view.data, static_cast<size_t>(a->bytes())), 0) << decl.path;
    }
    EXPECT_EQ(from_seed->find("embed.w")->view.data, from_seed->find("head.w")->view.data);
  }
}

TEST(Synthetic, TheOrderOfDeclarationsChangesNothing) {
  plan::Program forward = joined_program();
  plan::Program backward = forward;
  std::reverse(backward.weights.begin(), backward.weights.end());
  const auto a = Weights::load(forward, nullptr, {.synthetic_seed = 5});
  const auto b = Weights::load(backward, nullptr, {.synthetic_seed = 5});
  ASSERT_OK(a);
  ASSERT_OK(b);
  for (const auto& decl : forward.weights) {
    const Tensor* x = a->find(decl.path);
    EXPECT_EQ(std::memcmp(x->view.data, b->find(decl.path)->view.data, static_cast<size_t>(x->bytes())), 0);
  }
}

TEST(Synthetic, ContradictionsAndSizesAreRefusedWithNumbers) {
  plan::Program program;
  program.weights = {weight("a", DType::Stored, {2, 3}, {{"s"}}),
                     weight("b", DType::Stored, {3, 2}, {{"s"}})};
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1}),
               "weight `b` needs `s` as [3, 2], another weight needs it as [2, 3]");
  program.weights = {weight("a", DType::Stored, {1 << 20, 1 << 20}, {{"s"}})};
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1, .memory_bytes = 3 << 20}),
               "need 4194304.0 MiB of memory; 3.0 MiB are available");
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1}), "MiB are available");
  EXPECT_EQ(Weights::load(program, nullptr, {.synthetic_seed = 1}).error().kind, ErrorKind::Environment);
  program.weights = {weight("a", DType::Stored, {int64_t{1} << 62, 1}, {{"s"}}),
                     weight("b", DType::Stored, {int64_t{1} << 62, 2}, {{"t"}}),
                     weight("c", DType::Stored, {int64_t{1} << 62}, {{"u"}})};
  EXPECT_FALSE(Weights::load(program, nullptr, {.synthetic_seed = 1}).has_value());
  program.weights.resize(1);
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1}), "MiB are available");
  program.weights = {weight("a", DType::Stored, {int64_t{1} << 40, int64_t{1} << 40}, {{"s"}})};
  EXPECT_ERROR(Weights::load(program, nullptr, {.synthetic_seed = 1}), "weight `a` cannot be made");
}

TEST(Synthetic, UnwritableFoldersAreClearErrors) {
  const TempDir dir;
  dir.write("file", "x");
  const auto result =
      write_synthetic(joined_program(), dir.path() / "file" / "out", 1, SK_F32, Json(Json::Object{}));
  EXPECT_ERROR(result, (dir.path() / "file").string());
  EXPECT_EQ(result.error().kind, ErrorKind::Environment);
  fs::create_directories(dir.path() / "out" / "model.safetensors");
  EXPECT_ERROR(write_synthetic(joined_program(), dir.path() / "out", 1, SK_F32, Json(Json::Object{})),
               "model.safetensors`: is a directory");
}

}  // namespace
}  // namespace skdsl::model
