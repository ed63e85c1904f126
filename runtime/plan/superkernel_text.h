// superkernel_text — spellings of super kernels, shared by the printer, the parser and explain
#pragma once
#include <string>

#include "runtime/plan/reader.h"

namespace skdsl::plan::text {

/// "call of 0 slot 1 vector_core 4 copies 4".
std::string of(const SkStep& step);
/// "call 3 stream 0".
std::string of(const Step& step);
/// "define superkernel 0 … { … }" without the last newline.
std::string define(size_t id, const SuperKernel& kernel);

/// What follows "define superkernel 0".
bool read_superkernel(Reader& r, SuperKernel& out);
/// A step from its kind on.
bool read_step(Reader& r, Step& out);

}  // namespace skdsl::plan::text
