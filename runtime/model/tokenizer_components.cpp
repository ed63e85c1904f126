#include "runtime/model/tokenizer_components.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "runtime/model/component_kinds.h"

namespace skdsl::model {

namespace {

// ---- models

/// A piece is a token, or the unknown token.
class WordLevel final : public TokenModel {
 public:
  static Expected<std::unique_ptr<TokenModel>> make(const Json& json, const std::string& where) {
    const Json* vocab = json.find("vocab");
    const Json* unknown = json.find("unk_token");
    if (!vocab || !vocab->is_object()) {
      return fail(fmt::format("`{}`: model WordLevel: expected an object (token: id) as `vocab`", where));
    }
    if (!unknown || !unknown->is_string()) {
      return fail(fmt::format("`{}`: model WordLevel: expected a string as `unk_token`", where));
    }
    auto model = std::make_unique<WordLevel>();
    model->where_ = where;
    model->unknown_ = unknown->as_string();
    for (const auto& [token, json_id] : vocab->as_object()) {
      const auto id = token_id(json_id);
      if (!id) {
        return fail(
            fmt::format("`{}`: model WordLevel: the id of `{}` is {}; expected an integer from 0 to {}",
                        where, token, to_json(json_id), std::numeric_limits<int32_t>::max() - 1));
      }
      if (const auto [other, fresh] = model->tokens_.emplace(*id, token); !fresh) {
        return fail(fmt::format("`{}`: model WordLevel: `{}` and `{}` have the same id {}", where,
                                other->second, token, *id));
      }
      model->ids_.emplace(token, *id);
      model->size_ = std::max(model->size_, *id + 1);
    }
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
  std::optional<int32_t> id_of(std::string_view token) const override {
    const auto at = ids_.find(std::string(token));
    return at == ids_.end() ? std::nullopt : std::optional(at->second);
  }
  const std::string* token_of(int32_t id) const override {
    const auto at = tokens_.find(id);
    return at == tokens_.end() ? nullptr : &at->second;
  }
  int32_t size() const override { return size_; }

 private:
  std::string where_;
  std::string unknown_;
  std::unordered_map<std::string, int32_t> ids_;
  std::unordered_map<int32_t, std::string> tokens_;
  int32_t size_ = 0;
};

constexpr Kind<TokenModel> kModels[] = {
    {"WordLevel", WordLevel::make},
};

// ---- post-processors

/// A list of special tokens and the text's own ids.
class TemplateProcessing final : public PostProcessor {
 public:
  static Expected<std::unique_ptr<PostProcessor>> make(const Json& json, const std::string& where) {
    const Json* single = json.find("single");
    if (!single || !single->is_array()) {
      return fail(fmt::format("`{}`: post_processor TemplateProcessing: expected a list as `single`", where));
    }
    auto processor = std::make_unique<TemplateProcessing>();
    for (const Json& item : single->as_array()) {
      auto slot = read_slot(item, json.find("special_tokens"), where);
      if (!slot) return tl::unexpected(slot.error());
      processor->slots_.push_back(std::move(*slot));
    }
    return processor;
  }

  std::vector<int32_t> apply(const std::vector<int32_t>& ids) const override {
    std::vector<int32_t> out;
    for (const Slot& slot : slots_) {
      const std::vector<int32_t>& part = slot ? *slot : ids;
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }
  std::vector<int32_t> added_ids() const override {
    std::vector<int32_t> out;
    for (const Slot& slot : slots_)
      if (slot) out.insert(out.end(), slot->begin(), slot->end());
    return out;
  }

 private:
  using Slot = std::optional<std::vector<int32_t>>;  // the ids of a special token; empty: the text's

  static Expected<Slot> read_slot(const Json& item, const Json* special_tokens, const std::string& where) {
    const Json* sequence = item.find("Sequence");
    const Json* special = item.find("SpecialToken");
    const Json* named = sequence ? sequence->find("id") : special ? special->find("id") : nullptr;
    if (!named || !named->is_string() || (sequence && special)) {
      return fail(
          fmt::format("`{}`: post_processor TemplateProcessing: expected {{\"SpecialToken\": {{\"id\": …}}}} "
                      "or {{\"Sequence\": {{\"id\": \"A\"}}}} in `single`, found {}",
                      where, to_json(item)));
    }
    const std::string& name = named->as_string();
    if (sequence) {
      if (name == "A") return Slot();
      return fail(
          fmt::format("`{}`: post_processor TemplateProcessing: `single` names sequence `{}`; there is only "
                      "`A`",
                      where, name));
    }
    const Json* token = special_tokens ? special_tokens->find(name) : nullptr;
    const Json* ids = token ? token->find("ids") : nullptr;
    std::vector<int32_t> out;
    if (ids && ids->is_array()) {
      for (const Json& json_id : ids->as_array()) {
        const auto id = token_id(json_id);
        if (!id) break;
        out.push_back(*id);
      }
      if (out.size() == ids->as_array().size()) return Slot(std::move(out));
    }
    return fail(fmt::format(
        "`{}`: post_processor TemplateProcessing: expected a list of token ids as `ids` of `{}` in "
        "`special_tokens`",
        where, name));
  }

  std::vector<Slot> slots_;
};

constexpr Kind<PostProcessor> kPostProcessors[] = {
    {"TemplateProcessing", TemplateProcessing::make},
};

// ---- decoders

/// Tokens stand side by side.
class Fuse final : public TokenDecoder {
 public:
  static Expected<std::unique_ptr<TokenDecoder>> make(const Json&, const std::string&) {
    return std::make_unique<Fuse>();
  }
  std::string bytes(std::string_view token, bool) const override { return std::string(token); }
};

/// Without a decoder, tokens are words with blanks between them.
class Words final : public TokenDecoder {
 public:
  std::string bytes(std::string_view token, bool first) const override {
    return first ? std::string(token) : fmt::format(" {}", token);
  }
};

constexpr Kind<TokenDecoder> kDecoders[] = {
    {"Fuse", Fuse::make},
};

}  // namespace

Expected<std::unique_ptr<TokenModel>> make_token_model(const Json* json, const std::string& where) {
  auto model = make_of_kind<TokenModel>(json, "model", where, kModels);
  if (model && !*model) return fail(fmt::format("`{}`: expected an object as `model`", where));
  return model;
}

Expected<std::unique_ptr<PostProcessor>> make_post_processor(const Json* json, const std::string& where) {
  return make_of_kind<PostProcessor>(json, "post_processor", where, kPostProcessors);
}

Expected<std::unique_ptr<TokenDecoder>> make_token_decoder(const Json* json, const std::string& where) {
  auto decoder = make_of_kind<TokenDecoder>(json, "decoder", where, kDecoders);
  if (decoder && !*decoder) return std::make_unique<Words>();
  return decoder;
}

Expected<void> check_normalizer(const Json* json, const std::string& where) {
  struct Normalizer {};
  const auto none = make_of_kind<Normalizer>(json, "normalizer", where, {});
  if (!none) return tl::unexpected(none.error());
  return {};
}

std::optional<int32_t> token_id(const Json& json) {
  if (!json.is_int() || json.as_int() < 0 || json.as_int() >= std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(json.as_int());
}

}  // namespace skdsl::model
