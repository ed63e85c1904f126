// sentencepiece_file — what a tokenizer.model (a SentencePiece ModelProto) says, read by ourselves
//
// The SentencePiece library encodes, but trusts its file and does not tell how texts are decoded. So the file
// is checked here before the library sees it, and the settings that decoding needs are taken.
//
//   ModelProto      1 pieces*  2 trainer_spec  3 normalizer_spec  5 denormalizer_spec
//   SentencePiece   1 piece  2 score  3 type
//   TrainerSpec     35 byte_fallback  44 unk_surface
//   NormalizerSpec  2 precompiled_charsmap  3 add_dummy_prefix  4 remove_extra_whitespaces
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::model {

enum class PieceType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct SentencePieceFile {
  struct Entry {
    std::string text;
    PieceType type = PieceType::Normal;
  };
  std::vector<Entry> pieces;  // by id
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  std::string unknown_surface = " \xe2\x81\x87 ";  // what an unknown piece decodes to
};

/// Reads and checks the bytes of a file; `where` names it in messages.
Expected<SentencePieceFile> read_sentencepiece_file(std::string_view bytes, const std::string& where);

}  // namespace skdsl::model
