// token_decoders — what decoders of different files share
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

/// The byte that a token such as `<0xE2>` stands for.
std::optional<uint8_t> byte_of_token(std::string_view token);

/// Turns runs of such tokens into text; a byte that is in no character becomes U+FFFD.
std::unique_ptr<DecodeStage> byte_fallback_stage();

}  // namespace skdsl::model
