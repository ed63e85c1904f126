// infer_internal — what the shape rules share
#pragma once
#include "compiler/ops/infer.h"

namespace skdsl::ops {

/// Helpers around one InferCall; those that return bool or optional have reported when they fail.
struct Infer {
  InferCall& call;

  std::string text(const std::vector<plan::Dim>& dims) const;
  const plan::Type& in(size_t i) const { return *call.operands[i]; }
  bool has(size_t i) const { return i < call.operands.size() && call.operands[i]; }
  const plan::Dim& int_attr(size_t i) const;
  const std::vector<plan::Dim>& list_attr(size_t i) const;
  plan::DType dtype_attr(size_t i, plan::DType otherwise) const;
  Span operand_span(size_t i) const;
  Span attr_span(size_t i) const;
  void note_origin(diag::Engine::Builder& report, size_t i) const;
  bool same(const plan::Dim& a, const plan::Dim& b, const std::string& what);
  bool fail_shapes(size_t i, size_t j);
  bool expect_shape(size_t i, const std::vector<plan::Dim>& shape);
  bool expect_rank(size_t i, size_t rank, std::string_view form);
  bool expect_group_list_type(size_t attr);
  bool bad_value(Span span, std::string message);
  std::optional<int64_t> static_attr(size_t i);
  std::optional<size_t> axis_attr(size_t i, size_t operand);
  std::optional<std::vector<plan::Dim>> broadcast(std::vector<size_t> operands);
  std::optional<plan::DType> common_dtype(std::vector<size_t> operands);
  bool is_scalar(size_t i) const;
};

namespace rules {
using Result = std::optional<std::vector<plan::Type>>;
#define SK_SHAPE_RULE(Name, text) Result Name(Infer& s);
#include "stdlib/shape_rules.def"
#undef SK_SHAPE_RULE
}  // namespace rules

}  // namespace skdsl::ops
