// `skdsl import`: the family, the keys and the run config of each golden folder, and everything it refuses.
#include <algorithm>
#include <fstream>
#include <set>

#include "cli/import/family.h"
#include "tests/models/broken_folder.h"
#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

struct Folder {
  const char* name;
  const char* architecture;
  const char* model;
};
constexpr Folder kFolders[] = {
    {"llama", "LlamaForCausalLM", "llama.sk"},
    {"llama_awkward", "LlamaForCausalLM", "llama.sk"},
    {"llama_bf16", "LlamaForCausalLM", "llama.sk"},
    {"qwen3", "Qwen3ForCausalLM", "qwen3.sk"},
    {"qwen3_bf16", "Qwen3ForCausalLM", "qwen3.sk"},
    {"qwen3_moe", "Qwen3MoeForCausalLM", "qwen3_moe.sk"},
    {"qwen3_moe_bf16", "Qwen3MoeForCausalLM", "qwen3_moe.sk"},
    {"deepseek_v3", "DeepseekV3ForCausalLM", "deepseek_v3.sk"},
    {"deepseek_v3_bf16", "DeepseekV3ForCausalLM", "deepseek_v3.sk"},
    {"llama3_biases", "LlamaForCausalLM", "llama.sk"},
    {"qwen3_moe_mixed", "Qwen3MoeForCausalLM", "qwen3_moe.sk"},
    {"deepseek_v3_plain_query", "DeepseekV3ForCausalLM", "deepseek_v3.sk"},
    {"deepseek_v3_mtp", "DeepseekV3ForCausalLM", "deepseek_v3.sk"},
    {"longcat_flash", "LongcatFlashForCausalLM", "longcat.sk"},
    {"longcat_flash_awkward", "LongcatFlashForCausalLM", "longcat.sk"},
    {"longcat_flash_bf16", "LongcatFlashForCausalLM", "longcat.sk"},
    {"longcat_flash_w8a8", "LongcatFlashForCausalLM", "longcat.sk"},
};

std::string ids_text(const std::vector<int64_t>& ids) {
  std::string out;
  for (const int64_t id : ids) out += (out.empty() ? "" : ",") + std::to_string(id);
  return out;
}

class ImportGolden : public ::testing::TestWithParam<Folder> {};

