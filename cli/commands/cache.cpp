// cache — the cache of compiled objects: what it holds, why a model's decode is or is not in it, and an end
// to it
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/decode_code.h"
#include "jit/host/host.h"
#include "runtime/base/json.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::string action;
  int64_t batch = 1;
  int64_t threads = 0;
  bool json = false;
};

std::string value(const jit::CacheKey& key, std::string_view name) {
  for (const auto& [n, v] : key)
    if (n == name) return v;
  return "";
}

/// What the key says of `name`, between two texts; "" when it says nothing.
std::string part(const jit::CacheKey& key, std::string_view name, std::string_view before,
                 std::string_view behind) {
  const std::string text = value(key, name);
  return text.empty() ? "" : fmt::format("{}{}{}", before, text, behind);
}

Json key_json(const jit::CacheKey& key) {
  Json::Object out;
  for (const auto& [name, text] : key) out.emplace_back(name, text);
  return out;
}

int ls(const Options& options, Context& context, const jit::ObjectCache& cache) {
  const auto entries = cache.entries();
  uint64_t total = 0;
  Json::Array list;
  for (const auto& e : entries) {
    total += e.bytes;
    list.push_back(Json::Object{{"file", e.file.string()},
                                {"bytes", static_cast<int64_t>(e.bytes)},
                                {"key", key_json(e.key)},
                                {"wrong", e.wrong.empty() ? Json(nullptr) : Json(e.wrong)}});
    if (options.json) continue;
    if (!e.wrong.empty())
      context.out << fmt::format("{:>9} bytes  damaged: {} ({})\n", e.bytes, e.file.string(), e.wrong);
    else
      context.out << fmt::format("{:>9} bytes  {:<7} {}, {}plan {}{}\n", e.bytes, value(e.key, "kind"),
                                 value(e.key, "name"), part(e.key, "workers", "workers: ", ", "),
                                 value(e.key, "plan").substr(0, 12), part(e.key, "llvm", ", LLVM ", ""));
  }
  if (options.json)
    context.out << to_json(Json::Object{{"format_version", 1},
                                        {"folder", cache.folder().string()},
                                        {"limit_bytes", static_cast<int64_t>(cache.limit())},
                                        {"bytes", static_cast<int64_t>(total)},
                                        {"objects", std::move(list)}},
                           1)
                << '\n';
  else
    context.out << fmt::format("{} objects, {} of {} bytes in {}\n", entries.size(), total, cache.limit(),
                               cache.on() ? cache.folder().string() : "no cache");
  return kDone;
}

/// The entry of the same kind and name that differs in the fewest parts, and those parts.
std::string difference(const jit::CacheKey& key, const std::vector<jit::ObjectCache::Entry>& entries) {
  std::string best;
  size_t fewest = SIZE_MAX;
  for (const auto& e : entries) {
    if (value(e.key, "kind") != value(key, "kind") || value(e.key, "name") != value(key, "name")) continue;
    std::string parts;
    size_t n = 0;
    for (const auto& [name, text] : key) {
      if (value(e.key, name) == text) continue;
      ++n;
      const bool plan = name == "plan";
      parts += fmt::format("{}{} is `{}`, here `{}`", n > 1 ? "; " : "", name,
                           plan ? value(e.key, name).substr(0, 12) : value(e.key, name),
                           plan ? text.substr(0, 12) : text);
    }
    if (n == 0 || n >= fewest) continue;
    fewest = n;
    best = parts;
  }
  return best;
}

int why(const Options& options, Context& context, const jit::ObjectCache& cache) {
  if (options.file.empty())
    return report(Error{ErrorKind::Usage,
                        "cache why asks about a model, and no file was given",
                        {"help: skdsl cache why examples/longcat.sk"}},
                  context);
  source::Sources sources;
  diag::Engine diags(sources);
  auto planned = plan_decode(options, options.batch, diags, context);
  if (!planned) return planned.error();
  auto steps = decode_steps(*planned, static_cast<uint32_t>(options.threads));
  if (!steps) return report(steps.error(), context);
  auto build = jit::build_key();
  if (!build) return report(build.error(), context);
  const auto entries = cache.entries();
  Json::Array list;
  for (const DecodeStep& d : *steps) {
    const jit::CacheKey key = jit::key_of(d.step, *build);
    std::string trouble;
    const bool there = cache.get(key, trouble).has_value();
    std::string reason;
    if (!there) {
      reason = !cache.on() ? "there is no cache" : !trouble.empty() ? trouble : difference(key, entries);
      if (reason.empty())
        reason = "nothing of that name was compiled yet";
      else if (trouble.empty() && cache.on())
        reason = "the nearest object is another: " + reason;
    }
    list.push_back(Json::Object{{"graph", d.graph},
                                {"cached", there},
                                {"reason", there ? Json(nullptr) : Json(reason)},
                                {"key", key_json(key)}});
    if (!options.json)
      context.out << fmt::format("{}: {}\n", d.graph, there ? "in the cache" : "not in the cache; " + reason);
  }
  if (options.json)
    context.out << to_json(Json::Object{{"format_version", 1}, {"graphs", std::move(list)}}, 1) << '\n';
  return report(diags, context);
}

int clear(const Options& options, Context& context, const jit::ObjectCache& cache) {
  const auto [files, bytes] = cache.clear();
  if (options.json)
    context.out << to_json(
                       Json::Object{
                           {"format_version", 1}, {"removed", files}, {"bytes", static_cast<int64_t>(bytes)}},
                       1)
                << '\n';
  else
    context.out << fmt::format("{} files removed, {} bytes\n", files, bytes);
  const size_t left = cache.entries().size();
  if (left > 0)
    return report(Error{ErrorKind::Environment,
                        fmt::format("{} objects in {} cannot be removed", left, cache.folder().string()),
                        {}},
                  context);
  return kDone;
}

struct Action {
  std::string_view name;
  int (*run)(const Options& options, Context& context, const jit::ObjectCache& cache);
};
constexpr Action kActions[] = {{"ls", ls}, {"why", why}, {"clear", clear}};

}  // namespace

Run define_cache(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const Action& a : kActions) names.emplace_back(a.name);
  app.add_option(
         "action", options->action,
         "ls: what it holds; why: is the decode of FILE in it, and if not, what differs; clear: removes all")
      ->required()
      ->check(CLI::IsMember(names));
  add_model_options(app, *options);
  app.get_option("file")->required(false)->description("why: the .sk file");
  app.add_option("--batch", options->batch, "why: requests of the decode graph; default 1")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options->threads, "why: workers; default: one for each core")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--json", options->json, "one JSON document on standard output");
  return [options](Context& context) {
    const jit::ObjectCache cache = jit::ObjectCache::standard();
    for (const Action& a : kActions)
      if (a.name == options->action) return a.run(*options, context, cache);
    return static_cast<int>(kUsage);
  };
}

}  // namespace skdsl::cli
