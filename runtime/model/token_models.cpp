// token_models — the table of models, and the one without merges
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/model/component_kinds.h"
#include "runtime/model/tokenizer_components.h"
#include "runtime/model/vocabulary.h"

namespace skdsl::model {

namespace {

/// A piece is a token, or the unknown token.
class WordLevel final : public TokenModel {
 public:
  static Expected<std::unique_ptr<TokenModel>> make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "model", where);
    auto vocabulary = Vocabulary::read(json, members);
    if (!vocabulary) return tl::unexpected(vocabulary.error());
    auto unknown = members.text("unk_token");
    if (!unknown) return tl::unexpected(unknown.error());
    auto model = std::make_unique<WordLevel>();
    model->where_ = where;
    model->unknown_ = std::move(*unknown);
    model->vocabulary_ = std::move(*vocabulary);
    return model;
  }

  Expected<void> encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    auto id = id_of(piece);
    if (!id) id = id_of(unknown_);
    if (!id) {
      return fail(fmt::format("`{}`: `{}` is not in the vocabulary, and neither is the unknown token `{}`",
                              where_, piece, unknown_));
    }
    ids.push_back(*id);
    return {};
  }
  std::optional<int32_t> id_of(std::string_view token) const override { return vocabulary_.id_of(token); }
  const std::string* token_of(int32_t id) const override { return vocabulary_.token_of(id); }
  int32_t size() const override { return vocabulary_.size(); }

 private:
  std::string where_;
  std::string unknown_;
  Vocabulary vocabulary_;
};

const Kind<TokenModel> kModels[] = {
    {"BPE",
     make_bpe,
     {"vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
      "fuse_unk", "byte_fallback", "ignore_merges"}},
    {"WordLevel", WordLevel::make, {"vocab", "unk_token"}},
};

}  // namespace

Expected<Vocabulary> Vocabulary::read(const Json& model, const Members& members) {
  const Json* vocab = model.find("vocab");
  if (!vocab || !vocab->is_object())
    return fail(fmt::format("{}: expected an object (token: id) as `vocab`", members.place()));
  Vocabulary out;
  out.ids_.reserve(vocab->as_object().size());
  for (const auto& [token, json_id] : vocab->as_object()) {
    const auto id = token_id(json_id);
    if (!id) {
      return fail(fmt::format("{}: the id of `{}` is {}; expected an integer from 0 to {}", members.place(),
                              token, to_json(json_id), std::numeric_limits<int32_t>::max() - 1));
    }
    const auto at = out.ids_.emplace(token, *id).first;
    if (const auto [other, fresh] = out.tokens_.emplace(*id, &at->first); !fresh) {
      return fail(
          fmt::format("{}: `{}` and `{}` have the same id {}", members.place(), *other->second, token, *id));
    }
    out.size_ = std::max(out.size_, *id + 1);
  }
  return out;
}

Expected<std::unique_ptr<TokenModel>> make_token_model(const Json* json, const std::string& where) {
  auto model = make_of_kind<TokenModel>(json, "model", where, kModels);
  if (model && !*model) return fail(fmt::format("`{}`: expected an object as `model`", where));
  return model;
}

std::optional<int32_t> token_id(const Json& json) {
  if (!json.is_int() || json.as_int() < 0 || json.as_int() >= std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(json.as_int());
}

}  // namespace skdsl::model
