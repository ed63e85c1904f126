#include "runtime/model/weight_decl.h"

#include <fmt/format.h>

#include "runtime/base/assert.h"

namespace skdsl::model {

std::vector<int64_t> declared_shape(const plan::WeightDecl& decl) {
  std::vector<int64_t> shape;
  for (const plan::Dim& dim : decl.type.dims) {
    SK_ASSERT(dim.is_constant(), "the compiler gives weights constant dims");
    shape.push_back(dim.constant());
  }
  return shape;
}

std::optional<std::vector<int64_t>> row_shape(const plan::WeightDecl& decl) {
  std::vector<int64_t> shape = declared_shape(decl);
  if (!stacks(decl)) return shape;
  if (shape.empty() || shape[0] != static_cast<int64_t>(decl.sources.size())) return {};
  shape.erase(shape.begin());
  return shape;
}

std::optional<int64_t> element_count(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t d : shape)
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return {};
  return n;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string describe(const plan::Program& program, const plan::WeightDecl& decl) {
  if (decl.loc.line == 0 || decl.loc.file >= program.files.size())
    return fmt::format("weight `{}`", decl.path);
  return fmt::format("weight `{}` ({}:{}:{})", decl.path, program.files[decl.loc.file], decl.loc.line,
                     decl.loc.column);
}

}  // namespace skdsl::model
