// tokenizer_parts — what a tokenizer is made of, whichever file it came from
#pragma once
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "runtime/model/added_tokens.h"
#include "runtime/model/tokenizer.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

struct Tokenizer::Parts {
  std::string where;
  std::deque<AddedToken> added;  // a deque: the finders keep addresses
  std::map<int32_t, const AddedToken*> added_by_id;
  std::unordered_map<std::string, int32_t> added_ids;
  TokenFinder raw;                              // tokens looked for first
  TokenFinder normalized;                       // then these, in what is left
  std::set<int32_t> special;                    // left out of decoded text when asked
  std::unique_ptr<Normalizer> normalizer;       // may be null
  std::unique_ptr<PreTokenizer> pre_tokenizer;  // may be null
  std::unique_ptr<TokenModel> model;
  std::unique_ptr<PostProcessor> post_processor;  // may be null
  std::unique_ptr<TokenDecoder> decoder;

  Expected<void> read_added_tokens(const Json* json);
  Expected<void> encode_text(Piece piece, std::vector<int32_t>& ids) const;
};

/// The parts of a tokenizer.model, see sentencepiece.cpp. `config` is the text of a tokenizer_config.json
/// beside it, or empty.
Expected<std::shared_ptr<const Tokenizer::Parts>> sentencepiece_parts(std::string_view bytes,
                                                                      const std::string& where,
                                                                      std::string_view config,
                                                                      const std::string& config_where);

}  // namespace skdsl::model
