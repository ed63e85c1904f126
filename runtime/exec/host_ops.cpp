#include "runtime/exec/host_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "runtime/exec/host_math.h"

namespace skdsl::exec {

namespace {

using Values = std::vector<RuntimeValue>;

Expected<const Tensor*> tensor(const HostCall& call, size_t i) {
  const auto* t = std::get_if<Tensor>(&call.in[i]);
  if (!t) return fail(fmt::format("operand {} is {}; it must be a tensor", i, describe(call.in[i])));
  return t;
}

Expected<Values> item(HostServices&, const HostCall& call) {
  const auto x = tensor(call, 0);
  if (!x) return tl::unexpected(x.error());
  if ((*x)->elements() != 1)
    return fail(fmt::format("item of {}; it must have exactly one element", skdsl::describe((*x)->view)));
  return Values{element(**x, 0)};
}

Expected<Values> tolist(HostServices&, const HostCall& call) {
  const auto x = tensor(call, 0);
  if (!x) return tl::unexpected(x.error());
  std::vector<int64_t> out;
  for (int64_t i = 0; i < (*x)->elements(); ++i) {
    const RuntimeValue v = element(**x, i);
    const auto* n = std::get_if<int64_t>(&v);
    if (!n)
      return fail(fmt::format("tolist of {}; its elements must be integers", skdsl::describe((*x)->view)));
    out.push_back(*n);
  }
  return Values{std::move(out)};
}

// Values take the places of the {} of the format, in order; {{ and }} are braces.
Expected<Values> print(HostServices& host, const HostCall& call) {
  const auto& format = std::get<std::string>(call.op.attrs[0]);
  std::string line;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    const std::string_view two = std::string_view(format).substr(i, 2);
    if (two == "{}" && next < call.in.size()) {
      line += text(call.in[next++]);
      ++i;
    } else {
      line += format[i];
      i += two == "{{" || two == "}}";
    }
  }
  host.print(line + "\n");
  return Values{};
}

Expected<std::vector<int64_t>> true_positions(const Tensor& t) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.elements(); ++i)
    if (truth(element(t, i))) out.push_back(i);
  return out;
}

Expected<Values> nonzero(HostServices& host, const HostCall& call) {
  const auto x = tensor(call, 0);
  if (!x) return tl::unexpected(x.error());
  const auto found = true_positions(**x);
  const sk_tensor& view = (*x)->view;
  auto out = host.pool.empty(SK_I32, {{static_cast<int64_t>(found->size()), view.rank}});
  if (!out) return tl::unexpected(out.error());
  int32_t* p = out->data<int32_t>();
  for (int64_t flat : *found) {
    for (uint32_t axis = view.rank; axis-- > 0; flat /= view.dim[axis])
      p[axis] = static_cast<int32_t>(flat % view.dim[axis]);
    p += view.rank;
  }
  return Values{*out};
}

// The mask covers the leading axes of x; what lies behind a true element is one row of the result.
Expected<Values> masked_select(HostServices& host, const HostCall& call) {
  const auto x = tensor(call, 0), mask = tensor(call, 1);
  if (!x) return tl::unexpected(x.error());
  if (!mask) return tl::unexpected(mask.error());
  const std::vector<int64_t> shape = (*x)->shape(), mask_shape = (*mask)->shape();
  if (mask_shape.size() > shape.size() || !std::equal(mask_shape.begin(), mask_shape.end(), shape.begin()))
    return fail(fmt::format("mask {} on {}; it must have the leading axes of what it selects from",
                            skdsl::describe((*mask)->view), skdsl::describe((*x)->view)));
  const auto found = true_positions(**mask);
  std::vector<int64_t> out_shape{static_cast<int64_t>(found->size())};
  out_shape.insert(out_shape.end(), shape.begin() + static_cast<std::ptrdiff_t>(mask_shape.size()),
                   shape.end());
  auto out = host.pool.empty((*x)->dtype(), out_shape);
  if (!out) return tl::unexpected(out.error());
  if (found->empty()) return Values{*out};
  const auto row = static_cast<size_t>(out->bytes()) / found->size();
  auto* to = out->data<char>();
  for (const int64_t i : *found) {
    std::memcpy(to, (*x)->data<char>() + static_cast<size_t>(i) * row, row);
    to += row;
  }
  return Values{*out};
}