TEST_P(ImportGolden, PicksTheFamilyAndWritesARunConfigThatRuns) {
  const std::string path = source_path(std::string("tests/models/golden/") + GetParam().name);
  const TemporaryFolder folder;
  for (const char* mode : {"eager", "ge_graph"}) {
    SCOPED_TRACE(mode);
    const std::string yaml = folder / (std::string(mode) + ".yaml");
    const CommandResult r = run_command({"import", path, "-o", yaml, "--mode", mode, "--json"});
    ASSERT_EQ(r.exit, 0) << r.err;
    EXPECT_EQ(r.err, "");
    const Json report = parsed(r.out);
    EXPECT_EQ(report.find("family")->find("architecture")->as_string(), GetParam().architecture);
    const std::string model = report.find("model")->as_string();
    EXPECT_TRUE(model.ends_with(std::string("examples/") + GetParam().model)) << model;
    EXPECT_TRUE(report.find("weights")->find("unread")->as_array().empty());
    EXPECT_TRUE(report.find("keys")->find("unknown")->as_object().empty());
    // Every key of config.json is in one class.
    size_t keys = 0;
    for (const char* list : {"used", "runtime", "without_effect"})
      keys += report.find("keys")->find(list)->as_object().size();
    EXPECT_EQ(keys, parsed(*read_file(path + "/config.json")).as_object().size());
    EXPECT_EQ(*read_file(yaml), report.find("run_config")->as_string());

    const Json golden = parsed(*read_file(path + "/golden.json"));
    const Json& request = golden.find("requests")->as_array()[0];
    auto expected = integers(*request.find("greedy")->find("tokens"));
    expected.resize(std::min<size_t>(expected.size(), 4));
    const CommandResult run =
        run_command({"run", model, "--config", yaml, "--weights", path, "--set", "dtype=float32",
                     "--prompt-ids", ids_text(integers(*request.find("prompt_ids"))), "--ignore-eos",
                     "--max-new-tokens", std::to_string(expected.size()), "--json"});
    ASSERT_EQ(run.exit, 0) << run.err;
    const Json result = parsed(run.out);
    EXPECT_EQ(result.find("mode")->as_string(), mode);
    EXPECT_EQ(integers(*result.find("requests")->as_array()[0].find("tokens")), expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Folders, ImportGolden, ::testing::ValuesIn(kFolders),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ImportFamilies, EveryRowHasItsModelFileAndItsFolder) {
  for (const cli::Family& family : cli::families()) {
    const auto file = cli::find_model_file(family);
    EXPECT_TRUE(file.has_value()) << family.model;
    EXPECT_TRUE(std::any_of(std::begin(kFolders), std::end(kFolders), [&](const Folder& f) {
      return f.architecture == family.architecture;
    })) << family.architecture;
    // Either name is enough, and both must agree.
    const Json by_type = Json::Object{{"model_type", family.model_type}};
    const Json by_name = Json::Object{{"architectures", Json::Array{family.architecture}}};
    const Json by_second = Json::Object{{"architectures", Json::Array{"Other", family.architecture}}};
    for (const Json& config : {by_type, by_name, by_second}) {
      const auto found = cli::find_family(config, "config.json");
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ((*found)->architecture, family.architecture);
    }
  }
}

TEST(ImportFamilies, EveryRecordedFolderIsImported) {
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/models/golden")))
    EXPECT_TRUE(std::any_of(std::begin(kFolders), std::end(kFolders), [&](const Folder& f) {
      return entry.path().filename() == f.name;
    })) << entry.path();
}

TEST(ImportFamilies, EveryDefaultIsAKeyThatTheModelDeclares) {
  for (const cli::Family& family : cli::families()) {
    const auto file = cli::find_model_file(family);
    ASSERT_TRUE(file.has_value());
    const CommandResult r = run_command({"config", "explain", *file, "--weights", "synthetic", "--json"});
    ASSERT_EQ(r.exit, 0) << r.err;
    std::set<std::string> declared;
    const Json explained = parsed(r.out);
    for (const Json& key : explained.find("keys")->as_array()) declared.insert(key.find("key")->as_string());
    const auto defaults = cli::family_defaults(
        family, [](std::string_view) { return true; }, [](std::string_view) { return Json(8); });
    EXPECT_GE(defaults.size(), 10u);
    for (const auto& [key, value] : defaults) {
      EXPECT_TRUE(declared.contains(key)) << family.model_type << "." << key;
      EXPECT_FALSE(value.is_null()) << family.model_type << "." << key;
    }
  }
}

struct FamilyCase {
  const char* config;
  std::vector<std::string> says;
};

TEST(ImportFamilies, WhatIsNotKnownIsRefusedWithTheNearestAndTheList) {
  const FamilyCase cases[] = {
      {R"({"architectures":["Qwen2ForCausalLM"]})",
       {"`architectures` is \"Qwen2ForCausalLM\"", "the nearest is Qwen3ForCausalLM",
        "LongcatFlashForCausalLM"}},
      {R"({"architectures":["BertModel"],"model_type":"llama"})",
       {"\"BertModel\"", "known are LlamaForCausalLM"}},
      {R"({"model_type":"deepseek_v2"})", {"`model_type` is \"deepseek_v2\"", "the nearest is deepseek_v3"}},
      {R"({"architectures":["LlamaForCausalLM"],"model_type":"qwen3"})",
       {"they must agree", "LlamaForCausalLM is llama"}},
      {R"({"architectures":"LlamaForCausalLM"})",
       {"`architectures` is \"LlamaForCausalLM\"", "expected a list"}},
      {R"({"architectures":[7]})", {"the element 7"}},
      {R"({"model_type":7})", {"`model_type` is 7"}},
      {R"({"architectures":[],"model_type":null})",
       {"neither `architectures` nor `model_type`", "--model FILE.sk"}},
  };
  for (const FamilyCase& c : cases) {
    const BrokenFolder folder("llama");
    folder.write("config.json", c.config);
    const CommandResult r = run_command({"import", folder.path()});
    EXPECT_EQ(r.exit, 1);
    EXPECT_EQ(r.out, "");
    for (const std::string& part : c.says)
      EXPECT_NE(r.err.find(part), r.err.npos) << part << " is not in " << r.err;
  }
}

struct Refusal {
  const char* golden;
  const char* changes;  // an object whose keys replace those of config.json
  std::vector<std::string> says;
};
const Refusal kRefusals[] = {
    {"qwen3",
     R"({"sliding_window":4096,"use_sliding_window":true})",
     {"`sliding_window` to 4096", "supported is null"}},
    {"qwen3",
     R"({"layer_types":["full_attention","sliding_attention"]})",
     {"`layer_types` to [\"full_attention\",\"sliding_attention\"]", "supported is \"full_attention\""}},
    {"llama", R"({"sliding_window":4096})", {"`sliding_window` to 4096", "supported is null"}},
    {"qwen3_moe", R"({"sliding_window":8,"use_sliding_window":null})", {"`sliding_window` to 8"}},
    {"llama",
     R"({"rope_scaling":{"rope_type":"dynamic","factor":2.0}})",
     {"`dynamic` is not supported", "supported are default, linear, yarn and llama3", "rope_scaling = {"}},
    {"deepseek_v3",
     R"({"rope_scaling":{"type":"longrope","factor":2.0}})",
     {"`longrope` is not supported", "rope_scaling"}},
    {"longcat_flash",
     R"({"rope_parameters":{"rope_type":"mrope","rope_theta":1e7}})",
     {"`mrope` is not supported"}},
    {"qwen3", R"({"rope_scaling":{"rope_type":"default","mrope_section":[1,2,3]}})", {"`mrope_section`"}},
    {"llama",
     R"({"quantization_config":{"quant_method":"gptq","bits":4}})",
     {"`quantization_config` to {\"quant_method\":\"gptq\",\"bits\":4}", "supported is null"}},
    {"deepseek_v3",
     R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})",
     {"quantization_config", "\"fp8\""}},
    {"longcat_flash_w8a8",
     R"({"quantization_config":{"quant_method":"awq","bits":4}})",
     {"quantization_config", "awq", "compressed-tensors"}},
    {"llama",
     R"({"tie_word_embeddings":true})",
     {"`tie_word_embeddings` to true", "`lm_head.weight`", "true is supported"}},
    {"qwen3", R"({"tie_word_embeddings":true})", {"`tie_word_embeddings` to true", "model.safetensors`"}},
    {"longcat_flash", R"({"attention_bias":true})", {"`attention_bias` to true", "supported is false"}},
    {"qwen3", R"({"mlp_bias":true})", {"`mlp_bias` to true", "supported is false"}},
    {"llama", R"({"hidden_act":"gelu"})", {"`hidden_act` to \"gelu\"", "supported is \"silu\" or \"swish\""}},
    {"deepseek_v3", R"({"hidden_act":"relu2"})", {"`hidden_act` to \"relu2\""}},
    {"deepseek_v3", R"({"topk_method":"greedy"})", {"topk_method", "greedy", "noaux_tc"}},
    {"deepseek_v3", R"({"num_key_value_heads":2})", {"num_key_value_heads = 2"}},
    {"deepseek_v3", R"({"index_topk":2048})", {"`index_topk` to 2048"}},
    {"longcat_flash",
     R"({"zero_expert_type":"copy"})",
     {"`zero_expert_type` to \"copy\"", "supported is \"identity\""}},
    {"longcat_flash", R"({"norm_topk_prob":true})", {"`norm_topk_prob` to true"}},
    {"longcat_flash", R"({"router_bias":true})", {"`router_bias` to true"}},
    {"longcat_flash", R"({"num_hidden_layers":5})", {"`num_hidden_layers` to 5", "which is 4"}},
    {"qwen3_moe", R"({"partial_rotary_factor":0.5})", {"`partial_rotary_factor` to 0.5", "supported is 1"}},
    {"llama", R"({"attn_logit_softcapping":50.0})", {"`attn_logit_softcapping` to 50.0"}},
    {"llama", R"({"embedding_multiplier":12.0})", {"`embedding_multiplier` to 12.0"}},
    {"llama", R"({"num_experts_per_tok":2})", {"`num_experts_per_tok` to 2"}},
    {"llama", R"({"text_config":{"hidden_size":8}})", {"`text_config`"}},
    {"llama", R"({"rms_norm_eps":"small"})", {"`rms_norm_eps`", "\"small\"", "a number"}},
    {"llama", R"({"hidden_size":1e300})", {"`hidden_size`", "an integer"}},
    {"llama", R"({"max_position_embeddings":"256"})", {"`max_position_embeddings` is \"256\"", "at least 1"}},
    {"llama", R"({"max_position_embeddings":0})", {"`max_position_embeddings` is 0"}},
    {"llama", R"({"num_hidden_layers":1000000})", {"`num_hidden_layers` to 1000000", "has only 21 tensors"}},
    {"longcat_flash_w8a8", R"({"num_layers":1e6})", {"`num_layers` to 1000000.0", "tensors"}},
    {"llama", R"({"dtype":"int8"})", {"dtype `int8`", "float32, bfloat16 or float16"}},
};

