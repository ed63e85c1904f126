#include "jit/host/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <vector>

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
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
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

Expected<std::unique_ptr<exec::NativeCode>> Compiler::compile(const exec::NativeStep& step) {
  const auto start = std::chrono::steady_clock::now();
  const auto e = engine();
  if (!e) return tl::unexpected(e.error());
  std::vector<Object> objects;
  auto object = (*e)->compile(step);
  if (!object) return tl::unexpected(object.error());
  objects.push_back(std::move(*object));
  auto linked = (*e)->link(objects, exec::native_symbols());
  if (!linked) return tl::unexpected(linked.error());
  const void* entry = (*linked)->find(step.name);
  if (!entry) return tl::unexpected(Error{ErrorKind::Internal, "the code of `" + step.name + "` has no entry", {}});
  exec::NativeInfo info;
  info.functions = static_cast<size_t>(std::count_if(step.functions.begin(), step.functions.end(), [](const auto& f) { return !f.plain; }));
  info.code_bytes = (*linked)->code_bytes();
  info.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::unique_ptr<exec::NativeCode>(new Code(std::move(*linked), reinterpret_cast<exec::NativeEntry>(const_cast<void*>(entry)), info));
}

}  // namespace skdsl::jit
