#include "jit/host/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <vector>

#include "jit/cache/symbols.h"

namespace skdsl::jit {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> places() {
  std::vector<fs::path> out;
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none).parent_path();
  if (!none) {
    out.push_back(self / "libskdsl_jit.so");
    out.push_back(self.parent_path() / "lib" / "libskdsl_jit.so");
  }
  out.emplace_back(SKDSL_JIT_PATH);
  return out;
}

Expected<Engine*> open() {
  std::vector<std::string> tried;
  for (const fs::path& path : places()) {
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
  return tl::unexpected(Error{ErrorKind::Environment, "the JIT cannot be opened: " + tried.back(), {tried.begin(), tried.end() - 1}});
}

class Code final : public exec::NativeCode {
 public:
  Code(std::unique_ptr<Linked> linked, exec::NativeEntry entry, exec::NativeInfo info) : linked_(std::move(linked)), entry_(entry), info_(info) {}
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

BuildKey build_key(const Engine& engine) { return {engine.target(), engine.llvm_version(), SKDSL_VERSION, engine.build_id()}; }

void Compiler::open_early() {
  opening_ = std::jthread([] {
    if (const auto e = engine()) (void)(*e)->target();
  });
}

void Compiler::warn(const std::string& trouble) {
  if (!trouble.empty() && warn_ && warned_.insert(trouble).second) warn_(trouble);
}

Expected<std::unique_ptr<exec::NativeCode>> Compiler::compile(const exec::NativeStep& step) {
  const auto start = std::chrono::steady_clock::now();
  const auto opened = engine();
  if (!opened) return tl::unexpected(opened.error());
  Engine& e = **opened;
  const BuildKey build = build_key(e);
  exec::NativeInfo info;
  info.from_cache = cache_.on();
  std::vector<Object> objects;
  const auto add = [&](const CacheKey& key, const auto& make) -> Expected<void> {
    std::string trouble;
    auto object = cache_.get(key, trouble);
    warn(trouble);
    if (!object) {
      info.from_cache = false;
      auto made = make();
      if (!made) return tl::unexpected(made.error());
      warn(cache_.put(key, *made));
      object = std::move(*made);
    }
    objects.push_back(std::move(*object));
    return {};
  };
  if (auto ok = add(key_of(step, build), [&] { return e.compile(step); }); !ok) return tl::unexpected(ok.error());
  if (step.options.static_kernels) {
    std::set<std::string> done;
    for (const exec::NativeFunction& f : step.functions)
      for (const exec::NativeKernel& k : f.kernels) {
        const std::string symbol = kernel_symbol(k, true);
        if (!done.insert(symbol).second) continue;
        if (auto ok = add(key_of(k, build), [&] { return e.compile_kernel(k, symbol); }); !ok) return tl::unexpected(ok.error());
      }
    info.static_kernels = done.size();
  }
  auto linked = e.link(objects, exec::native_symbols());
  if (!linked) return tl::unexpected(linked.error());
  const auto entry = (*linked)->find(step.name);
  if (!entry) return tl::unexpected(entry.error());
  info.functions = static_cast<size_t>(std::count_if(step.functions.begin(), step.functions.end(), [](const auto& f) { return !f.plain; }));
  info.code_bytes = (*linked)->code_bytes();
  info.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::unique_ptr<exec::NativeCode>(new Code(std::move(*linked), reinterpret_cast<exec::NativeEntry>(const_cast<void*>(*entry)), info));
}

}  // namespace skdsl::jit
