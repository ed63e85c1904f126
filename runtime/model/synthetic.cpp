#include "runtime/model/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "runtime/base/assert.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/model/safetensors.h"
#include "runtime/model/weight_decl.h"
#include "runtime/model/weights.h"

namespace skdsl::model {

namespace fs = std::filesystem;

namespace {

using Specs = std::map<std::string, SourceSpec, std::less<>>;

/// SplitMix64's output function: a bijection whose outputs for consecutive inputs look independent.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One stream for each tensor: FNV-1a over its name, mixed with the seed.
uint64_t stream_of(std::string_view name, uint64_t seed) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return mix(h ^ mix(seed + 0x9e3779b97f4a7c15u));
}

uint64_t draw(uint64_t stream, int64_t index) {
  return mix(stream + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(index) + 1));
}

/// Floats are `center + spread * u`, u uniform in [-1, 1).
struct Scale {
  double center;
  double spread;
};
Scale scale_of(const SourceSpec& spec) {
  if (spec.int8_fan_in > 0) {
    // Its int8 values go up to 127; the products are to have the deviation of a float matrix.
    const double center = std::sqrt(3.0 / static_cast<double>(spec.int8_fan_in)) / 127.0;
    return {center, 0.2 * center};
  }
  if (spec.shape.size() >= 2) {
    // A uniform variable on [-a, a) has standard deviation a / sqrt(3).
    const auto fan_in = static_cast<double>(std::max<int64_t>(spec.shape.back(), 1));
    return {0.0, std::sqrt(3.0 / fan_in)};
  }
  for (const std::string_view part : {"bias", "correction", "beta"})
    if (spec.name.find(part) != spec.name.npos) return {0.0, 0.02};
  return {1.0, 0.1};
}

template <class T>
void fill_floats(const SourceSpec& spec, uint64_t stream, int64_t first, int64_t count, std::byte* out) {
  const auto [center, spread] = scale_of(spec);
  auto* values = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<double>(draw(stream, first + i) >> 40);  // 24 bits, exact
    const double u = bits * 0x1p-23 - 1.0;
    values[i] = from_f32<T>(static_cast<float>(center + spread * u));
  }
}

template <class T>
void fill_integers(uint64_t stream, int64_t first, int64_t count, int64_t low, int64_t values_count,
                   std::byte* out) {
  auto* values = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = draw(stream, first + i) >> 32;
    values[i] = static_cast<T>(low + static_cast<int64_t>(bits * static_cast<uint64_t>(values_count) >> 32));
  }
}

/// Gives a source a shape, or says which declaration wants another.
Expected<void> settle(Specs& specs, const std::string& name, const std::vector<int64_t>& shape,
                      const std::string& who) {
  const auto [at, fresh] = specs.emplace(name, SourceSpec{.name = name, .dtype = SK_NONE, .shape = shape});
  if (fresh || at->second.shape == shape) return {};
  return fail(fmt::format("{} needs `{}` as {}, another weight needs it as {}", who, name, shape_text(shape),
                          shape_text(at->second.shape)));
}

/// Shares the first dim of a row among its sources, as far as they are not known yet.
Expected<void> settle_joined(Specs& specs, const std::vector<std::string>& row,
                             const std::vector<int64_t>& shape, const std::string& who) {
  if (shape.empty()) return fail(fmt::format("{} joins sources but has no axis to join them on", who));
  int64_t left = shape[0];
  int64_t unknown = 0;
  for (const std::string& name : row) {
    const auto at = specs.find(name);
    if (at == specs.end()) {
      ++unknown;
    } else {
      left -= at->second.shape.empty() ? 0 : at->second.shape[0];
    }
  }
  for (const std::string& name : row) {
    const auto at = specs.find(name);
    std::vector<int64_t> part = shape;
    if (at == specs.end()) {
      part[0] = left / unknown;  // what does not divide goes to the last ones
      left -= part[0];
      --unknown;
    } else if (!at->second.shape.empty()) {
      part[0] = at->second.shape[0];
    }
    if (part[0] < 0) return fail(fmt::format("{} is too small for its sources", who));
    if (auto ok = settle(specs, name, part, who); !ok) return ok;
  }
  if (left != 0)
    return fail(fmt::format("{} is {}; its sources leave {} rows over", who, shape_text(shape), left));
  return {};
}

/// The dtype of each source: what its declarations agree on, else `dtype`.
void settle_dtypes(const plan::Program& program, Specs& specs, sk_dtype dtype) {
  for (const plan::WeightDecl& decl : program.weights) {
    const sk_dtype typed = plan::abi_dtype(decl.type.dtype);
    for (const auto& row : decl.sources)
      for (const std::string& name : row) {
        sk_dtype& now = specs.find(name)->second.dtype;
        const sk_dtype wanted = typed == SK_NONE ? dtype : typed;
        now = now == SK_NONE || now == wanted ? wanted : dtype;
      }
  }
}

}  // namespace

