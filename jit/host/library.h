// library — where the shared object of the JIT is, and which build it is
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::jit {

/// Beside the program, in lib/ beside its folder, and where it was built.
std::vector<std::filesystem::path> library_places();

/// The build id that the linker left in a shared object, as hexadecimal digits, read from the file without
/// opening it as code. Error: no such file, or no id in it.
Expected<std::string> build_id_of(const std::filesystem::path& library);

}  // namespace skdsl::jit
