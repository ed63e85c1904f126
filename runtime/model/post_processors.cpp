// post_processors — the special tokens around the ids of a text
#include <fmt/format.h>

#include "runtime/model/component_kinds.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace {

using Made = Expected<std::unique_ptr<PostProcessor>>;

/// A list of special tokens and the text's own ids. `pair` is for two texts at once, which never come here.
class TemplateProcessing final : public PostProcessor {
 public:
  static Made make(const Json& json, const std::string& where) {
    const auto single = members_of(json, "post_processor", where).list("single");
    if (!single) return tl::unexpected(single.error());
    auto processor = std::make_unique<TemplateProcessing>();
    for (const Json& item : **single) {
      auto slot = read_slot(item, json.find("special_tokens"), where);
      if (!slot) return tl::unexpected(slot.error());
      processor->slots_.push_back(std::move(*slot));
    }
    return processor;
  }

  std::vector<int32_t> apply(std::vector<int32_t> ids) const override {
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

/// Concerns the places of tokens in the text, which nobody asks for here; no token is added.
class ByteLevel final : public PostProcessor {
 public:
  static Made make(const Json&, const std::string&) { return std::make_unique<ByteLevel>(); }
  std::vector<int32_t> apply(std::vector<int32_t> ids) const override { return ids; }
  std::vector<int32_t> added_ids() const override { return {}; }
};

class Sequence final : public PostProcessor {
 public:
  static Made make(const Json& json, const std::string& where) {
    const auto list = members_of(json, "post_processor", where).list("processors");
    if (!list) return tl::unexpected(list.error());
    auto sequence = std::make_unique<Sequence>();
    for (const Json& element : **list) {
      auto member = make_post_processor(&element, where);
      if (!member) return member;
      if (!*member) return fail(fmt::format("`{}`: post_processor Sequence: a member is null", where));
      sequence->members_.push_back(std::move(*member));
    }
    return sequence;
  }
  std::vector<int32_t> apply(std::vector<int32_t> ids) const override {
    for (const auto& member : members_) ids = member->apply(std::move(ids));
    return ids;
  }
  std::vector<int32_t> added_ids() const override {
    std::vector<int32_t> out;
    for (const auto& member : members_) {
      const auto part = member->added_ids();
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> members_;
};

const Kind<PostProcessor> kPostProcessors[] = {
    {"ByteLevel", ByteLevel::make, {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"Sequence", Sequence::make, {"processors"}},
    {"TemplateProcessing", TemplateProcessing::make, {"single", "pair", "special_tokens"}},
};

}  // namespace

Made make_post_processor(const Json* json, const std::string& where) {
  return make_of_kind<PostProcessor>(json, "post_processor", where, kPostProcessors);
}

}  // namespace skdsl::model
