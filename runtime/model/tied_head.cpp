#include "runtime/model/tied_head.h"

#include <fmt/format.h>

#include <algorithm>

namespace skdsl::model {

Expected<void> check_tied_head(const Checkpoint& checkpoint, const std::string& origin) {
  const TensorInfo* const head = checkpoint.find("lm_head.weight");
  const TensorInfo* const embedding = checkpoint.find("model.embed_tokens.weight");
  if (!head || !embedding) return {};
  const auto a = checkpoint.bytes(*head), b = checkpoint.bytes(*embedding);
  if (head->dtype_name == embedding->dtype_name && head->shape == embedding->shape &&
      std::equal(a.begin(), a.end(), b.begin(), b.end()))
    return {};
  return fail(
      fmt::format("{} sets `tie_word_embeddings` to true, but `{}` in `{}` is another tensor than `{}`",
                  origin, head->name, checkpoint.file_of(*head).string(), embedding->name),
      {"true is supported where the checkpoint has no head, or one that equals the embedding",
       "help: to use the stored head set it to false, in config.json or with `--set "
       "tie_word_embeddings=false`"});
}

}  // namespace skdsl::model
