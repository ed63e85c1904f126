#include "runtime/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "runtime/base/assert.h"
#include "runtime/base/file.h"
#include "runtime/base/nearest.h"
#include "runtime/model/synthetic.h"
#include "runtime/model/weight_decl.h"

namespace skdsl::model {

namespace {

/// What a loader must know about a source tensor before it reads it.
struct Found {
  sk_dtype dtype = SK_NONE;
  std::string dtype_name;
  std::vector<int64_t> shape;
  std::string file;  // for messages
};

/// Where source tensors come from.
class Sources {
 public:
  virtual ~Sources() = default;
  virtual std::optional<Found> find(const std::string& name) const = 0;
  /// The tensor as stored; a view where possible.
  virtual Expected<Tensor> tensor(const std::string& name) const = 0;
  /// Whether `tensor` allocates.
  virtual bool allocates(const std::string& name) const = 0;
};

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

/// Whether one tensor is all there is: the weight may be a view of it.
bool is_alone(const plan::WeightDecl& decl) { return decl.sources.size() == 1 && decl.sources[0].size() == 1; }

/// A declaration whose sources have been found and fit.
struct Recipe {
  const plan::WeightDecl* decl = nullptr;
  std::vector<int64_t> shape;
  sk_dtype dtype = SK_NONE;  // of the result
  bool view = false;         // the mapped bytes as they are
  std::string key;           // equal keys share their bytes
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

bool converts(sk_dtype from, sk_dtype to) { return from == to || (is_float(from) && is_float(to)); }

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

/// Compares declarations with what is there; collects everything that is wrong.
class Accounting {
 public:
  Accounting(const plan::Program& program, const Sources& sources, const Checkpoint* checkpoint)
      : program_(program), sources_(sources), checkpoint_(checkpoint) {}

  std::vector<Recipe> recipes;

  void add(const plan::WeightDecl& decl) {
    Recipe recipe;
    recipe.decl = &decl;
    recipe.shape = declared_shape(decl);
    for (const auto& row : decl.sources) used_.insert(row.begin(), row.end());
    const auto rows = row_shape(decl);
    const bool sourceless = (decl.sources.empty() && !decl.stacked) ||
                            std::any_of(decl.sources.begin(), decl.sources.end(), [](const auto& r) { return r.empty(); });
    if (!rows || sourceless) {
      misfits_.push_back(fmt::format("does not fit: {} is {}, but has sources for {} rows", describe(program_, decl),
                                     shape_text(recipe.shape), sourceless ? 0 : decl.sources.size()));
      return;
    }
    bool good = true;
    sk_dtype stored = SK_NONE;
    for (const auto& row : decl.sources) good = check_row(decl, row, *rows, stored) && good;
    if (!good) return;
    const sk_dtype typed = plan::abi_dtype(decl.type.dtype);
    recipe.dtype = typed != SK_NONE ? typed : stored != SK_NONE ? stored : SK_F32;  // a stack of nothing has no dtype
    recipe.view = is_alone(decl) && stored == recipe.dtype && !sources_.allocates(decl.sources[0][0]);
    recipe.key = fmt::format("{} {}", static_cast<int>(recipe.dtype), stacks(decl));
    for (const auto& row : decl.sources) recipe.key += fmt::format("\n{}", fmt::join(row, "\t"));
    recipes.push_back(std::move(recipe));
  }

  /// Everything that is missing or does not fit, as one error.
  Expected<void> verdict(const std::string& where) const {
    const size_t missing = missing_.size();
    if (missing == 0 && misfits_.empty()) return {};
    std::string summary;
    if (missing > 0) summary = fmt::format("{} tensor{} missing", missing, missing == 1 ? "" : "s");
    if (!misfits_.empty()) {
      summary += fmt::format("{}{} of the wrong shape or type", missing > 0 ? ", " : "", misfits_.size());
    }
    Error error{ErrorKind::Input, fmt::format("`{}` does not fit the model: {}", where, summary), {}};
    size_t suggestions = 8;  // looking for neighbours takes time; the first few show what is wrong
    for (const auto& [name, decl] : missing_) {
      std::string note = fmt::format("missing: `{}`, for {}", name, describe(program_, *decl));
      if (suggestions > 0) {
        --suggestions;
        if (const std::string near = neighbour(name); !near.empty()) note += fmt::format("; did you mean `{}`?", near);
      }
      error.notes.push_back(std::move(note));
    }
    error.notes.insert(error.notes.end(), misfits_.begin(), misfits_.end());
    error.notes.push_back("help: do weights, config.json and model file belong together?");
    return tl::unexpected(std::move(error));
  }

