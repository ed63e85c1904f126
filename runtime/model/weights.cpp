#include "runtime/model/weights.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "runtime/base/assert.h"
#include "runtime/base/file.h"
#include "runtime/model/synthetic.h"
#include "runtime/model/weight_accounting.h"
#include "runtime/model/weight_decl.h"

namespace skdsl::model {

namespace {

class CheckpointSources final : public Sources {
 public:
  explicit CheckpointSources(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
  std::optional<Found> find(const std::string& name) const override {
    const TensorInfo* info = checkpoint_.find(name);
    if (!info) return {};
    return Found{info->dtype, info->dtype_name, info->shape, checkpoint_.file_of(*info).string()};
  }
  Expected<Tensor> tensor(const std::string& name) const override { return checkpoint_.tensor(name); }
  bool allocates(const std::string& name) const override {
    const TensorInfo* info = checkpoint_.find(name);
    const auto address = reinterpret_cast<uintptr_t>(checkpoint_.bytes(*info).data());
    return address % static_cast<uintptr_t>(dtype_bytes(info->dtype)) != 0;
  }

 private:
  const Checkpoint& checkpoint_;
};

class SyntheticSources final : public Sources {
 public:
  SyntheticSources(std::map<std::string, SourceSpec, std::less<>> specs, uint64_t seed)
      : specs_(std::move(specs)), seed_(seed) {}
  std::optional<Found> find(const std::string& name) const override {
    const SourceSpec& spec = specs_.find(name)->second;
    return Found{spec.dtype, std::string(dtype_name(spec.dtype)), spec.shape, "synthetic weights"};
  }
  Expected<Tensor> tensor(const std::string& name) const override {
    const SourceSpec& spec = specs_.find(name)->second;
    Tensor out = Tensor::empty(spec.dtype, spec.shape);
    fill_synthetic(spec, seed_, 0, out.elements(), out.data<std::byte>());
    return out;
  }
  bool allocates(const std::string&) const override { return true; }

