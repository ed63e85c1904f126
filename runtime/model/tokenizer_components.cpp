#include "runtime/model/tokenizer_components.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <unordered_map>

#include "runtime/model/regex.h"

namespace skdsl::model {

namespace {

/// A row of a table of kinds.
template <class Component>
struct Kind {
  std::string_view type;
  Expected<std::unique_ptr<Component>> (*make)(const Json& json, const std::string& where);
};

/// Finds the row of `json`'s type and makes the component.
template <class Component>
Expected<std::unique_ptr<Component>> make(const Json* json, std::string_view stage, const std::string& where,
                                          std::type_identity_t<std::span<const Kind<Component>>> kinds) {
  if (!json || json->is_null()) return std::unique_ptr<Component>();
  const Json* type = json->find("type");
  if (!type || !type->is_string()) {
    return fail(fmt::format("`{}`: {} has no `type`; expected an object with a string as `type`", where, stage));
  }
  std::string supported;
  for (const Kind<Component>& kind : kinds) {
    if (kind.type == type->as_string()) return kind.make(*json, where);
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", kind.type);
  }
  return fail(fmt::format("`{}`: {} of type `{}` is not supported; supported: {}", where, stage, type->as_string(),
                          supported.empty() ? "none (null)" : supported));
}

/// A boolean member; absent is `false`.
Expected<bool> flag(const Json& json, std::string_view key, std::string_view stage, const std::string& where) {
  const Json* member = json.find(key);
  if (!member) return false;
  if (member->is_bool()) return member->as_bool();
  return fail(fmt::format("`{}`: {}: `{}` is {}; expected true or false", where, stage, key, member->kind()));
}

// ---- pre-tokenizers

using Range = Regex::Range;
struct Part {
  Range range;
  bool match;
};

/// What becomes of the matches; the names and the results are those of the tokenizers library.
using Behavior = std::vector<Range> (*)(const std::vector<Part>& parts);

std::vector<Range> removed(const std::vector<Part>& parts) {
  std::vector<Range> out;
  for (const Part& part : parts)
    if (!part.match) out.push_back(part.range);
  return out;
}

std::vector<Range> isolated(const std::vector<Part>& parts) {
  std::vector<Range> out;
  for (const Part& part : parts) out.push_back(part.range);
  return out;
}

std::vector<Range> contiguous(const std::vector<Part>& parts) {
  std::vector<Range> out;
  const Part* before = nullptr;
  for (const Part& part : parts) {
    if (before && before->match == part.match) {
      out.back().second = part.range.second;
    } else {
      out.push_back(part.range);
    }
    before = &part;
  }
  return out;
}

std::vector<Range> merged_with_previous(const std::vector<Part>& parts) {
  std::vector<Range> out;
  bool before = false;
  for (const Part& part : parts) {
    if (part.match && !before && !out.empty()) {
      out.back().second = part.range.second;
    } else {
      out.push_back(part.range);
    }
    before = part.match;
  }
  return out;
}

std::vector<Range> merged_with_next(const std::vector<Part>& parts) {
  std::vector<Range> out;  // from right to left
  bool before = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->match && !before && !out.empty()) {
      out.back().first = part->range.first;
    } else {
      out.push_back(part->range);
    }
    before = part->match;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

struct BehaviorRow {
  std::string_view name;
  Behavior behavior;
};
constexpr BehaviorRow kBehaviors[] = {
    {"Removed", removed},
    {"Isolated", isolated},
    {"MergedWithPrevious", merged_with_previous},
    {"MergedWithNext", merged_with_next},
    {"Contiguous", contiguous},
};

class Split final : public PreTokenizer {
 public:
  Split(Regex regex, Behavior behavior, bool invert)
      : regex_(std::move(regex)), behavior_(behavior), invert_(invert) {}

  static Expected<std::unique_ptr<PreTokenizer>> make(const Json& json, const std::string& where) {
    const auto invert = flag(json, "invert", "pre_tokenizer Split", where);
    if (!invert) return tl::unexpected(invert.error());
    const Json* name = json.find("behavior");
    const auto row = std::find_if(std::begin(kBehaviors), std::end(kBehaviors), [&](const BehaviorRow& r) {
      return name && name->is_string() && r.name == name->as_string();
    });
    if (row == std::end(kBehaviors)) {
      std::string names;
      for (const BehaviorRow& r : kBehaviors) names += fmt::format("{}{}", names.empty() ? "" : ", ", r.name);
      return fail(fmt::format("`{}`: pre_tokenizer Split: behavior {} is not one of {}", where,
                              name ? to_json(*name) : "(missing)", names));
    }
    const Json* pattern = json.find("pattern");
    const Json* regex = pattern ? pattern->find("Regex") : nullptr;
    const Json* text = pattern ? pattern->find("String") : nullptr;
    const Json* source = regex ? regex : text;
    if (!source || !source->is_string() || (regex && text)) {
      return fail(fmt::format("`{}`: pre_tokenizer Split: expected {{\"Regex\": \"…\"}} or {{\"String\": \"…\"}} as "
                              "`pattern`",
                              where));
    }
    auto compiled = Regex::compile(source->as_string(), regex ? Regex::Syntax::Regex : Regex::Syntax::Literal,
                                   fmt::format("`{}`: pre_tokenizer Split", where));
    if (!compiled) return tl::unexpected(compiled.error());
    return std::make_unique<Split>(std::move(*compiled), row->behavior, *invert);
  }