  const std::unordered_set<std::string>& used() const { return used_; }

 private:
  bool check_row(const plan::WeightDecl& decl, const std::vector<std::string>& row, const std::vector<int64_t>& wanted,
                 sk_dtype& stored) {
    std::vector<std::pair<std::string, Found>> parts;
    bool good = true;
    for (const std::string& name : row) {
      auto found = sources_.find(name);
      if (!found) {
        missing_.emplace(name, &decl);
        good = false;
        continue;
      }
      good = check_dtype(decl, name, *found, stored) && good;
      parts.emplace_back(name, std::move(*found));
    }
    if (parts.size() != row.size()) return false;
    return check_shapes(decl, parts, wanted) && good;
  }

  bool check_dtype(const plan::WeightDecl& decl, const std::string& name, const Found& found, sk_dtype& stored) {
    const sk_dtype typed = plan::abi_dtype(decl.type.dtype);
    if (found.dtype == SK_NONE) {
      misfit(decl, name, found, "of a type that is not supported");
    } else if (typed != SK_NONE && !converts(found.dtype, typed)) {
      misfit(decl, name, found, fmt::format("expected {}", dtype_name(typed)));
    } else if (typed == SK_NONE && stored != SK_NONE && stored != found.dtype) {
      misfit(decl, name, found,
             fmt::format("but tensors that are joined must have one dtype, and others have {}", dtype_name(stored)));
    } else {
      if (stored == SK_NONE) stored = found.dtype;
      return true;
    }
    return false;
  }

  bool check_shapes(const plan::WeightDecl& decl, const std::vector<std::pair<std::string, Found>>& parts,
                    const std::vector<int64_t>& wanted) {
    if (parts.size() == 1) {
      if (parts[0].second.shape == wanted) return true;
      misfit(decl, parts[0].first, parts[0].second, fmt::format("expected {}", shape_text(wanted)));
      return false;
    }
    // Joined on axis 0: sizes there may differ, their sum counts.
    bool good = true;
    int64_t sum = 0;
    for (const auto& [name, found] : parts) {
      const bool fits = !wanted.empty() && found.shape.size() == wanted.size() &&
                        std::equal(found.shape.begin() + 1, found.shape.end(), wanted.begin() + 1);
      if (!fits) {
        std::string expected = "[…";
        for (size_t i = 1; i < wanted.size(); ++i) expected += fmt::format(", {}", wanted[i]);
        misfit(decl, name, found, fmt::format("expected {}]", expected));
        good = false;
      } else if (__builtin_add_overflow(sum, found.shape[0], &sum)) {
        sum = -1;
      }
    }
    if (good && sum != wanted[0]) {
      std::string pieces;
      for (const auto& [name, found] : parts) {
        pieces += fmt::format("{}`{}` {}", pieces.empty() ? "" : ", ", name, shape_text(found.shape));
      }
      misfits_.push_back(fmt::format("does not fit: {} in `{}`: joined on axis 0 they give {} rows, expected {}, for {}",
                                     pieces, parts[0].second.file, sum, shape_text(wanted),
                                     describe(program_, decl)));
      good = false;
    }
    return good;
  }

  void misfit(const plan::WeightDecl& decl, const std::string& name, const Found& found, const std::string& what) {
    misfits_.push_back(fmt::format("does not fit: `{}` in `{}` is {}{}, {}, for {}", name, found.file, found.dtype_name,
                                   shape_text(found.shape), what, describe(program_, decl)));
  }

  /// The unread tensor whose name is nearest.
  std::string neighbour(const std::string& name) const {
    if (!checkpoint_) return {};
    size_t limit = slip_limit(name);
    std::string best;
    for (const TensorInfo& t : checkpoint_->tensors()) {
      if (used_.contains(t.name)) continue;
      const size_t distance = edit_distance(name, t.name, limit);
      if (distance > limit || (distance == limit && !best.empty())) continue;
      best = t.name;
      limit = distance;
    }
    return best;
  }