std::string model_of(const std::string& golden) {
  for (const Folder& f : kFolders)
    if (golden == f.name) return source_path(std::string("examples/") + f.model);
  return "";
}

void change(const BrokenFolder& folder, const char* changes) {
  folder.edit_json("config.json", [&](Json& config) {
    const Json changed = parsed(changes);
    for (const auto& [key, value] : changed.as_object()) config.set(key, value);
  });
}

TEST(ImportRefuses, KeysThatChangeTheMathematicsWhereverTheyAreRead) {
  for (const Refusal& c : kRefusals) {
    SCOPED_TRACE(std::string(c.golden) + " " + c.changes);
    const BrokenFolder folder(c.golden);
    change(folder, c.changes);
    const std::string model = model_of(c.golden);
    const std::vector<std::vector<std::string>> commands = {
        {"import", folder.path(), "-o", folder / "run.yaml"},
        {"run", model, "--weights", folder.path(), "--prompt-ids", "1,2"},
        {"config", "explain", model, "--weights", folder.path()}};
    for (const auto& command : commands) {
      const CommandResult r = run_command(command);
      EXPECT_EQ(r.exit, 1) << command[0];
      EXPECT_EQ(r.out, "") << command[0];
      EXPECT_NE(r.err.find("config.json"), r.err.npos) << r.err;
      for (const std::string& part : c.says)
        EXPECT_NE(r.err.find(part), r.err.npos) << command[0] << ": " << part << " is not in " << r.err;
    }
    EXPECT_FALSE(read_file(folder / "run.yaml").has_value());
  }
}

