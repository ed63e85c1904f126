// bindings — what a program's paths stand for while it runs
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/tensor/tensor.h"

namespace skdsl::exec {

/// Tensors by path. Weights and consts are read-only; states are written in place and may be rebound
/// (state_assign).
struct Bindings {
  std::unordered_map<std::string, Tensor> weights;  // weights and consts
  std::unordered_map<std::string, Tensor> states;

  /// The tensor, or null.
  const Tensor* weight(const std::string& path) const {
    const auto it = weights.find(path);
    return it == weights.end() ? nullptr : &it->second;
  }
  Tensor* state(const std::string& path) {
    const auto it = states.find(path);
    return it == states.end() ? nullptr : &it->second;
  }
};

}  // namespace skdsl::exec
