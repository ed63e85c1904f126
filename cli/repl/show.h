// show — values as a session prints them: short, and with what tells a wrong one
#pragma once
#include <string>
#include <vector>

#include "compiler/sema/value.h"
#include "runtime/exec/value.h"

namespace skdsl::cli::repl {

/// "f32[2] [1, 2]"; a tensor of more elements by its first and last ones, least, greatest, mean, deviation
/// and how many are no numbers. ASCII only; no line is longer than about 70 columns.
std::string show(const Tensor& tensor);

/// A value of a line; the ids of its Ir values count `tensors`. Strings stand in quotes inside lists.
std::string show(const sema::Value& value, const std::vector<Tensor>& tensors);

/// Fresh contiguous bytes with the same elements.
Tensor copy_of(const Tensor& tensor);

}  // namespace skdsl::cli::repl