TEST(ImportAccepts, KeysThatAreThereWithoutEffect) {
  for (
      const auto& [golden, changes] : std::vector<std::pair<const char*, const char*>>{
          {"qwen3", R"({"sliding_window":4096,"use_sliding_window":false})"},
          {"qwen3",
           R"({"sliding_window":4096,"use_sliding_window":true,"layer_types":["full_attention","full_attention"]})"},
          {"llama",
           R"({"hidden_act":"swish","quantization_config":null,"rope_scaling":{"rope_type":"default"}})"},
          {"llama", R"({"rope_theta":null,"rope_parameters":{"rope_theta":10000.0,"rope_type":"default"}})"},
          {"llama", R"({"torch_dtype":null,"dtype":"float32","head_dim":null,"num_key_value_heads":2})"},
          {"llama", R"({"temperature":0.6,"top_p":0.9,"id2label":{"0":"a"},"pretraining_tp":1})"},
          {"longcat_flash",
           R"({"num_hidden_layers":4,"head_dim":8,"qk_head_dim":24,"num_key_value_heads":4})"},
          {"longcat_flash", R"({"moe_topk":null,"num_experts_per_tok":3,"intermediate_size":40})"},
          {"deepseek_v3",
           R"({"aux_loss_alpha":0.001,"seq_aux":true,"ep_size":1,"head_dim":8,"qk_head_dim":24})"}}) {
    SCOPED_TRACE(std::string(golden) + " " + changes);
    const BrokenFolder folder(golden);
    const std::string same = run_command({"run", model_of(golden), "--weights", folder.path(), "--prompt-ids",
                                          "5,7,11", "--max-new-tokens", "4", "--ignore-eos"})
                                 .out;
    change(folder, changes);
    const CommandResult r = run_command({"import", folder.path(), "--strict"});
    EXPECT_EQ(r.exit, 0) << r.err;
    const CommandResult run =
        run_command({"run", model_of(golden), "--weights", folder.path(), "--prompt-ids", "5,7,11",
                     "--max-new-tokens", "4", "--ignore-eos", "--strict"});
    EXPECT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(run.out, same);
  }
}