Expected<Values> stream_sync(HostServices&, const HostCall&) {
  return Values{};  // the host's launches are synchronous already
}

Expected<Values> host_int(HostServices&, const HostCall& call) { return Values{call.attrs.attrs[0].i}; }

Expected<Values> host_float(HostServices&, const HostCall& call) { return Values{call.attrs.attrs[0].f}; }

Expected<Values> check(HostServices&, const HostCall& call) {
  const int64_t actual = call.attrs.attrs[0].i, expected = call.attrs.attrs[1].i;
  if (actual == expected) return Values{};
  return fail(fmt::format("{}: {} is not {}", std::get<std::string>(call.op.attrs[2]), actual, expected));
}

Expected<Values> host_fn(HostServices&, const HostCall& call) {
  auto value = host_function(std::get<std::string>(call.op.attrs[0]), call.in, call.results[0].kind);
  if (!value) return tl::unexpected(value.error());
  return Values{std::move(*value)};
}

Expected<Values> host_element(HostServices&, const HostCall& call) {
  const auto* list = std::get_if<std::vector<int64_t>>(&call.in[0]);
  if (!list) return fail(fmt::format("an element of {}; it must be a host list", describe(call.in[0])));
  const auto size = static_cast<int64_t>(list->size());
  if (call.attrs.attrs[1].i != 0) return Values{size};
  const int64_t index = call.attrs.attrs[0].i;
  if (index < -size || index >= size) return fail(fmt::format("element {} of a list of {}", index, size));
  return Values{(*list)[static_cast<size_t>(index < 0 ? index + size : index)]};
}

// Writes one host scalar as an element of `dtype`; false when an integer does not fit.
bool put_element(const RuntimeValue& value, sk_dtype dtype, void* to) {
  const auto put = [&](auto x) {
    std::memcpy(to, &x, sizeof x);
    return true;
  };
  const auto real = static_cast<float>(as_real(value).value_or(0));
  switch (dtype) {
    case SK_F32:
      return put(real);
    case SK_BF16:
      return put(from_f32<bf16>(real));
    case SK_F16:
      return put(from_f32<f16>(real));
    case SK_BOOL:
      return put(static_cast<uint8_t>(truth(value)));
    case SK_I8:
    case SK_I32:
    case SK_I64: {
      const auto n = as_integer(value);
      const int64_t bits = 8 * dtype_bytes(dtype);
      if (!n || (bits < 64 && (*n >> (bits - 1)) != (*n < 0 ? -1 : 0))) return false;
      std::memcpy(to, &*n, static_cast<size_t>(bits / 8));  // little endian
      return true;
    }
    case SK_NONE:
      break;
  }
  return false;
}

Expected<Values> to_tensor(HostServices& host, const HostCall& call) {
  const sk_dtype dtype = plan::abi_dtype(call.results[0].dtype);
  const auto* list = std::get_if<std::vector<int64_t>>(&call.in[0]);
  if (!list && !as_real(call.in[0]))
    return fail(fmt::format("{} as a tensor; it must be a host value", describe(call.in[0])));
  std::vector<int64_t> shape;
  if (list) shape.push_back(static_cast<int64_t>(list->size()));
  auto out = host.pool.empty(dtype, shape);
  if (!out) return tl::unexpected(out.error());
  for (int64_t i = 0; i < out->elements(); ++i) {
    const RuntimeValue value = list ? RuntimeValue((*list)[static_cast<size_t>(i)]) : call.in[0];
    if (!put_element(value, dtype, out->data<char>() + i * dtype_bytes(dtype)))
      return fail(fmt::format("{} does not fit a tensor of {}", text(value), dtype_name(dtype)));
  }
  return Values{*out};
}

