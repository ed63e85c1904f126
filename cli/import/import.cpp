#include "cli/import/import.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/config/hf_keys.h"
#include "runtime/model/hf_config.h"
#include "runtime/model/tokenizer.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

namespace {

/// More positions than this are reserved in a cache only when somebody asks for them.
constexpr int64_t kMaxSeqLen = 8192;

/// The names that the file's `config` declares, groups as "group.member" and as "group".
std::set<std::string, std::less<>> declared_keys(const sema::Modules& modules) {
  std::set<std::string, std::less<>> out;
  const sema::Module& m = modules.main();
  if (!m.config) return out;
  for (const ast::NodeId item : m.ast.children(m.config)) {
    const std::string name(m.ast.text(item));
    if (m.ast.kind(item) == ast::Kind::ConfigEntry) out.insert(name);
    if (m.ast.kind(item) != ast::Kind::ConfigGroup) continue;
    out.insert(name);
    for (const ast::NodeId entry : m.ast.children(item))
      out.insert(name + "." + std::string(m.ast.text(entry)));
  }
  return out;
}

/// Sorts the keys of config.json by what becomes of them.
void sort_keys(const Json& hf_config, const config::Settings& settings,
               const std::set<std::string, std::less<>>& declared, Imported& out) {
  const auto declares = [&](std::string_view key) { return declared.contains(key); };
  for (const auto& [key, value] : hf_config.as_object()) {
    if (declares(key)) {
      out.used.push_back({key, value, ""});  // null too: what "not given" means is the model's affair
      continue;
    }
    const config::Setting setting{key, value, config::Layer::HfConfig, ""};
    const config::HfVerdict verdict = config::judge_hf_key(setting, settings, declares);
    auto& list = verdict.kind == config::HfKind::Runtime                       ? out.runtime
                 : verdict.kind == config::HfKind::Unknown && !value.is_null() ? out.unknown
                                                                               : out.without_effect;
    list.push_back({key, value, verdict.text});
  }
}

/// generation_config.json and tokenizer files; what is there and not understood is a warning, as for `run`.
Expected<void> read_companions(const Json& hf_config, int64_t vocab_size, Imported& out) {
  const fs::path at(out.folder);
  const fs::path folder = fs::is_directory(at) ? at : at.parent_path();
  auto generation = model::read_generation_config(folder);
  if (!generation) return tl::unexpected(generation.error());
  if (generation->is_object())
    for (const auto& [key, value] : generation->as_object()) out.generation.push_back({key, value, ""});
  auto ends = model::stop_token_ids(folder, hf_config);
  if (!ends) return tl::unexpected(ends.error());
  out.end_tokens = std::move(*ends);
  if (!model::Tokenizer::present(folder)) return {};
  auto tokenizer = model::Tokenizer::open(folder);
  if (!tokenizer) {
    out.warnings.push_back(tokenizer.error().message + "; prompts must be token ids");
    return {};
  }
  for (const char* name : {"tokenizer.model", "tokenizer.json"})
    if (fs::exists(folder / name)) out.tokenizer = name;
  if (vocab_size > 0 && tokenizer->vocab_size() > vocab_size)
    out.warnings.push_back(
        fmt::format("{} has ids up to {}, the model embeds {}; a prompt with a greater one is refused",
                    out.tokenizer, tokenizer->vocab_size() - 1, vocab_size));
  return {};
}

}  // namespace

Expected<std::optional<Imported>> import_folder(const ImportOptions& options, diag::Engine& diags) {
  Imported out;
  out.folder = options.folder;
  // The files first: whatever config.json says, broken weights are broken.
  auto checkpoint = model::Checkpoint::open(options.folder);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  auto hf_config = model::read_hf_config(options.folder);
  if (!hf_config) return tl::unexpected(hf_config.error());
  const fs::path at(options.folder);
  const std::string where = ((fs::is_directory(at) ? at : at.parent_path()) / "config.json").string();
  if (options.model.empty()) {
    auto family = find_family(*hf_config, where);
    if (!family) return tl::unexpected(family.error());
    out.family = *family;
    auto model = find_model_file(**family);
    if (!model) return tl::unexpected(model.error());
    out.model = std::move(*model);
  } else {
    out.model = options.model;
    if (auto family = find_family(*hf_config, where)) out.family = *family;
  }

  sema::Modules modules(diags);
  modules.load_main(out.model);
  if (diags.has_errors()) return std::optional<Imported>();
  const auto declared = declared_keys(modules);
  ModelOptions run;
  run.file = out.model;
  run.weights = options.folder;
  run.mode = options.mode;
  config::Settings settings;
  config::add_hf_config(*hf_config, where, settings);
  if (out.family) {
    const auto given = [&](std::string_view key) {
      return std::any_of(settings.items.begin(), settings.items.end(),
                         [&](const config::Setting& s) { return s.key == key; });
    };
    const auto value = [&](std::string_view key) {
      const config::Setting* s = settings.find(key);
      return s ? s->value : Json();
    };
    out.left_out = family_defaults(
        *out.family, [&](std::string_view key) { return declared.contains(key) && !given(key); }, value);
    for (const auto& [key, json] : out.left_out) run.set.push_back(key + "=" + to_json(json));
  }
  auto prepared = prepare(modules, run, 1);
  if (!prepared) return tl::unexpected(prepared.error());
  sort_keys(*hf_config, prepared->compile.sema.settings, declared, out);
  const auto compiled = compile(modules, prepared->compile, diags);
  if (!compiled) return std::optional<Imported>();
  if (compiled->model.empty())
    return fail(out.model + " has no model", {"help: name a file with `model Name { … }`"});

  const config::Builtins& built = prepared->compile.sema.builtins;
  out.mode = built.exe_mode;
  out.dtype = built.dtype;
  out.positions = built.max_seq_len;
  out.max_seq_len = std::min(built.max_seq_len, kMaxSeqLen);
  if (auto ok = read_companions(*hf_config, compiled->vocab_size, out); !ok)
    return tl::unexpected(ok.error());
  if (checkpoint->has_weights()) {
    out.files = checkpoint->files().size();
    out.weights = model::inspect_weights(compiled->program, *checkpoint, !options.headers_only);
    if (out.weights.error) return tl::unexpected(std::move(*out.weights.error));
    if (options.strict && !out.weights.unread.empty())
      return fail(fmt::format("`{}` holds tensors that the model does not read", options.folder),
                  out.weights.unread);
  } else {
    out.warnings.push_back(options.folder + " has no weights: runs use synthetic ones");
  }
  return std::optional<Imported>(std::move(out));
}

}  // namespace skdsl::cli