Expected<Specs> synthetic_sources(const plan::Program& program, sk_dtype dtype) {
  Specs specs;
  // Declarations with one source a row settle shapes; joined ones take what these leave.
  for (const bool joined : {false, true})
    for (const plan::WeightDecl& decl : program.weights) {
      const std::string who = describe(program, decl);
      const auto shape = row_shape(decl);
      if (!shape || !element_count(declared_shape(decl))) {
        return fail(fmt::format("{} cannot be made: shape {} with {} rows of sources", who,
                                shape_text(declared_shape(decl)), decl.sources.size()));
      }
      for (const auto& row : decl.sources) {
        if ((row.size() != 1) != joined) continue;
        const auto ok = joined ? settle_joined(specs, row, *shape, who) : settle(specs, row[0], *shape, who);
        if (!ok) return tl::unexpected(ok.error());
      }
    }
  settle_dtypes(program, specs, dtype);
  for (auto& [name, spec] : specs) {
    constexpr std::string_view kEnding = "_scale";
    if (!name.ends_with(kEnding)) continue;
    const auto matrix = specs.find(name.substr(0, name.size() - kEnding.size()));
    if (matrix != specs.end() && matrix->second.dtype == SK_I8 && !matrix->second.shape.empty())
      spec.int8_fan_in = std::max<int64_t>(matrix->second.shape.back(), 1);
  }
  return specs;
}

void fill_synthetic(const SourceSpec& spec, uint64_t seed, int64_t first, int64_t count, std::byte* out) {
  const uint64_t stream = stream_of(spec.name, seed);
  switch (spec.dtype) {
    case SK_F32:
      return fill_floats<float>(spec, stream, first, count, out);
    case SK_BF16:
      return fill_floats<bf16>(spec, stream, first, count, out);
    case SK_F16:
      return fill_floats<f16>(spec, stream, first, count, out);
    case SK_I8:
      return fill_integers<int8_t>(stream, first, count, -127, 255, out);
    case SK_I32:
      return fill_integers<int32_t>(stream, first, count, 0, 2, out);
    case SK_I64:
      return fill_integers<int64_t>(stream, first, count, 0, 2, out);
    case SK_BOOL:
      return fill_integers<uint8_t>(stream, first, count, 0, 2, out);
    case SK_NONE:
      break;
  }
  SK_ASSERT(false, "every source has a dtype");
}

Expected<void> write_synthetic(const plan::Program& program, const fs::path& folder, uint64_t seed,
                               sk_dtype dtype, const Json& config) {
  const auto specs = synthetic_sources(program, dtype);
  if (!specs) return tl::unexpected(specs.error());

  std::vector<TensorInfo> infos;
  for (const auto& [name, spec] : *specs) {
    const auto row = std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                                  [&](const DTypeName& r) { return r.type == spec.dtype; });
    TensorInfo info;
    info.name = name;
    info.dtype = spec.dtype;
    info.dtype_name = row->safetensors;
    info.shape = spec.shape;
    info.bytes =
        static_cast<uint64_t>(*element_count(spec.shape)) * static_cast<uint64_t>(dtype_bytes(spec.dtype));
    infos.push_back(std::move(info));
  }
  // Wide elements first: then every tensor begins at a multiple of its element size.
  std::sort(infos.begin(), infos.end(), [](const TensorInfo& a, const TensorInfo& b) {
    const int64_t wide_a = dtype_bytes(a.dtype), wide_b = dtype_bytes(b.dtype);
    return wide_a != wide_b ? wide_a > wide_b : a.name < b.name;
  });

  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec)
    return fail_environment(fmt::format("cannot make the folder `{}`: {}", folder.string(), ec.message()));
  auto file = AtomicFile::create(folder / "model.safetensors");
  if (!file) return tl::unexpected(file.error());
  if (auto ok = file->write(safetensors_header(infos)); !ok) return ok;
  constexpr int64_t kChunk = 1 << 18;  // elements
  std::vector<std::byte> buffer(kChunk * 8);
  for (const TensorInfo& info : infos) {
    const SourceSpec& spec = specs->find(info.name)->second;
    const int64_t count = *element_count(spec.shape);
    for (int64_t first = 0; first < count; first += kChunk) {
      const int64_t n = std::min(kChunk, count - first);
      fill_synthetic(spec, seed, first, n, buffer.data());
      const auto bytes = static_cast<size_t>(n * dtype_bytes(spec.dtype));
      if (auto ok = file->write({reinterpret_cast<const char*>(buffer.data()), bytes}); !ok) return ok;
    }
  }
  if (auto ok = file->commit(); !ok) return ok;
  // Last, because a folder with only a config.json would pass for one without weights.
  return write_file_atomically(folder / "config.json", to_json(config, 1) + "\n");
}

}  // namespace skdsl::model
