// Other sizes of the same families through config.json alone, and runs that fill the cache.
#include <cstdlib>
#include <random>

#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

int64_t pick(std::mt19937& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

void add_rope(std::mt19937& rng, Json::Object& config);

Json llama_config(std::mt19937& rng) {
  const int64_t groups = pick(rng, 1, 3), heads = groups * pick(rng, 1, 4), head_dim = 2 * pick(rng, 1, 13);
  Json::Object config{{"model_type", "llama"},
                      {"hidden_size", heads * head_dim},
                      {"intermediate_size", pick(rng, 1, 90)},
                      {"num_hidden_layers", pick(rng, 1, 3)},
                      {"num_attention_heads", heads},
                      {"num_key_value_heads", groups},
                      {"vocab_size", pick(rng, 3, 150)},
                      {"rms_norm_eps", 1e-6},
                      {"attention_bias", pick(rng, 0, 1) == 1},
                      {"mlp_bias", pick(rng, 0, 1) == 1},
                      {"tie_word_embeddings", pick(rng, 0, 1) == 1},
                      {"max_position_embeddings", 64},
                      {"torch_dtype", "float32"}};
  add_rope(rng, config);
  return config;
}

Json longcat_config(std::mt19937& rng) {
  const int64_t experts = pick(rng, 1, 9), zero = pick(rng, 0, 4);
  return Json::Object{{"model_type", "longcat_flash"},
                      {"hidden_size", pick(rng, 1, 70)},
                      {"num_layers", pick(rng, 1, 3)},
                      {"ffn_hidden_size", pick(rng, 1, 50)},
                      {"expert_ffn_hidden_size", pick(rng, 1, 30)},
                      {"num_attention_heads", pick(rng, 1, 7)},
                      {"q_lora_rank", pick(rng, 1, 33)},
                      {"kv_lora_rank", pick(rng, 1, 33)},
                      {"qk_nope_head_dim", pick(rng, 1, 19)},
                      {"qk_rope_head_dim", 2 * pick(rng, 1, 9)},
                      {"v_head_dim", pick(rng, 1, 17)},
                      {"mla_scale_q_lora", pick(rng, 0, 1) == 1},
                      {"mla_scale_kv_lora", pick(rng, 0, 1) == 1},
                      {"n_routed_experts", experts},
                      {"zero_expert_num", zero},
                      {"moe_topk", pick(rng, 1, experts + zero)},
                      {"routed_scaling_factor", 2.5},
                      {"vocab_size", pick(rng, 3, 150)},
                      {"rms_norm_eps", 1e-5},
                      {"rope_theta", 10000.0},
                      {"max_position_embeddings", 64},
                      {"torch_dtype", "float32"}};
}

/// The same rule under the keys of transformers 4 or 5, or none.
void add_rope(std::mt19937& rng, Json::Object& config) {
  const double theta = pick(rng, 0, 1) ? 10000.0 : 1e6;
  Json::Object rule;
  switch (pick(rng, 0, 3)) {
    case 0:
      rule = {{"type", "linear"}, {"factor", 2.5}};
      break;
    case 1:
      rule = {{"type", "yarn"},
              {"factor", pick(rng, 2, 40)},
              {"original_max_position_embeddings", pick(rng, 8, 64)}};
      if (pick(rng, 0, 1))
        rule.insert(rule.end(), {{"mscale", 1.0}, {"mscale_all_dim", 0.7}, {"beta_fast", 16}});
      break;
    case 2:
      rule = {{"type", "llama3"},
              {"factor", 8.0},
              {"original_max_position_embeddings", 16},
              {"low_freq_factor", 1.0},
              {"high_freq_factor", 4.0}};
      break;
    default:
      rule = {{"type", "default"}};
  }
  if (pick(rng, 0, 1)) {
    config.emplace_back("rope_theta", theta);
    config.emplace_back("rope_scaling", rule);
  } else {
    rule[0].first = "rope_type";
    rule.emplace_back("rope_theta", theta);
    config.emplace_back("rope_parameters", rule);
  }
}

Json qwen_config(std::mt19937& rng, bool moe) {
  const int64_t groups = pick(rng, 1, 3), layers = pick(rng, 1, 4), experts = pick(rng, 1, 9);
  Json::Object config{{"model_type", moe ? "qwen3_moe" : "qwen3"},
                      {"hidden_size", pick(rng, 1, 70)},
                      {"head_dim", 2 * pick(rng, 1, 13)},
                      {"intermediate_size", pick(rng, 1, 90)},
                      {"num_hidden_layers", layers},
                      {"num_attention_heads", groups * pick(rng, 1, 4)},
                      {"num_key_value_heads", groups},
                      {"vocab_size", pick(rng, 3, 150)},
                      {"rms_norm_eps", 1e-6},
                      {"attention_bias", pick(rng, 0, 1) == 1},
                      {"tie_word_embeddings", pick(rng, 0, 1) == 1},
                      {"sliding_window", nullptr},
                      {"max_position_embeddings", 64},
                      {"torch_dtype", "float32"}};
  if (moe) {
    Json::Array dense;
    for (int64_t i = 0; i < layers; ++i)
      if (pick(rng, 0, 3) == 0) dense.emplace_back(i);
    config.insert(config.end(), {{"num_experts", experts},
                                 {"num_experts_per_tok", pick(rng, 1, experts)},
                                 {"moe_intermediate_size", pick(rng, 1, 30)},
                                 {"norm_topk_prob", pick(rng, 0, 1) == 1},
                                 {"decoder_sparse_step", pick(rng, 1, 3)},
                                 {"mlp_only_layers", dense}});
  }
  add_rope(rng, config);
  return config;
}

Json deepseek_config(std::mt19937& rng) {
  const int64_t groups = pick(rng, 1, 3), kept = pick(rng, 1, groups), size = pick(rng, 2, 4),
                heads = pick(rng, 1, 6);
  Json::Object config{{"model_type", "deepseek_v3"},
                      {"hidden_size", pick(rng, 1, 70)},
                      {"intermediate_size", pick(rng, 1, 60)},
                      {"moe_intermediate_size", pick(rng, 1, 30)},
                      {"num_hidden_layers", pick(rng, 1, 3)},
                      {"num_attention_heads", heads},
                      {"num_key_value_heads", heads},
                      {"q_lora_rank", pick(rng, 0, 1) ? Json(pick(rng, 1, 33)) : Json(nullptr)},
                      {"kv_lora_rank", pick(rng, 1, 33)},
                      {"qk_nope_head_dim", pick(rng, 1, 19)},
                      {"qk_rope_head_dim", 2 * pick(rng, 1, 9)},
                      {"v_head_dim", pick(rng, 1, 17)},
                      {"attention_bias", pick(rng, 0, 1) == 1},
                      {"first_k_dense_replace", pick(rng, 0, 2)},
                      {"moe_layer_freq", pick(rng, 1, 2)},
                      {"n_routed_experts", groups * size},
                      {"n_shared_experts", pick(rng, 0, 1) ? Json(pick(rng, 1, 2)) : Json(nullptr)},
                      {"num_experts_per_tok", pick(rng, 1, kept * size)},
                      {"n_group", groups},
                      {"topk_group", kept},
                      {"scoring_func", "sigmoid"},
                      {"topk_method", "noaux_tc"},
                      {"norm_topk_prob", pick(rng, 0, 1) == 1},
                      {"routed_scaling_factor", 2.5},
                      {"rope_interleave", pick(rng, 0, 1) == 1},
                      {"vocab_size", pick(rng, 3, 150)},
                      {"rms_norm_eps", 1e-6},
                      {"max_position_embeddings", 64},
                      {"torch_dtype", "float32"}};
  add_rope(rng, config);
  return config;
}

/// A LongCat with int8 weights in its networks.
Json w8a8_config(std::mt19937& rng) {
  Json config = longcat_config(rng);
  const Json::Object weights{
      {"num_bits", 8}, {"type", "int"}, {"strategy", "channel"}, {"symmetric", true}, {"dynamic", false}};
  Json::Object activations = weights;
  activations[2].second = "token";
  activations[4].second = true;
  config.as_object().emplace_back(
      "quantization_config",
      Json::Object{
          {"quant_method", "compressed-tensors"},
          {"format", "int-quantized"},
          {"config_groups", Json::Object{{"group_0", Json::Object{{"weights", weights},
                                                                  {"input_activations", activations}}}}}});
  return config;
}

struct Family {
  const char* model;
  Json (*config)(std::mt19937&);
  bool draft;
};
const Family kFamilies[] = {
    {"examples/llama.sk", llama_config, false},
    {"examples/longcat.sk", longcat_config, true},
    {"examples/qwen3.sk", [](std::mt19937& rng) { return qwen_config(rng, false); }, false},
    {"examples/qwen3_moe.sk", [](std::mt19937& rng) { return qwen_config(rng, true); }, false},
    {"examples/deepseek_v3.sk", deepseek_config, true},
    {"examples/longcat.sk", w8a8_config, true},
};

TEST(Variants, AnySizesGiveTheSameBitsInEveryMode) {
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  const unsigned seed = 20261130;
  std::printf("seed %u\n", seed);
  std::mt19937 rng(seed);
  for (int round = 0; round < (soak ? 600 : 36); ++round) {
    const Family& family = kFamilies[static_cast<size_t>(round) % std::size(kFamilies)];
    TemporaryFolder folder;
    const Json config = family.config(rng);
    ASSERT_TRUE(write_file_atomically(folder / "config.json", to_json(config)).has_value());
    LogitsRun run;
    run.model = source_path(family.model);
    if (family.draft && pick(rng, 0, 1)) run.more = {pick(rng, 0, 1) ? "--mtp" : "--mtp=2"};
    run.weights = folder / "";
    run.dtype = round / 6 % 3 == 2 ? "bfloat16" : "float32";
    run.new_tokens = 6;
    const int64_t vocab = config.find("vocab_size")->as_int();
    for (int64_t p = pick(rng, 1, 4); p > 0; --p) {
      std::vector<int64_t> ids;
      for (int64_t n = pick(rng, 1, 12); n > 0; --n) ids.push_back(pick(rng, 0, vocab - 1));
      run.prompts.push_back(ids);
    }
    const std::string reference = logits_text(run);
    EXPECT_EQ(reference.find("null"), std::string::npos) << "a logit is not finite: " << to_json(config);
    run.threads = 2;
    run.more.insert(run.more.end(), {"--block-size", std::to_string(pick(rng, 1, 9))});
    for (const char* mode : {"npugraph_ex", "ge_graph"}) {
      run.mode = mode;
      EXPECT_EQ(logits_text(run), reference) << mode << " " << to_json(config);
    }
    const Json batch = parsed(reference);
    const size_t one = static_cast<size_t>(pick(rng, 0, static_cast<int64_t>(run.prompts.size()) - 1));
    LogitsRun alone = run;
    alone.prompts = {run.prompts[one]};
    EXPECT_EQ(parsed(logits_text(alone)).find("requests")->as_array()[0],
              batch.find("requests")->as_array()[one])
        << to_json(config);
  }
}

TEST(Variants, TwoThousandTokensFillTheCacheAlikeInEveryMode) {
  TemporaryFolder folder;
  ASSERT_TRUE(
      write_file_atomically(
          folder / "config.json",
          R"({"model_type": "llama", "hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 3,
    "num_key_value_heads": 1, "num_hidden_layers": 2, "vocab_size": 101, "max_position_embeddings": 2048, "torch_dtype": "bfloat16", "rope_theta": 10000.0})")
          .has_value());
  std::string reference;
  const std::vector<std::string> captured{"--set", "npugraph_ex.static_kernel_compile=true", "--set",
                                          "npugraph_ex.super_kernel_optimize=true"};
  for (const auto& [mode, more] : {std::pair<const char*, std::vector<std::string>>{"eager", {}},
                                   {"npugraph_ex", {}},
                                   {"npugraph_ex", captured},
                                   {"ge_graph", {}},
                                   {"ge_graph", {"--superkernel", "off"}}}) {
    std::vector<std::string> args{"run",
                                  source_path("examples/llama.sk"),
                                  "--weights",
                                  folder / "",
                                  "--mode",
                                  mode,
                                  "--prompt-ids",
                                  "1,2,3,4,5,6,7,8",
                                  "--max-new-tokens",
                                  "2040",
                                  "--ignore-eos",
                                  "--json",
                                  "--dump-logits",
                                  folder / "logits.json"};
    args.insert(args.end(), more.begin(), more.end());
    const CommandResult r = run_command(args);
    ASSERT_EQ(r.exit, 0) << r.err;
    const Json report = parsed(r.out);
    const std::string tokens = to_json(*report.find("requests")) + *read_file(folder / "logits.json");
    if (reference.empty()) reference = tokens;
    EXPECT_TRUE(tokens == reference) << "tokens or logits differ in " << mode;
    EXPECT_EQ(report.find("requests")->as_array()[0].find("tokens")->as_array().size(), 2040u);
    // npugraph_ex interprets the step that it captures.
    const Json& graph = *report.find("graph");
    const int64_t interpreted = std::string_view(mode) == "eager"         ? 2039
                                : std::string_view(mode) == "npugraph_ex" ? 1
                                                                          : 0;
    EXPECT_EQ(graph.find("interpreted_decode_steps")->as_int(), interpreted) << mode;
    EXPECT_EQ(graph.find("replays")->as_int(), 2039 - interpreted) << mode;
    EXPECT_EQ(graph.find("captures")->as_int(), interpreted == 2039 ? 0 : 1) << mode;
    EXPECT_TRUE(graph.find("fallbacks")->as_array().empty());
  }
  const CommandResult beyond = run_command({"run", source_path("examples/llama.sk"), "--weights", folder / "",
                                            "--prompt-ids", "1,2,3,4,5,6,7,8", "--max-new-tokens", "2041"});
  EXPECT_EQ(beyond.exit, 1);
  EXPECT_EQ(beyond.out, "") << "refused before anything is generated";
  EXPECT_NE(beyond.err.find("--max-seq-len"), std::string::npos) << beyond.err;
}

}  // namespace
}  // namespace skdsl::testing