TEST(ImportAccepts, AHeadThatEqualsTheEmbedding) {
  const BrokenFolder folder("llama");
  change(folder, R"({"tie_word_embeddings":true})");
  folder.edit_weights("model.safetensors", [](Json& header, std::string& data) {
    const auto range = [&](const char* name) {
      const Json& offsets = *entry(header, name).find("data_offsets");
      return std::pair(static_cast<size_t>(offsets.as_array()[0].as_int()),
                       static_cast<size_t>(offsets.as_array()[1].as_int()));
    };
    const auto [from, from_end] = range("model.embed_tokens.weight");
    data.replace(range("lm_head.weight").first, from_end - from, data.substr(from, from_end - from));
  });
  const CommandResult r = run_command({"import", folder.path()});
  EXPECT_EQ(r.exit, 0) << r.err;
}

TEST(Import, SaysWhatATransformersDefaultIsAndPinsIt) {
  const BrokenFolder folder("llama");
  folder.edit_json("config.json", [](Json& config) {
    ASSERT_TRUE(erase(config, "rms_norm_eps"));
    ASSERT_TRUE(erase(config, "rope_theta"));
    config.set("favourite_colour", "blue");
  });
  const CommandResult r = run_command({"import", folder.path(), "-o", folder / "run.yaml"});
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.err.find("SK2013"), r.err.npos) << r.err;
  EXPECT_NE(r.out.find("unknown:\n  favourite_colour  \"blue\""), r.out.npos) << r.out;
  const std::string yaml = folder.read("run.yaml");
  EXPECT_NE(yaml.find("custom_params:"), yaml.npos) << yaml;
  const CommandResult explained = run_command({"config", "explain", model_of("llama"), "--weights",
                                               folder.path(), "--config", folder / "run.yaml", "--json"});
  ASSERT_EQ(explained.exit, 0) << explained.err;
  const Json document = parsed(explained.out);
  size_t seen = 0;
  for (const Json& key : document.find("keys")->as_array()) {
    if (key.find("key")->as_string() != "rms_norm_eps") continue;
    // The model file's own default is 1e-5, that of LlamaConfig 1e-6.
    EXPECT_EQ(std::stod(key.find("value")->as_string()), 1e-6);
    EXPECT_EQ(key.find("layer")->as_string(), "run config");
    ++seen;
  }
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(run_command({"import", folder.path(), "--strict"}).exit, 1);
}

TEST(Import, ARatioOfOtherKeys) {
  const BrokenFolder folder("qwen3_moe");
  folder.edit_json("config.json", [](Json& config) { ASSERT_TRUE(erase(config, "head_dim")); });
  const CommandResult r = run_command({"import", folder.path()});
  // 48 / 4 is not the 16 of the weights: transformers would fail on them too.
  EXPECT_EQ(r.exit, 1);
  EXPECT_NE(r.err.find("expected [12]"), r.err.npos) << r.err;
}

TEST(Import, NeverOverwritesWithoutForce) {
  const TemporaryFolder folder;
  const std::string yaml = folder / "run.yaml";
  const std::string llama = source_path("tests/models/golden/llama");
  std::ofstream(yaml) << "mine";
  const CommandResult r = run_command({"import", llama, "-o", yaml});
  EXPECT_EQ(r.exit, 3);
  EXPECT_NE(r.err.find("exists already"), r.err.npos) << r.err;
  EXPECT_NE(r.err.find("--force"), r.err.npos) << r.err;
  EXPECT_EQ(*read_file(yaml), "mine");
  EXPECT_EQ(run_command({"import", llama, "-o", yaml, "--force"}).exit, 0);
  EXPECT_TRUE(read_file(yaml)->starts_with("# Run config"));
  EXPECT_EQ(run_command({"import", llama, "-o", folder / "no/such/folder.yaml"}).exit, 3);
}

TEST(Import, StandardOutputIsTheRunConfigAndTheReportGoesTheOtherWay) {
  const TemporaryFolder folder;
  const std::string llama = source_path("tests/models/golden/llama");
  const CommandResult r = run_command({"import", llama});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_TRUE(r.out.starts_with("# Run config"));
  EXPECT_NE(r.err.find("read by the model:"), r.err.npos);
  EXPECT_NE(r.err.find("skdsl run "), r.err.npos);
  std::ofstream(folder / "run.yaml") << r.out;
  EXPECT_EQ(run_command({"run", model_of("llama"), "--weights", llama, "--config", folder / "run.yaml",
                         "--prompt-ids", "1"})
                .exit,
            0);
}

