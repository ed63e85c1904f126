#include "cli/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/abi/dtype.h"
#include "runtime/base/file.h"
#include "runtime/exec/launch.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

namespace {

int64_t elements(const sk_tensor& t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t.rank; ++i) n *= t.dim[i];
  return n;
}

bool is_float(const sk_tensor& t) { return t.dtype == SK_F32 || t.dtype == SK_BF16 || t.dtype == SK_F16; }

/// Calls f(offset in elements) for each element in row-major order.
template <class F>
void each(const sk_tensor& t, F&& f) {
  const int64_t n = elements(t);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at = 0;
    for (uint32_t d = t.rank; d-- > 0;) {
      at += rest % t.dim[d] * t.stride[d];
      rest /= t.dim[d];
    }
    f(at);
  }
}

float value(const sk_tensor& t, int64_t at) {
  switch (t.dtype) {
    case SK_F32:
      return static_cast<const float*>(t.data)[at];
    case SK_BF16:
      return to_f32(static_cast<const bf16*>(t.data)[at]);
    case SK_F16:
      return to_f32(static_cast<const f16*>(t.data)[at]);
    default:
      return 0;
  }
}

size_t nans(const sk_tensor& t) {
  if (t.data == nullptr || !is_float(t)) return 0;
  size_t n = 0;
  each(t, [&](int64_t at) { n += std::isnan(value(t, at)); });
  return n;
}

/// NumPy's .npy, version 1.0, row-major; bf16 and f16 as f32.
std::string npy(const sk_tensor& t) {
  const bool floats = is_float(t);
  const std::string_view type = floats              ? "<f4"
                                : t.dtype == SK_I8  ? "|i1"
                                : t.dtype == SK_I32 ? "<i4"
                                : t.dtype == SK_I64 ? "<i8"
                                                    : "|b1";
  std::string shape;
  for (uint32_t i = 0; i < t.rank; ++i) shape += fmt::format("{}, ", t.dim[i]);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const auto width = static_cast<size_t>(dtype_bytes(static_cast<sk_dtype>(t.dtype)));
  each(t, [&](int64_t at) {
    if (floats) {
      const float x = value(t, at);
      out.append(reinterpret_cast<const char*>(&x), sizeof x);
    } else {
      out.append(static_cast<const char*>(t.data) + static_cast<size_t>(at) * width, width);
    }
  });
  return out;
}

}  // namespace

Expected<void> Watch::start() {
  if (folder_.empty()) return {};
  std::error_code trouble;
  fs::create_directories(folder_, trouble);
  if (trouble)
    return fail_environment(
        fmt::format("{}: the folder for dumps cannot be made: {}", folder_, trouble.message()));
  return {};
}

exec::Observer Watch::observer() {
  return [this](const exec::Observed& o) { see(o); };
}

void Watch::see(const exec::Observed& o) {
  if (o.code == Opcode::Tap) return dump(o);
  ++kernels_;
  if (!hunt_ || trouble_) return;
  size_t made = 0, given = 0;
  for (const sk_tensor& t : o.out) made += nans(t);
  if (made == 0) return;
  // An operand that the result was written over shows the result; what it held was looked at when it was
  // made.
  for (const sk_tensor& t : o.in)
    if (std::none_of(o.out.begin(), o.out.end(), [&](const sk_tensor& r) { return r.data == t.data; }))
      given += nans(t);
  if (given > 0) return;  // an op before it would have been found, or the NaN stands in a weight or the cache
  int64_t total = 0;
  for (const sk_tensor& t : o.out) total += elements(t);
  trouble_ = Error{
      ErrorKind::Input,
      fmt::format("{}: gives {} NaN among {} elements from operands without any; it is kernel {} of this run",
                  exec::place(program_, o.code, o.loc, o.path), made, total, kernels_),
      {"help: `dump` its operands and run with --dump DIR"}};
}

void Watch::dump(const exec::Observed& o) {
  if (folder_.empty() || trouble_) return;
  std::string name(o.name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '_';
  const fs::path file =
      fs::path(folder_) / fmt::format("{:05}_{}{}{}.npy", files_++, o.path, o.path.empty() ? "" : ".", name);
  if (auto ok = write_file_atomically(file, npy(o.in[0])); !ok) trouble_ = ok.error();
}

}  // namespace skdsl::cli
