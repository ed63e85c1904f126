#include "cli/plan_cache.h"

#include <sys/stat.h>

#include "jit/cache/sha256.h"
#include "runtime/plan/archive.h"

namespace skdsl::sema {
SK_ARCHIVE(EffectiveValue, key, value, layer, origin)
SK_ARCHIVE(Elaborated, program, model, draft, default_weights, has_script, config, harmless_keys, vocab_size)
}  // namespace skdsl::sema

namespace skdsl::config {
SK_ARCHIVE(Builtins, exe_mode, dtype, max_seq_len, block_size, kv_blocks, batch_size, world_size)
}  // namespace skdsl::config

namespace skdsl::cli {

namespace {

// Below this compiling takes no longer than reading back.
constexpr size_t kSmallestOps = 200;

bool is_small(const plan::Program& program) {
  size_t ops = 0;
  for (const plan::Function& f : program.functions) ops += f.ops.size();
  return ops < kSmallestOps;
}

/// This build of the program: its version, size and time.
std::string build() {
  struct stat self{};
  ::stat("/proc/self/exe", &self);
  return fmt::format("{} {} {}.{:09}", SKDSL_VERSION, self.st_size, self.st_mtim.tv_sec,
                     self.st_mtim.tv_nsec);
}

jit::CacheKey key_of(std::string kind, std::string name, std::string digest) {
  return {
      {"kind", std::move(kind)}, {"name", std::move(name)}, {"plan", std::move(digest)}, {"build", build()}};
}

std::string read_by_compiling(const source::Sources& sources, const CompileOptions& options) {
  plan::Packer p;
  for (uint32_t file = 1; file < sources.size(); ++file)
    p(sources.name(file), std::string(sources.text(file)));
  const sema::Options& s = options.sema;
  p(s.builtins, s.run_script, s.draft, s.settings.lenient);
  for (const config::Setting& i : s.settings.items)
    p(i.key, to_json(i.value), i.layer, i.origin, i.derived, i.section, i.span, i.key_span);
  p(options.passes.skip, options.passes.stop_after);
  return std::move(p.bytes);
}

}  // namespace

std::optional<std::string> PlanCache::get(const jit::CacheKey& key) {
  std::string trouble;
  auto bytes = cache_.get(key, trouble);
  if (!trouble.empty()) diags_.report({}, diag::Id::ObjectCache, trouble);
  return bytes;
}

void PlanCache::put(const jit::CacheKey& key, const std::string& bytes) {
  const std::string trouble = cache_.put(key, bytes);
  if (!trouble.empty()) diags_.report({}, diag::Id::ObjectCache, trouble);
}

std::optional<sema::Elaborated> PlanCache::find(const sema::Modules& modules, const CompileOptions& options) {
  if (!cache_.on() || !options.passes.print_after.empty()) return {};
  program_ =
      key_of("program", modules.main().path, jit::sha256(read_by_compiling(diags_.sources(), options)));
  const auto bytes = get(program_);
  if (!bytes) return {};
  auto program = plan::unpack<sema::Elaborated>(*bytes);
  if (!program) {
    diags_.report({}, diag::Id::ObjectCache, "a program is not used: " + program.error().message);
    return {};
  }
  found_ = true;
  return std::move(*program);
}

std::optional<sema::Elaborated> PlanCache::compile(const sema::Modules& modules,
                                                   const CompileOptions& options) {
  if (auto program = find(modules, options)) return program;
  const size_t before = reports();
  auto program = skdsl::compile(modules, options, diags_);
  quiet_ = reports() == before;
  return program;
}

plan::CompileHook PlanCache::graph_compiler(schedule::ScheduleOptions options) {
  auto make = skdsl::graph_compiler(diags_, options);
  if (program_.empty()) return make;
  return [this, make = std::move(make), options = std::move(options)](
             const plan::Program& program, const plan::GraphKey& key) -> Expected<plan::Schedule> {
    plan::Packer p;
    p(program_, key.function, key.bindings, options.superkernel, options.cann, options.platform.aic,
      options.platform.aiv);
    const jit::CacheKey at = key_of("graph", key.function, jit::sha256(p.bytes));
    if (const auto bytes = get(at)) {
      auto schedule = plan::unpack<plan::Schedule>(*bytes);
      if (schedule) return schedule;
      diags_.report({}, diag::Id::ObjectCache, "a graph is not used: " + schedule.error().message);
    }
    const size_t before = reports();
    auto schedule = make(program, key);
    if (schedule && reports() == before) graphs_.emplace_back(at, plan::pack(*schedule));
    return schedule;
  };
}

void PlanCache::keep(const sema::Elaborated& compiled) {
  if (program_.empty() || is_small(compiled.program)) return;
  if (!found_ && quiet_) put(program_, plan::pack(compiled));
  for (const auto& [key, bytes] : graphs_) put(key, bytes);
  graphs_.clear();
}

}  // namespace skdsl::cli
