// model_prepare — weights, configuration and built-in names of a run, before anything is compiled
#include <algorithm>
#include <filesystem>

#include "cli/capture_settings.h"
#include "cli/jit_settings.h"
#include "cli/model_run.h"
#include "compiler/config/options.h"
#include "compiler/config/run_config.h"
#include "compiler/superkernel/capture_options.h"
#include "runtime/model/drafts.h"
#include "runtime/model/hf_config.h"
#include "runtime/model/tied_head.h"
#include "runtime/model/tokenizer.h"
#include "runtime/model/weights.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

namespace {
Error usage(std::string message, std::vector<std::string> notes = {}) {
  return {ErrorKind::Usage, std::move(message), std::move(notes)};
}

Expected<uint64_t> synthetic_seed(std::string_view text) {
  if (text == "synthetic") return 0;
  const std::string digits(text.substr(std::string_view("synthetic:").size()));
  if (digits.empty() || digits.size() > 19 ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    return tl::unexpected<Error>(usage("--weights " + std::string(text) + ": the seed must be a number",
                                       {"help: write --weights synthetic:7"}));
  return std::stoull(digits);
}

/// max_seq_len -> max-seq-len
std::string flag_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// An integer that a setting gives, when it gives one.
Expected<std::optional<int64_t>> int_setting(const config::Settings& settings, std::string_view key,
                                             int64_t least) {
  const config::Setting* s = settings.find(key);
  if (!s) return std::optional<int64_t>();
  if (!s->value.is_int() || s->value.as_int() < least)
    return fail(s->origin + ": `" + std::string(key) + "` is " + to_json(s->value) +
                ", an integer of at least " + std::to_string(least) + " is required");
  return std::optional<int64_t>(s->value.as_int());
}

/// Every layer has a tensor at least. A number that cannot be true is said before millions of layers are
/// built.
Expected<void> check_layer_count(const config::Settings& settings, const model::Checkpoint& checkpoint) {
  const auto tensors = static_cast<int64_t>(checkpoint.tensors().size());
  for (const char* key : {"num_hidden_layers", "num_layers"}) {
    const config::Setting* const s = settings.find(key);
    if (!s || !s->value.is_number() || s->value.as_double() <= static_cast<double>(tensors)) continue;
    return fail(fmt::format("{} sets `{}` to {}, but `{}` has only {} tensors", s->origin, key,
                            to_json(s->value), checkpoint.path().string(), tensors),
                {"help: do weights and config.json belong together?"});
  }
  return {};
}

/// The folder that the run config names, when it is there. Says so when it is not: then something else is
/// loaded.
std::string weights_of_run_config(const config::Settings& settings, Prepared& p) {
  const config::Setting* const path = settings.find("model_config.model_path");
  const config::Setting* const with_ckpt = settings.find("model_config.with_ckpt");
  if (with_ckpt && with_ckpt->value == Json(false)) return "synthetic";
  if (!path || !path->value.is_string() || path->value.as_string().empty()) return "";
  std::error_code ignored;
  if (fs::exists(path->value.as_string(), ignored)) return path->value.as_string();
  p.infos.push_back(fmt::format("{}: model_path `{}` is not here", path->origin, path->value.as_string()));
  return "";
}

Expected<void> find_weights(const sema::Modules& modules, const ModelOptions& options,
                            const CheckpointOpener& open, Prepared& p) {
  std::string folder = options.weights;
  if (folder.empty()) folder = weights_of_run_config(p.compile.sema.settings, p);
  if (folder == "synthetic" || folder.starts_with("synthetic:")) {
    auto seed = synthetic_seed(folder);
    if (!seed) return tl::unexpected(seed.error());
    p.synthetic_seed = *seed;
    return {};
  }
  if (folder.empty()) {
    const std::string named = sema::default_weights_of(modules);
    if (named.empty()) {
      p.synthetic_seed = 0;
      if (modules.main().model) p.infos.push_back("no weights are named: they are synthetic (seed 0)");
      return {};
    }
    const fs::path beside = fs::path(modules.main().path).parent_path() / named;
    std::error_code ignored;
    if (!fs::exists(beside, ignored)) {
      p.synthetic_seed = 0;
      p.infos.push_back("default weights `" + named +
                        "` are not beside the file: weights are synthetic (seed 0)");
      return {};
    }
    folder = beside.string();
  }
  auto checkpoint = open(folder);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  p.weights_folder = folder;
  const fs::path config_folder = fs::is_directory(folder) ? fs::path(folder) : fs::path(folder).parent_path();
  if (fs::exists(config_folder / "config.json") || !checkpoint->has_weights()) {
    auto hf = model::read_hf_config(config_folder);
    if (!hf) return tl::unexpected(hf.error());
    p.hf_config = std::move(*hf);
    config::add_hf_config(p.hf_config, (config_folder / "config.json").string(), p.compile.sema.settings);
  }
  if (!checkpoint->has_weights()) {
    p.synthetic_seed = 0;
    p.infos.push_back(folder + " has a config.json and no weights: they are synthetic (seed 0)");
  }
  p.checkpoint = std::move(*checkpoint);
  return {};
}
}  // namespace

sk_dtype synthetic_dtype(const Prepared& prepared) {
  sk_dtype out = model::WeightOptions{}.synthetic_dtype;
  for (const DTypeName& n : kDTypeNames)
    if (n.torch == prepared.compile.sema.builtins.dtype) out = n.type;
  return out;
}

Expected<Prepared> prepare(const sema::Modules& modules, const ModelOptions& options, int64_t requests,
                           const CheckpointOpener& open) {
  Prepared p;
  config::Settings& settings = p.compile.sema.settings;
  config::Builtins& built = p.compile.sema.builtins;
  diag::Engine& diags = modules.diags();
  const config::RunContext context{options.mode,
                                   [&](std::string_view key) { return sema::declares_config(modules, key); }};
  settings.lenient = options.lenient;
  if (!options.config.empty())
    if (auto ok = config::read_run_config(options.config, context, settings, diags); !ok)
      return tl::unexpected(ok.error());
  for (const std::string& text : options.set) {
    auto s = config::parse_set(text);
    if (!s) return tl::unexpected(s.error());
    settings.items.push_back(std::move(*s));
  }
  config::check_run_settings(context, settings, diags);
  if (diags.has_errors()) return fail("the run config has errors");
  if (auto ok = find_weights(modules, options, open, p); !ok) return tl::unexpected(ok.error());
  config::check_run_rules(config::RunView(settings, context), diags);
  if (diags.has_errors()) return fail("the run config has errors");
  if (p.checkpoint && p.checkpoint->has_weights())
    if (auto ok = check_layer_count(settings, *p.checkpoint); !ok) return tl::unexpected(ok.error());
  const config::Setting* const tied = settings.find("tie_word_embeddings");
  if (p.checkpoint && tied && tied->value == Json(true))
    if (auto ok = model::check_tied_head(*p.checkpoint, tied->origin); !ok) return tl::unexpected(ok.error());

  // Modes: a flag wins over --set, that over the run config.
  const config::Setting* mode = settings.find("exe_mode");
  const std::string from = !options.mode.empty() ? "--mode " + options.mode : mode ? mode->origin : "";
  built.exe_mode = !options.mode.empty()             ? options.mode
                   : mode && mode->value.is_string() ? mode->value.as_string()
                   : mode                            ? to_json(mode->value)
                                                     : "eager";
  static const std::vector<std::string> kModes{"eager", "npugraph_ex", "ge_graph"};
  if (std::find(kModes.begin(), kModes.end(), built.exe_mode) == kModes.end()) {
    Error e = usage(from + ": unknown mode `" + built.exe_mode + "`", {});
    const std::string near = diag::nearest(built.exe_mode, kModes);
    e.notes.push_back(near.empty() ? "help: modes are eager, npugraph_ex and ge_graph"
                                   : "help: did you mean `" + near + "`?");
    return tl::unexpected(e);
  }
  p.capture = capture_options(settings);

  if (!from.empty()) p.origins["exe_mode"] = from;

  // transformers 5 writes `dtype`, before it `torch_dtype`; of both, `dtype` counts.
  const Json* torch_dtype = nullptr;
  for (const char* key : {"torch_dtype", "dtype"})
    if (const Json* given = p.hf_config.find(key); given && !given->is_null()) torch_dtype = given;
  const config::Setting* dtype = settings.find("dtype");
  const Json chosen = dtype && dtype->layer != config::Layer::HfConfig ? dtype->value
                      : torch_dtype                                    ? *torch_dtype
                                                                       : Json("bfloat16");
  built.dtype = chosen.is_string() ? chosen.as_string() : to_json(chosen);
  if (built.dtype.starts_with("torch.")) built.dtype.erase(0, std::string_view("torch.").size());
  if (dtype && dtype->layer != config::Layer::HfConfig)
    p.origins["dtype"] = dtype->origin;
  else if (torch_dtype)
    p.origins["dtype"] =
        fmt::format("{} of config.json", torch_dtype == p.hf_config.find("dtype") ? "dtype" : "torch_dtype");
  if (built.dtype == "f32") built.dtype = "float32";
  if (built.dtype == "bf16") built.dtype = "bfloat16";
  if (built.dtype != "float32" && built.dtype != "bfloat16" && built.dtype != "float16")
    return fail((dtype ? dtype->origin : std::string("config.json")) + ": dtype `" + built.dtype +
                    "` is not an activation dtype",
                {"help: use float32, bfloat16 or float16"});

  const auto pick = [&](const std::optional<int64_t>& flag, const char* key, int64_t least,
                        int64_t otherwise) -> Expected<int64_t> {
    if (flag) {
      if (*flag < least)
        return tl::unexpected(usage(std::string(key) + " is " + std::to_string(*flag) + ", at least " +
                                    std::to_string(least) + " is required"));
      p.origins[key] = fmt::format("--{} {}", flag_name(key), *flag);
      return *flag;
    }
    auto s = int_setting(settings, key, least);
    if (!s) return tl::unexpected(s.error());
    if (const config::Setting* given = settings.find(key)) p.origins[key] = given->origin;
    return s->value_or(otherwise);
  };
  int64_t positions = 2048;
  if (const Json* m = p.hf_config.find("max_position_embeddings"); m && !m->is_null()) {
    if (!m->is_int() || m->as_int() < 1)
      return fail("config.json: `max_position_embeddings` is " + to_json(*m) +
                  ", an integer of at least 1 is required");
    positions = m->as_int();
    p.origins["max_seq_len"] = "max_position_embeddings of config.json";
  }
  auto seq = pick(options.max_seq_len, "max_seq_len", 1, positions);
  if (!seq) return tl::unexpected(seq.error());
  built.max_seq_len = *seq;
  auto block = pick(options.block_size, "block_size", 1, 128);
  if (!block) return tl::unexpected(block.error());
  built.block_size = *block;
  auto batch = pick({}, "batch_size", 1, std::max<int64_t>({requests, sema::script_requests(modules), 1}));
  if (!batch) return tl::unexpected(batch.error());
  built.batch_size = *batch;
  auto blocks = pick(options.kv_blocks, "kv_blocks", 2,
                     1 + built.batch_size * ((built.max_seq_len + built.block_size - 1) / built.block_size));
  if (!blocks) return tl::unexpected(blocks.error());
  built.kv_blocks = *blocks;
  if (built.max_seq_len > (int64_t{1} << 31) || built.kv_blocks > (int64_t{1} << 31) ||
      built.block_size > (int64_t{1} << 31))
    return fail("max_seq_len, kv_blocks and block_size must stay below 2^31");

  const config::NpuGraphOptions npu = config::npugraph_options(settings);
  if (built.exe_mode == "npugraph_ex" && npu.super_kernel_optimize) {
    auto read =
        superkernel::read_capture_options(npu.super_kernel_optimize_options, npu.super_kernel_debug_options);
    if (!read) return fail(read.error().message, {"help: " + read.error().help});
    p.schedule.capture = std::move(read->options);
  }
  p.schedule.superkernel = options.superkernel == "on";
  auto native = native_options(options, p.capture, built.exe_mode);
  if (!native) return tl::unexpected(native.error());
  p.native = *native;
  if (const config::Setting* cann = settings.find("target.cann")) {
    const std::string release = cann->value.is_string() ? cann->value.as_string() : to_json(cann->value);
    if (!superkernel::is_release(release))
      return fail(fmt::format("{}: `{}` is no CANN release", cann->origin, release),
                  {fmt::format("help: write a release such as {}", superkernel::kNewestCann)});
    p.schedule.cann = release;
  }
  p.compile.sema.draft = options.mtp > 0;
  if (options.mtp < 0 || options.mtp > model::kMaxDrafts)
    return tl::unexpected(usage("--mtp is " + std::to_string(options.mtp) + ", 1 to " +
                                std::to_string(model::kMaxDrafts) + " guesses after each step are possible"));

  passes::PassOptions& passes = p.compile.passes;
  passes.print_after = options.print_after;
#ifdef NDEBUG
  // Which pass was wrong is asked for with --print-after or --stop-after; everyday runs check the outcome.
  if (passes.print_after.empty() && !options.stop_after) passes.verify = passes::PassOptions::Verify::Last;
#endif
  passes.skip = options.skip_pass;
  if (built.exe_mode == "npugraph_ex" && !p.capture.remove_noop_ops) passes.skip.emplace_back("remove-noops");
  if (options.stop_after) passes.stop_after = static_cast<size_t>(std::max<int64_t>(*options.stop_after, 0));
  if (built.exe_mode != "eager" &&
      std::find(passes.skip.begin(), passes.skip.end(), "inline-layers") != passes.skip.end())
    return tl::unexpected(
        usage("--skip-pass inline-layers goes with eager only: a graph needs its layers inlined"));
  for (const auto* names : {&passes.print_after, &passes.skip})
    for (const std::string& name : *names)
      if (name != "all" && !passes::find(name)) {
        std::vector<std::string> known;
        for (const passes::Pass& pass : passes::all()) known.emplace_back(pass.name);
        std::string list;
        for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
        return tl::unexpected(usage("there is no pass `" + name + "`", {"help: the passes are " + list}));
      }
  return p;
}

}  // namespace skdsl::cli
