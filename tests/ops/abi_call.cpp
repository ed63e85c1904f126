#include "tests/ops/abi_call.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "stdlib/kernels/registry.h"

namespace skdsl::test {
namespace {

int64_t choice_index(std::string_view choices, std::string_view name) {
  for (int64_t i = 0; !choices.empty(); ++i) {
    const size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == name) return i;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  ADD_FAILURE() << "no choice named " << name;
  return 0;
}

int64_t dtype_number(std::string_view name) {
  for (const DTypeName& n : kDTypeNames)
    if (n.skdsl == name) return n.type;
  return SK_NONE;
}

AttrValue parse_default(const Param& p) {
  const std::string text(p.default_text);
  switch (p.attr) {
    case AttrType::Int:
      return text == "none" ? int64_t{0} : static_cast<int64_t>(std::stoll(text));
    case AttrType::Float:
      return std::stod(text);
    case AttrType::Bool:
      return text == "true";
    default:
      return text;
  }
}

}  // namespace

AbiCall::AbiCall(Opcode op, const Attrs& attrs, std::vector<Tensor> operands, std::vector<Tensor> results)
    : op_(op), operands_(std::move(operands)), results_(std::move(results)) {
  const OpInfo& row = info(op);
  size_t used = 0;
  for (const Param& p : row.params) {
    if (!p.is_attr) continue;
    const auto found = attrs.find(p.name);
    used += found != attrs.end();
    if (found == attrs.end() && p.default_text.empty()) ADD_FAILURE() << row.name << " needs " << p.name;
    const AttrValue value = found != attrs.end() ? found->second : parse_default(p);
    sk_attr a{};
    if (p.attr == AttrType::Choice) {
      a.i = choice_index(p.choices, std::get<std::string>(value));
    } else if (p.attr == AttrType::DType) {
      a.i = dtype_number(std::get<std::string>(value));
    } else if (p.attr == AttrType::IntList) {
      lists_.push_back(std::get<std::vector<int64_t>>(value));
      a.list = {lists_.back().data(), static_cast<int64_t>(lists_.back().size())};
    } else if (p.attr == AttrType::Float) {
      a.f = std::holds_alternative<int64_t>(value) ? static_cast<double>(std::get<int64_t>(value))
                                                   : std::get<double>(value);
    } else if (p.attr == AttrType::Bool) {
      a.i = std::get<bool>(value);
    } else if (p.attr == AttrType::Int) {
      a.i = std::get<int64_t>(value);
    }
    attr_.push_back(a);
  }
  EXPECT_EQ(used, attrs.size()) << "an attribute that " << row.name << " does not have";
  for (const Tensor& t : operands_) in_.push_back(t.view);
  for (const Tensor& t : results_) out_.push_back(t.view);
  call_ = {.in = in_.data(),
           .out = out_.data(),
           .attr = attr_.data(),
           .n_in = static_cast<uint32_t>(in_.size()),
           .n_out = static_cast<uint32_t>(out_.size()),
           .n_attr = static_cast<uint32_t>(attr_.size()),
           .fault = &fault_};
}

void AbiCall::run(uint32_t blocks, BlockOrder order) {
  const kernels::KernelEntry* kernel = kernels::find_kernel(op_);
  ASSERT_NE(kernel, nullptr) << info(op_).name;
  run(blocks, kernel->run, order);
}

void AbiCall::run(uint32_t blocks, sk_kernel_fn function, BlockOrder order) {
  const kernels::KernelEntry* kernel = kernels::find_kernel(op_);
  const uint64_t bytes = kernel->workspace ? (kernel->workspace(&call_) + 63) / 64 * 64 : 0;
  const Tensor workspace = Tensor::empty(SK_I8, std::vector<int64_t>{static_cast<int64_t>(bytes * blocks)});
  std::memset(workspace.view.data, 0xff, static_cast<size_t>(bytes * blocks));
  call_.workspace = workspace.data<uint8_t>();
  call_.workspace_stride = bytes;
  fault_ = {};
  for (uint32_t phase = 0; phase < kernel->phases; ++phase) {
    if (order == BlockOrder::Threads) {
      std::vector<std::thread> workers;
      for (uint32_t b = 0; b < blocks; ++b)
        workers.emplace_back([&, b] { function(&call_, phase, b, blocks); });
      for (std::thread& w : workers) w.join();
    } else {
      for (uint32_t b = 0; b < blocks; ++b)
        function(&call_, phase, order == BlockOrder::Rising ? b : blocks - 1 - b, blocks);
    }
  }
}

std::vector<Tensor> AbiExecutor::run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                                     std::span<const TensorType> results) {
  std::vector<Tensor> out;
  for (const TensorType& t : results) {
    out.push_back(Tensor::empty(t.dtype, t.shape));
    std::memset(out.back().view.data, 0xff, static_cast<size_t>(out.back().bytes()));
  }
  AbiCall call(op, attrs, {operands.begin(), operands.end()}, std::move(out));
  call.run(blocks_);
  EXPECT_EQ(call.fault().code, SK_FAULT_NONE) << info(op).name;
  return call.results();
}

}  // namespace skdsl::test