Expected<Values> send(HostServices& host, const HostCall& call) {
  const auto x = tensor(call, 0);
  if (!x) return tl::unexpected(x.error());
  if (call.attrs.attrs[0].i != 0)
    return fail(fmt::format("send to rank {}; there is one rank, 0", call.attrs.attrs[0].i));
  auto copy = copy_of(**x, host.pool);
  if (!copy) return tl::unexpected(copy.error());
  host.mailbox[call.attrs.attrs[1].i].push_back(std::move(*copy));
  return Values{};
}

Expected<Values> recv(HostServices& host, const HostCall& call) {
  const int64_t src = call.attrs.attrs[2].i, tag = call.attrs.attrs[3].i;
  if (src != 0) return fail(fmt::format("receive from rank {}; there is one rank, 0", src));
  const auto it = host.mailbox.find(tag);
  if (it == host.mailbox.end() || it->second.empty())
    return fail(fmt::format("nothing was sent with tag {}: with one rank the `send` must come first", tag));
  Tensor t = std::move(it->second.front());
  it->second.pop_front();
  const sk_attr& shape = call.attrs.attrs[0];
  const sk_tensor want = contiguous_view(static_cast<sk_dtype>(call.attrs.attrs[1].i),
                                         {shape.list.data, static_cast<size_t>(shape.list.size)}, nullptr);
  if (skdsl::describe(t.view) != skdsl::describe(want))
    return fail(fmt::format("{} was sent with tag {}, {} is expected", skdsl::describe(t.view), tag,
                            skdsl::describe(want)));
  return Values{std::move(t)};
}

struct Row {
  Opcode code;
  HostOp run;
};
constexpr Row kHostOps[] = {
    {Opcode::Item, item},
    {Opcode::ToList, tolist},
    {Opcode::Print, print},
    {Opcode::Nonzero, nonzero},
    {Opcode::MaskedSelect, masked_select},
    {Opcode::StreamSync, stream_sync},
    {Opcode::HostInt, host_int},
    {Opcode::HostFloat, host_float},
    {Opcode::HostFn, host_fn},
    {Opcode::Check, check},
    {Opcode::HostElement, host_element},
    {Opcode::ToTensor, to_tensor},
    {Opcode::Send, send},
    {Opcode::Recv, recv},
};

}  // namespace

HostOp find_host_op(Opcode code) {
  for (const Row& row : kHostOps)
    if (row.code == code) return row.run;
  return nullptr;
}

RuntimeValue element(const Tensor& tensor, int64_t position) {
  const auto load = [&]<class T>(T x) {
    std::memcpy(&x, tensor.data<char>() + position * static_cast<int64_t>(sizeof x), sizeof x);
    return x;
  };
  switch (tensor.dtype()) {
    case SK_F32:
      return static_cast<double>(load(float{}));
    case SK_BF16:
      return static_cast<double>(to_f32(load(bf16{})));
    case SK_F16:
      return static_cast<double>(to_f32(load(f16{})));
    case SK_I8:
      return static_cast<int64_t>(load(int8_t{}));
    case SK_I32:
      return static_cast<int64_t>(load(int32_t{}));
    case SK_I64:
      return load(int64_t{});
    case SK_BOOL:
      return load(uint8_t{}) != 0;
    case SK_NONE:
      break;
  }
  return int64_t{0};
}

Expected<Tensor> copy_of(const Tensor& tensor, TensorPool& pool) {
  auto out = pool.empty(tensor.dtype(), tensor.shape());
  if (out && out->bytes() > 0)
    std::memcpy(out->view.data, tensor.view.data, static_cast<size_t>(out->bytes()));
  return out;
}

}  // namespace skdsl::exec
