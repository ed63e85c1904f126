// report — what `skdsl import` found, as YAML for `run`, as text and as JSON
#include <algorithm>

#include "cli/import/import.h"

namespace skdsl::cli {

namespace {

/// A word of a command line, quoted where a shell would split it.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%") == text.npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Text for a comment: nothing in a path may end the line.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return text;
}

std::string shown(const Json& value) {
  std::string text = to_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

void add_keys(std::string& out, std::string_view title, const std::vector<ImportedKey>& keys) {
  if (keys.empty()) return;
  out += fmt::format("{}:\n", title);
  size_t width = 0;
  for (const ImportedKey& k : keys) width = std::max(width, k.key.size());
  for (const ImportedKey& k : keys)
    out += fmt::format("  {:<{}}  {}{}\n", k.key, width, shown(k.value),
                       k.use.empty() ? "" : "  (" + k.use + ")");
}

Json keys_json(const std::vector<ImportedKey>& keys) {
  Json::Object out;
  for (const ImportedKey& k : keys) out.emplace_back(k.key, k.value);
  return out;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1u << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string run_yaml(const Imported& imported) {
  std::string out =
      fmt::format("# Run config of {}{}, written by `skdsl import`.\n", one_line(imported.folder),
                  imported.family ? fmt::format(" ({})", imported.family->architecture) : "");
  out += fmt::format("#   {}\n", one_line(run_command_line(imported, "THIS_FILE")));
  out += fmt::format("model_config:\n  exe_mode: {}\n  dtype: {}\n", imported.mode, imported.dtype);
  if (!imported.left_out.empty()) {
    out += "  custom_params:  # keys that config.json leaves out, as transformers fills them in\n";
    for (const auto& [key, value] : imported.left_out)
      out += fmt::format("    {}: {}\n", key, to_json(value));
  }
  out += fmt::format("scheduler_config:\n  max_seq_len: {}{}\n  max_new_tokens: 32\n", imported.max_seq_len,
                     imported.max_seq_len < imported.positions
                         ? fmt::format("  # of {} positions; the cache grows with it", imported.positions)
                         : "");
  return out;
}

std::string run_command_line(const Imported& imported, const std::string& config) {
  const std::string prompt = imported.tokenizer.empty() ? "--prompt-ids 1,2,3" : "--prompt \"…\"";
  return fmt::format("skdsl run {} --config {} --weights {} {}", shell_word(imported.model),
                     shell_word(config), shell_word(imported.folder), prompt);
}

std::string import_text(const Imported& imported, const std::string& config) {
  std::string out =
      fmt::format("{}: {}, runs with {}\n", imported.folder,
                  imported.family ? imported.family->architecture : "a model of its own", imported.model);
  if (imported.files > 0)
    out +=
        fmt::format("weights: {} tensors, {}, in {} file{}; all that the model needs, in the right shapes\n",
                    imported.weights.tensors, bytes_text(imported.weights.bytes), imported.files,
                    imported.files == 1 ? "" : "s");
  out += fmt::format("tokenizer: {}\n",
                     imported.tokenizer.empty() ? "none; prompts are token ids" : imported.tokenizer);
  out += fmt::format("end tokens: {}\n", imported.end_tokens.empty()
                                             ? "none"
                                             : fmt::format("{}", fmt::join(imported.end_tokens, ", ")));
  add_keys(out, "read by the model", imported.used);
  add_keys(out, "read by the runtime", imported.runtime);
  add_keys(out, "without effect", imported.without_effect);
  add_keys(out, "unknown", imported.unknown);
  std::vector<ImportedKey> left_out;
  for (const auto& [key, value] : imported.left_out) left_out.push_back({key, value, ""});
  add_keys(out, "left out, with the default of transformers", left_out);
  add_keys(out, "generation_config.json", imported.generation);
  out += fmt::format("run it:\n  {}\n", run_command_line(imported, config));
  return out;
}

Json import_json(const Imported& imported, const std::string& config) {
  Json::Object left_out;
  for (const auto& [key, value] : imported.left_out) left_out.emplace_back(key, value);
  Json::Array ends, unread, warnings;
  for (const int64_t id : imported.end_tokens) ends.emplace_back(id);
  for (const std::string& line : imported.weights.unread) unread.emplace_back(line);
  for (const std::string& line : imported.warnings) warnings.emplace_back(line);
  return Json::Object{
      {"format_version", 1},
      {"folder", imported.folder},
      {"family", imported.family ? Json(Json::Object{{"architecture", imported.family->architecture},
                                                     {"model_type", imported.family->model_type}})
                                 : Json()},
      {"model", imported.model},
      {"weights", Json::Object{{"files", static_cast<int64_t>(imported.files)},
                               {"tensors", imported.weights.tensors},
                               {"bytes", static_cast<int64_t>(imported.weights.bytes)},
                               {"unread", std::move(unread)}}},
      {"tokenizer", imported.tokenizer.empty() ? Json() : Json(imported.tokenizer)},
      {"end_tokens", std::move(ends)},
      {"keys", Json::Object{{"used", keys_json(imported.used)},
                            {"runtime", keys_json(imported.runtime)},
                            {"without_effect", keys_json(imported.without_effect)},
                            {"unknown", keys_json(imported.unknown)},
                            {"left_out", std::move(left_out)},
                            {"generation", keys_json(imported.generation)}}},
      {"run_config", run_yaml(imported)},
      {"run_config_file", config.empty() ? Json() : Json(config)},
      {"command", run_command_line(imported, config.empty() ? "run.yaml" : config)},
      {"warnings", std::move(warnings)}};
}

}  // namespace skdsl::cli