 private:
  std::map<std::string, SourceSpec, std::less<>> specs_;
  uint64_t seed_;
};

template <class To, class From>
void convert(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const From*>(from);
  auto* out = static_cast<To*>(to);
  for (int64_t i = 0; i < count; ++i) out[i] = from_f32<To>(to_f32(in[i]));
}
template <class To>
void convert_from(sk_dtype from_dtype, const void* from, void* to, int64_t count) {
  if (from_dtype == SK_F32) convert<To, float>(from, to, count);
  if (from_dtype == SK_BF16) convert<To, bf16>(from, to, count);
  if (from_dtype == SK_F16) convert<To, f16>(from, to, count);
}

/// Copies a contiguous tensor's elements to `to`, in `dtype`.
void copy_elements(const Tensor& from, sk_dtype dtype, std::byte* to) {
  const int64_t n = from.elements();
  if (from.dtype() == dtype) {
    if (n > 0) std::memcpy(to, from.view.data, static_cast<size_t>(from.bytes()));
  } else if (dtype == SK_F32) {
    convert_from<float>(from.dtype(), from.view.data, to, n);
  } else if (dtype == SK_BF16) {
    convert_from<bf16>(from.dtype(), from.view.data, to, n);
  } else {
    SK_ASSERT(dtype == SK_F16, "only float types convert");
    convert_from<f16>(from.dtype(), from.view.data, to, n);
  }
}

/// Bytes that the system can give without swapping; nothing when it does not say.
std::optional<uint64_t> available_memory() {
  const auto text = read_file("/proc/meminfo");
  if (!text) return {};
  constexpr std::string_view kKey = "MemAvailable:";
  const size_t at = text->find(kKey);
  if (at == text->npos) return {};
  return std::strtoull(text->c_str() + at + kKey.size(), nullptr, 10) * 1024;
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1u << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

/// The bytes of a recipe's result; as many as can be named when the number does not fit.
uint64_t bytes_of(const Recipe& recipe) {
  const auto count = element_count(recipe.shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, dtype_bytes(recipe.dtype), &bytes)) {
    return std::numeric_limits<int64_t>::max();
  }
  return static_cast<uint64_t>(bytes);
}

Expected<void> check_memory(const std::vector<Recipe>& recipes, const WeightOptions& options,
                            uint64_t& allocated) {
  std::unordered_set<std::string_view> counted;
  for (const Recipe& recipe : recipes) {
    if (recipe.view || !counted.insert(recipe.key).second) continue;
    if (__builtin_add_overflow(allocated, bytes_of(recipe), &allocated)) {
      allocated = std::numeric_limits<uint64_t>::max();
    }
  }
  const auto limit = options.memory_bytes ? options.memory_bytes : available_memory();
  if (!limit || allocated <= *limit) return {};
  return fail_environment(
      fmt::format("the weights need {} of memory; {} are available", size_text(allocated), size_text(*limit)),
      {options.synthetic_seed ? "help: use a smaller configuration (`--set`), or a narrower `--set dtype=`"
                              : "help: run on a machine with more memory"});
}

Expected<Tensor> assemble(const Recipe& recipe, const Sources& sources) {
  const auto& rows = recipe.decl->sources;
  if (is_alone(*recipe.decl)) {
    auto stored = sources.tensor(rows[0][0]);
    if (!stored) return stored;
    if (stored->dtype() == recipe.dtype) return stored->reshaped(recipe.shape);
  }
  Tensor out = Tensor::empty(recipe.dtype, recipe.shape);
  auto* to = out.data<std::byte>();
  for (const auto& row : rows)
    for (const std::string& name : row) {
      const auto part = sources.tensor(name);
      if (!part) return part;
      copy_elements(*part, recipe.dtype, to);
      to += part->elements() * dtype_bytes(recipe.dtype);
    }
  return out;
}

}  // namespace

Expected<Weights> Weights::load(const plan::Program& program, const Checkpoint* checkpoint,
                                const WeightOptions& options) {
  std::unique_ptr<Sources> sources;
  if (options.synthetic_seed) {
    if (!is_float(options.synthetic_dtype)) {
      return fail(fmt::format("synthetic weights must be of a float type, not {}",
                              dtype_name(options.synthetic_dtype)));
    }
    auto specs = synthetic_sources(program, options.synthetic_dtype);
    if (!specs) return tl::unexpected(specs.error());
    sources = std::make_unique<SyntheticSources>(std::move(*specs), *options.synthetic_seed);
    checkpoint = nullptr;
  } else {
    if (!checkpoint || !checkpoint->has_weights()) {
      return fail(fmt::format("{} no weights",
                              checkpoint ? "`" + checkpoint->path().string() + "` has" : "there are"),
                  {"help: name a folder with .safetensors files, or use `--weights synthetic`"});
    }
    sources = std::make_unique<CheckpointSources>(*checkpoint);
  }

  Accounting accounting(program, *sources, checkpoint);
  for (const plan::WeightDecl& decl : program.weights) accounting.add(decl);
  const std::string where = checkpoint ? checkpoint->path().string() : "synthetic weights";
  if (auto ok = accounting.verdict(where); !ok) return tl::unexpected(ok.error());

  Weights weights;
  if (checkpoint) weights.warnings_ = unread_tensors(program, *checkpoint, accounting.used());
  if (options.strict && !weights.warnings_.empty()) {
    auto notes = weights.warnings_;
    notes.push_back("help: name tensors that are not the model's with `unused \"…\"` in the model");
    return fail(fmt::format("`{}` holds tensors that the model does not read", where), std::move(notes));
  }
  if (checkpoint)
    if (auto ok = check_values(*checkpoint, accounting.used()); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_memory(accounting.recipes(), options, weights.allocated_bytes_); !ok) {
    return tl::unexpected(ok.error());
  }

  std::unordered_map<std::string, Tensor> made;
  for (const Recipe& recipe : accounting.recipes()) {
    auto at = made.find(recipe.key);
    if (at == made.end()) {
      auto tensor = assemble(recipe, *sources);
      if (!tensor) return tl::unexpected(tensor.error());
      weights.total_bytes_ += static_cast<uint64_t>(tensor->bytes());
      at = made.emplace(recipe.key, std::move(*tensor)).first;
    }
    weights.by_path_.emplace(recipe.decl->path, at->second);
  }
  return weights;
}

WeightReport inspect_weights(const plan::Program& program, const Checkpoint& checkpoint, bool values) {
  const CheckpointSources sources(checkpoint);
  Accounting accounting(program, sources, &checkpoint);
  for (const plan::WeightDecl& decl : program.weights) accounting.add(decl);
  WeightReport report;
  report.unread = unread_tensors(program, checkpoint, accounting.used());
  for (const TensorInfo& t : checkpoint.tensors()) {
    if (!accounting.used().contains(t.name)) continue;
    ++report.tensors;
    report.bytes += t.bytes;
  }
  auto ok = accounting.verdict(checkpoint.path().string());
  if (ok && values) ok = check_values(checkpoint, accounting.used());
  if (!ok) report.error = std::move(ok.error());
  return report;
}

const Tensor* Weights::find(std::string_view path) const {
  const auto at = by_path_.find(path);
  return at == by_path_.end() ? nullptr : &at->second;
}

}  // namespace skdsl::model