  const plan::Program& program_;
  const Sources& sources_;
  const Checkpoint* checkpoint_;
  std::unordered_set<std::string> used_;
  std::map<std::string, const plan::WeightDecl*> missing_;
  std::vector<std::string> misfits_;
};

/// Whether a name matches a pattern in which `*` stands for any characters and `?` for one.
bool matches_glob(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = pattern.npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;  // the star takes one more
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// "model.layers.12.x" -> "model.layers.{n}.x": numbers between dots fold.
std::string folded(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    size_t end = name.find('.', i);
    if (end == name.npos) end = name.size();
    const std::string part = name.substr(i, end - i);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    out += number ? "{n}" : part;
    if (end < name.size()) out += '.';
    i = end + 1;
  }
  return out;
}

/// Tensors that nobody reads and nobody calls unused; a line for each name, or for each kind of name across layers.
std::vector<std::string> extras(const plan::Program& program, const Checkpoint& checkpoint,
                                const std::unordered_set<std::string>& used) {
  struct Group {
    const TensorInfo* first;
    size_t count;
  };
  std::map<std::string, Group> groups;
  for (const TensorInfo& t : checkpoint.tensors()) {
    const bool known = used.contains(t.name) ||
                       std::any_of(program.unused_sources.begin(), program.unused_sources.end(),
                                   [&](const std::string& glob) { return matches_glob(glob, t.name); });
    if (known) continue;
    const auto [at, fresh] = groups.emplace(folded(t.name), Group{&t, 1});
    if (!fresh) ++at->second.count;
  }
  std::vector<std::string> lines;
  for (const auto& [pattern, group] : groups) {
    const std::string file = checkpoint.file_of(*group.first).string();
    lines.push_back(group.count == 1
                        ? fmt::format("`{}` in `{}` is not read by the model", group.first->name, file)
                        : fmt::format("{} tensors `{}` (`{}` in `{}`, …) are not read by the model", group.count,
                                      pattern, group.first->name, file));
  }
  return lines;
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

Expected<void> check_memory(const std::vector<Recipe>& recipes, const WeightOptions& options, uint64_t& allocated) {
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
      return fail(fmt::format("synthetic weights must be of a float type, not {}", dtype_name(options.synthetic_dtype)));
    }
    auto specs = synthetic_sources(program, options.synthetic_dtype);
    if (!specs) return tl::unexpected(specs.error());
    sources = std::make_unique<SyntheticSources>(std::move(*specs), *options.synthetic_seed);
    checkpoint = nullptr;
  } else {
    if (!checkpoint || !checkpoint->has_weights()) {
      return fail(fmt::format("{} no weights", checkpoint ? "`" + checkpoint->path().string() + "` has" : "there are"),
                  {"help: name a folder with .safetensors files, or use `--weights synthetic`"});
    }
    sources = std::make_unique<CheckpointSources>(*checkpoint);
  }

  Accounting accounting(program, *sources, checkpoint);
  for (const plan::WeightDecl& decl : program.weights) accounting.add(decl);
  const std::string where = checkpoint ? checkpoint->path().string() : "synthetic weights";
  if (auto ok = accounting.verdict(where); !ok) return tl::unexpected(ok.error());

  Weights weights;
  if (checkpoint) weights.warnings_ = extras(program, *checkpoint, accounting.used());
  if (options.strict && !weights.warnings_.empty()) {
    auto notes = weights.warnings_;
    notes.push_back("help: name tensors that are not the model's with `unused \"…\"` in the model");
    return fail(fmt::format("`{}` holds tensors that the model does not read", where), std::move(notes));
  }
  if (auto ok = check_memory(accounting.recipes, options, weights.allocated_bytes_); !ok) {
    return tl::unexpected(ok.error());
  }

  std::unordered_map<std::string, Tensor> made;
  for (const Recipe& recipe : accounting.recipes) {
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

const Tensor* Weights::find(std::string_view path) const {
  const auto at = by_path_.find(path);
  return at == by_path_.end() ? nullptr : &at->second;
}

}  // namespace skdsl::model