  Expected<void> split(std::string_view text, std::vector<std::string>& out) const override {
    const auto matches = regex_.find_all(text);
    if (!matches) return tl::unexpected(matches.error());
    std::vector<Part> parts;
    size_t at = 0;
    for (const Range& match : *matches) {
      if (match.first > at) parts.push_back({{at, match.first}, invert_});
      parts.push_back({match, !invert_});
      at = match.second;
    }
    if (at < text.size()) parts.push_back({{at, text.size()}, invert_});
    for (const auto& [begin, end] : behavior_(parts))
      if (begin < end) out.emplace_back(text.substr(begin, end - begin));
    return {};
  }

 private:
  Regex regex_;
  Behavior behavior_;
  bool invert_;
};

/// Words and runs of other characters; white space goes.
Expected<std::unique_ptr<PreTokenizer>> make_whitespace(const Json&, const std::string& where) {
  auto regex = Regex::compile(fmt::format("[{0}]+|[^{0}{1}]+", kWordClass, kSpaceClass), Regex::Syntax::Regex,
                              fmt::format("`{}`: pre_tokenizer Whitespace", where));
  if (!regex) return tl::unexpected(regex.error());
  return std::make_unique<Split>(std::move(*regex), removed, true);
}

/// One pre-tokenizer after the other, each on the pieces of the one before.
class Sequence final : public PreTokenizer {
 public:
  static Expected<std::unique_ptr<PreTokenizer>> make(const Json& json, const std::string& where) {
    const Json* list = json.find("pretokenizers");
    if (!list || !list->is_array()) {
      return fail(fmt::format("`{}`: pre_tokenizer Sequence: expected a list as `pretokenizers`", where));
    }
    auto sequence = std::make_unique<Sequence>();
    for (const Json& element : list->as_array()) {
      auto member = make_pre_tokenizer(&element, where);
      if (!member) return member;
      if (!*member) return fail(fmt::format("`{}`: pre_tokenizer Sequence: a member is null", where));
      sequence->members_.push_back(std::move(*member));
    }
    return sequence;
  }

  Expected<void> split(std::string_view text, std::vector<std::string>& out) const override {
    std::vector<std::string> pieces;
    if (!text.empty()) pieces.emplace_back(text);
    for (const auto& member : members_) {
      std::vector<std::string> finer;
      for (const std::string& piece : pieces)
        if (auto done = member->split(piece, finer); !done) return done;
      pieces = std::move(finer);
    }
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
    return {};
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> members_;
};

constexpr Kind<PreTokenizer> kPreTokenizers[] = {
    {"Split", Split::make},
    {"Sequence", Sequence::make},
    {"Whitespace", make_whitespace},
};

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
        return fail(fmt::format("`{}`: model WordLevel: the id of `{}` is {}; expected an integer from 0 to {}", where,
                                token, to_json(json_id), std::numeric_limits<int32_t>::max() - 1));
      }
      if (const auto [other, fresh] = model->tokens_.emplace(*id, token); !fresh) {
        return fail(fmt::format("`{}`: model WordLevel: `{}` and `{}` have the same id {}", where, other->second,
                                token, *id));
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
      return fail(fmt::format("`{}`: `{}` is not in the vocabulary, and neither is the unknown token `{}`", where_,
                              piece, unknown_));
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
      return fail(fmt::format("`{}`: post_processor TemplateProcessing: expected {{\"SpecialToken\": {{\"id\": …}}}} "
                              "or {{\"Sequence\": {{\"id\": \"A\"}}}} in `single`, found {}",
                              where, to_json(item)));
    }
    const std::string& name = named->as_string();
    if (sequence) {
      if (name == "A") return Slot();
      return fail(fmt::format("`{}`: post_processor TemplateProcessing: `single` names sequence `{}`; there is only "
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
    return fail(fmt::format("`{}`: post_processor TemplateProcessing: expected a list of token ids as `ids` of `{}` in "
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

Expected<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json* json, const std::string& where) {
  return make<PreTokenizer>(json, "pre_tokenizer", where, kPreTokenizers);
}

Expected<std::unique_ptr<TokenModel>> make_token_model(const Json* json, const std::string& where) {
  auto model = make<TokenModel>(json, "model", where, kModels);
  if (model && !*model) return fail(fmt::format("`{}`: expected an object as `model`", where));
  return model;
}

Expected<std::unique_ptr<PostProcessor>> make_post_processor(const Json* json, const std::string& where) {
  return make<PostProcessor>(json, "post_processor", where, kPostProcessors);
}

Expected<std::unique_ptr<TokenDecoder>> make_token_decoder(const Json* json, const std::string& where) {
  auto decoder = make<TokenDecoder>(json, "decoder", where, kDecoders);
  if (decoder && !*decoder) return std::make_unique<Words>();
  return decoder;
}

Expected<void> check_normalizer(const Json* json, const std::string& where) {
  struct Normalizer {};
  const auto none = make<Normalizer>(json, "normalizer", where, {});
  if (!none) return tl::unexpected(none.error());
  return {};
}

std::optional<int32_t> token_id(const Json& json) {
  if (!json.is_int() || json.as_int() < 0 || json.as_int() >= std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(json.as_int());
}

}  // namespace skdsl::model
