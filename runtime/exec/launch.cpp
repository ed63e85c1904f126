#include "runtime/exec/launch.h"

#include <fmt/format.h>

#include <cstring>

namespace skdsl::exec {

namespace {
// Below this a barrier costs more than a second core saves.
constexpr int64_t kSmallLaunchBytes = 32 << 10;

int64_t bytes_of(const sk_tensor& t) {
  int64_t n = dtype_bytes(static_cast<sk_dtype>(t.dtype));
  for (uint32_t i = 0; i < t.rank; ++i) n *= t.dim[i];
  return n;
}
}  // namespace

std::string place(const plan::Program& program, Opcode code, const Loc& loc, const std::string& path) {
  std::string out;
  if (loc.line != 0 && loc.file < program.files.size())
    out = fmt::format("{}:{}:{}: ", program.files[loc.file], loc.line, loc.column);
  out += fmt::format("`{}`", info(code).name);
  if (!path.empty()) out += fmt::format(" ({})", path);
  return out;
}

tl::unexpected<Error> fail_at(const std::string& place, Error error) {
  error.message = place + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

uint32_t blocks_for(const sk_call& call, const Workers& workers) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < call.n_in; ++i) bytes += bytes_of(call.in[i]);
  for (uint32_t i = 0; i < call.n_out; ++i) bytes += bytes_of(call.out[i]);
  return bytes < kSmallLaunchBytes ? 1 : workers.count();
}

Expected<void> Workspace::attach(const kernels::KernelEntry& kernel, sk_call& call, const Workers& workers,
                                 TensorPool& pool) {
  call.workspace = nullptr;
  call.workspace_stride = 0;
  if (!kernel.workspace) return {};
  const uint64_t stride = (kernel.workspace(&call) + 63) / 64 * 64;
  if (stride == 0) return {};
  const auto bytes = static_cast<int64_t>(stride * workers.count());
  if (!bytes_ || bytes_.bytes() < bytes) {
    bytes_ = {};
    auto grown = pool.empty(SK_I8, {{bytes}});
    if (!grown) return tl::unexpected(grown.error());
    bytes_ = *grown;
  } else if (pool.poisons()) {
    std::memset(bytes_.view.data, 0xff, static_cast<size_t>(bytes_.bytes()));
  }
  call.workspace = bytes_.data<uint8_t>();
  call.workspace_stride = stride;
  return {};
}

Expected<void> launch(const kernels::KernelEntry& kernel, sk_call& call, uint32_t blocks, Workers& workers,
                      const std::function<std::string()>& where) {
  sk_fault fault{};
  call.fault = &fault;
  workers.launch(kernel, call, blocks);
  if (fault.code != SK_FAULT_NONE && blocks > 1) {
    fault = {};
    workers.launch(kernel, call, 1);
  }
  call.fault = nullptr;
  if (fault.code == SK_FAULT_NONE) return {};
  return fail(fault_message(fault, where()));
}

std::string fault_message(const sk_fault& fault, const std::string& where) {
  return fmt::format("{}: index {} at row {} is out of range; it must be at least 0 and below {}", where,
                     fault.value, fault.row, fault.limit);
}

void AbiAttrs::add_int(int64_t value) {
  sk_attr a{};
  a.i = value;
  attrs.push_back(a);
}

void AbiAttrs::add_float(double value) {
  sk_attr a{};
  a.f = value;
  attrs.push_back(a);
}

void AbiAttrs::add_list(std::vector<int64_t> values) {
  // A vector's elements stay where they are when `lists` grows, since vectors move by pointer.
  lists.push_back(std::move(values));
  sk_attr a{};
  a.list.data = lists.back().data();
  a.list.size = static_cast<int64_t>(lists.back().size());
  attrs.push_back(a);
}

int64_t choice_index(const Param& param, std::string_view text) {
  int64_t index = 0;
  for (std::string_view rest = param.choices;; ++index) {
    const size_t bar = rest.find('|');
    if (rest.substr(0, bar) == text) return index;
    if (bar == std::string_view::npos) return -1;
    rest.remove_prefix(bar + 1);
  }
}

}  // namespace skdsl::exec
