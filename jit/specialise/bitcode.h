// bitcode — the kernels' LLVM bitcode inside the shared object, one piece for each source file
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace skdsl::jit {

std::span<const std::string_view> bitcode_files();
/// The piece that defines the function; empty when none does.
std::string_view bitcode_of(const std::string& function);

}  // namespace skdsl::jit
