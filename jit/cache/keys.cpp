#include "jit/cache/keys.h"

#include "jit/cache/sha256.h"

namespace skdsl::jit {

namespace {

// Numbers and texts one after the other, each with its end, so that no two lists give the same bytes.
class Writer {
 public:
  Writer& operator<<(uint64_t n) {
    text_ += std::to_string(n) + ',';
    return *this;
  }
  Writer& operator<<(const std::string& s) {
    *this << s.size();
    text_ += s;
    return *this;
  }
  Writer& operator<<(const std::vector<int64_t>& list) {
    *this << list.size();
    for (const int64_t n : list) *this << static_cast<uint64_t>(n);
    return *this;
  }
  std::string digest() const { return sha256(text_); }

 private:
  std::string text_;
};

void write(Writer& w, const exec::NativeKernel& k) {
  w << std::string(info(k.code).name);
  for (const auto* list : {&k.in, &k.out}) {
    w << list->size();
    for (const exec::NativeTensor& t : *list) w << t.dim << t.stride << t.dtype << t.layout;
  }
  w << k.attrs.size();
  for (const exec::NativeAttr& a : k.attrs) w << a.is_list << a.bits << a.list;
}

std::string plan_hash(const exec::NativeStep& step) {
  Writer w;
  w << step.name << step.solo << step.functions.size();
  for (const exec::NativeFunction& f : step.functions) {
    w << f.name << f.plain << f.meetings << f.kernels.size();
    for (const exec::NativeKernel& k : f.kernels) {
      write(w, k);
      w << k.phases << k.alone << k.may_fault << k.workspace << k.loc.file << k.loc.line << k.loc.column
        << k.weights.size();
      for (const uint32_t i : k.weights) w << i;
    }
    w << f.ops.size();
    for (const exec::NativeOp& op : f.ops)
      w << static_cast<uint64_t>(op.kind) << op.kernel << op.phase << op.meeting << op.how;
  }
  w << step.launches.size();
  for (const exec::NativeLaunch& l : step.launches) w << l.function << l.how;
  w << step.files.size();
  for (const std::string& f : step.files) w << f;
  return w.digest();
}

void add_build(CacheKey& key, const BuildKey& build) {
  key.emplace_back("target", build.target);
  key.emplace_back("llvm", build.llvm);
  key.emplace_back("skdsl", build.skdsl);
  key.emplace_back("jit", build.jit);
}

}  // namespace

std::string fingerprint(const exec::NativeKernel& kernel) {
  Writer w;
  write(w, kernel);
  return w.digest();
}

CacheKey key_of(const BuildKey& build) {
  CacheKey key;
  add_build(key, build);
  return key;
}

CacheKey key_of(const exec::NativeStep& step, const BuildKey& build) {
  CacheKey key{{"kind", "step"}, {"name", step.name}, {"workers", step.solo ? "one" : "several"}};
  std::string options;
#define SK_NATIVE_OPTION(name, on, text) \
  if (step.options.name) options += (options.empty() ? "" : " ") + std::string(#name);
#include "runtime/exec/native_options.def"
#undef SK_NATIVE_OPTION
  key.emplace_back("options", options);
  key.emplace_back("plan", plan_hash(step));
  add_build(key, build);
  return key;
}

CacheKey key_of(const exec::NativeKernel& kernel, const BuildKey& build) {
  CacheKey key{
      {"kind", "kernel"}, {"name", std::string(info(kernel.code).name)}, {"plan", fingerprint(kernel)}};
  add_build(key, build);
  return key;
}

}  // namespace skdsl::jit