TEST(Import, OneFileAModelOfOnesOwnAndAFolderWithoutWeights) {
  const std::string llama = source_path("tests/models/golden/llama");
  EXPECT_EQ(run_command({"import", llama + "/model.safetensors"}).exit, 0);
  // A model file wins over the family: Qwen3 needs norms that Llama has not.
  const CommandResult other = run_command({"import", llama, "--model", model_of("qwen3")});
  EXPECT_EQ(other.exit, 1);
  EXPECT_NE(other.err.find("q_norm.weight`"), other.err.npos) << other.err;
  const CommandResult absent = run_command({"import", llama, "--model", "no_such.sk"});
  EXPECT_NE(absent.exit, 0);
  EXPECT_NE(absent.err.find("no_such.sk"), absent.err.npos);
  const BrokenFolder folder("llama");
  folder.remove("model.safetensors");
  const CommandResult bare = run_command({"import", folder.path()});
  EXPECT_EQ(bare.exit, 0) << bare.err;
  EXPECT_NE(bare.err.find("has no weights: runs use synthetic ones"), bare.err.npos) << bare.err;
}

TEST(Import, CompanionFiles) {
  const BrokenFolder folder("llama");
  folder.write("generation_config.json", R"({"eos_token_id":[4,9],"temperature":0.6})");
  const CommandResult r = run_command({"import", folder.path(), "--json"});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(to_json(*parsed(r.out).find("end_tokens")), "[4,9]");
  EXPECT_EQ(to_json(*parsed(r.out).find("keys")->find("generation")->find("temperature")), "0.6");
  folder.write("generation_config.json", "[");
  const CommandResult broken = run_command({"import", folder.path()});
  EXPECT_EQ(broken.exit, 1);
  EXPECT_NE(broken.err.find("generation_config.json"), broken.err.npos) << broken.err;
  folder.remove("generation_config.json");
  folder.write("tokenizer.json", "{}");
  const CommandResult tokenizer = run_command({"import", folder.path()});
  EXPECT_EQ(tokenizer.exit, 0) << tokenizer.err;
  EXPECT_NE(tokenizer.err.find("warning: "), tokenizer.err.npos) << tokenizer.err;
  EXPECT_NE(tokenizer.err.find("tokenizer.json"), tokenizer.err.npos) << tokenizer.err;
}

TEST(Import, NamesThatAShellOrAYamlFileWouldTakeApart) {
  const TemporaryFolder parent;
  const std::string odd = parent / "my model's\n- folder";
  std::filesystem::copy(source_path("tests/models/golden/llama"), odd);
  const std::string yaml = parent / "run config.yaml";
  const CommandResult r = run_command({"import", odd, "-o", yaml});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("my model'\\''s"), r.out.npos) << r.out;
  EXPECT_NE(r.out.find("run config.yaml'"), r.out.npos) << r.out;
  EXPECT_EQ(
      run_command({"run", model_of("llama"), "--weights", odd, "--config", yaml, "--prompt-ids", "1"}).exit,
      0);
}

TEST(Import, ATokenizerWithMoreTokensThanTheModel) {
  const BrokenFolder folder("longcat_flash");
  std::filesystem::copy(source_path("examples/longcat-adder/tokenizer.json"), folder / "tokenizer.json");
  EXPECT_EQ(run_command({"import", folder.path()}).err.find("warning"), std::string::npos);
  folder.edit_json("tokenizer.json", [](Json& tokenizer) {
    for (auto& [key, value] : tokenizer.as_object())
      if (key == "model")
        for (auto& [name, vocab] : value.as_object())
          if (name == "vocab") vocab.set("zzz", 900);
  });
  const CommandResult r = run_command({"import", folder.path()});
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.err.find("tokenizer.json has ids up to 900, the model embeds 80"), r.err.npos) << r.err;
}

TEST(Import, ACacheThatWouldBeHugeIsCutInTheRunConfig) {
  const BrokenFolder folder("llama");
  change(folder, R"({"max_position_embeddings":131072})");
  const CommandResult r = run_command({"import", folder.path()});
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("max_seq_len: 8192  # of 131072 positions"), r.out.npos) << r.out;
}

}  // namespace
}  // namespace skdsl::testing
