#include "jit/host/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "jit/cache/symbols.h"
#include "jit/host/library.h"
#include "jit/host/processor.h"
#include "jit/load/load.h"
#include "jit/load/runtime_symbols.h"

namespace skdsl::jit {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> cannot_open(std::vector<std::string> tried) {
  const std::string last = tried.back();
  tried.pop_back();
  return tl::unexpected(Error{ErrorKind::Environment, "the JIT cannot be opened: " + last, std::move(tried)});
}

Expected<Engine*> open() {
  std::vector<std::string> tried;
  for (const fs::path& path : library_places()) {
    std::error_code none;
    if (!fs::exists(path, none)) {
      tried.push_back("no file " + path.string());
      continue;
    }
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
      tried.emplace_back(::dlerror());
      continue;
    }
    auto* make = reinterpret_cast<Engine* (*)(const char*)>(::dlsym(library, "skdsl_jit_open"));
    Engine* engine = make ? make(SKDSL_JIT_STAMP) : nullptr;
    if (engine) return engine;
    tried.push_back(path.string() + " is of another build");
  }
  return cannot_open(std::move(tried));
}

class Code final : public exec::NativeCode {
 public:
  Code(std::unique_ptr<Linked> linked, exec::NativeEntry entry, exec::NativeInfo info)
      : linked_(std::move(linked)), entry_(entry), info_(info) {}
  exec::NativeEntry entry() const override { return entry_; }
  const exec::NativeInfo& info() const override { return info_; }

 private:
  std::unique_ptr<Linked> linked_;
  exec::NativeEntry entry_;
  exec::NativeInfo info_;
};

}  // namespace

Expected<Engine*> engine() {
  static const Expected<Engine*> kEngine = open();
  return kEngine;
}

Expected<BuildKey> build_key() {
  std::vector<std::string> tried;
  for (const fs::path& path : library_places()) {
    auto id = build_id_of(path);
    // The stamp stands for the program's side: what code calls and how its arguments lie.
    if (id) return BuildKey{processor(), SKDSL_LLVM_VERSION, SKDSL_JIT_STAMP, *id};
    tried.push_back(id.error().message);
  }
  return cannot_open(std::move(tried));
}

/// One of the objects that a step is linked from.
struct Compiler::Part {
  CacheKey key;
  std::function<Expected<Object>(Engine&)> make;
  std::optional<Object> object;
};

std::vector<Compiler::Part> Compiler::parts_of(const exec::NativeStep& step, const BuildKey& build) {
  std::vector<Part> out;
  out.push_back({key_of(step, build), [&step](Engine& e) { return e.compile(step); }, {}});
  if (!step.options.static_kernels) return out;
  std::set<std::string> done;
  for (const exec::NativeFunction& f : step.functions)
    for (const exec::NativeKernel& k : f.kernels)
      if (const std::string symbol = kernel_symbol(k, true); done.insert(symbol).second)
        out.push_back(
            {key_of(k, build), [&k, symbol](Engine& e) { return e.compile_kernel(k, symbol); }, {}});
  return out;
}

bool Compiler::look_up(std::vector<Part>& parts) {
  bool all = true;
  for (Part& p : parts) {
    std::string trouble;
    p.object = cache_.get(p.key, trouble);
    warn(trouble);
    all &= p.object.has_value();
  }
  return all;
}

Expected<std::unique_ptr<Linked>> Compiler::load_cached(std::vector<Part>& parts) {
  std::vector<Object> objects;
  for (const Part& p : parts) objects.push_back(*p.object);
  return load(objects, runtime_symbols());
}

Expected<std::unique_ptr<Linked>> Compiler::compile_missing(std::vector<Part>& parts, Engine& engine) {
  std::vector<Object> objects;
  for (Part& p : parts) {
    if (!p.object) {
      auto made = p.make(engine);
      if (!made) return tl::unexpected(made.error());
      warn(cache_.put(p.key, *made));
      p.object = std::move(*made);
    }
    objects.push_back(std::move(*p.object));
  }
  return engine.link(objects, runtime_symbols());
}

bool Compiler::cold() const {
  const auto build = build_key();
  return build && !cache_.holds_build(key_of(*build));
}

void Compiler::open_early() {
  opening_ = std::jthread([] { (void)engine(); });
}

void Compiler::warn(const std::string& trouble) {
  if (!trouble.empty() && warn_ && warned_.insert(trouble).second) warn_(trouble);
}

Expected<std::unique_ptr<exec::NativeCode>> Compiler::compile(const exec::NativeStep& step) {
  const auto start = std::chrono::steady_clock::now();
  auto build = build_key();
  if (!build) return tl::unexpected(build.error());
  exec::NativeInfo info;
  std::vector<Part> parts = parts_of(step, *build);
  info.from_cache = look_up(parts);
  std::unique_ptr<Linked> linked;
  if (info.from_cache && kLoads) {
    if (auto loaded = load_cached(parts)) {
      linked = std::move(*loaded);
    } else {
      warn(loaded.error().message + "; it is compiled again");
      for (Part& p : parts) p.object.reset();
      info.from_cache = false;
    }
  }
  if (!linked) {
    const auto opened = engine();
    if (!opened) return tl::unexpected(opened.error());
    // The file that was looked at may be another by now, or of another build than the program's.
    if ((*opened)->build_id() != build->jit) {
      build->jit = (*opened)->build_id();
      parts = parts_of(step, *build);
      info.from_cache = look_up(parts);
    }
    auto made = compile_missing(parts, **opened);
    if (!made) return tl::unexpected(made.error());
    linked = std::move(*made);
  }
  const auto entry = linked->find(step.name);
  if (!entry) return tl::unexpected(entry.error());
  info.static_kernels = parts.size() - 1;
  info.functions = static_cast<size_t>(
      std::count_if(step.functions.begin(), step.functions.end(), [](const auto& f) { return !f.plain; }));
  info.code_bytes = linked->code_bytes();
  info.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::unique_ptr<exec::NativeCode>(
      new Code(std::move(linked), reinterpret_cast<exec::NativeEntry>(const_cast<void*>(*entry)), info));
}

}  // namespace skdsl::jit
