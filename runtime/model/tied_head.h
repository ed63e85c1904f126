// tied_head — an output head beside the flag that says there is none
//
// With tie_word_embeddings the embedding is the head. A checkpoint that stores another head all the same
// would be read in two ways by two programs, so it is refused.
#pragma once
#include <string>

#include "runtime/base/error.h"
#include "runtime/model/checkpoint.h"

namespace skdsl::model {

/// Refuses a checkpoint with a head that differs from its embedding; `origin` is who asked for tied
/// embeddings. No head, or one with the same bits, is fine.
Expected<void> check_tied_head(const Checkpoint& checkpoint, const std::string& origin);

}  // namespace skdsl::model
