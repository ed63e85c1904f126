// bpe — byte pair encoding: characters, then merges in the order of their ranks
//
//   "hello"   h e l l o  ─(e,l)─►  h el l o  ─(h,el)─►  hel l o  …
//
// Of the pairs that can be merged the one of the lowest rank goes first, the leftmost among equals. A
// character that is no token becomes the tokens of its bytes (`byte_fallback`) or the unknown token. The
// details follow the Hugging Face tokenizers library. A character that none of these covers is an error here;
// that library drops it.
#include <fmt/format.h>

#include <queue>
#include <unordered_map>

#include "runtime/base/utf8.h"
#include "runtime/model/tokenizer_components.h"
#include "runtime/model/vocabulary.h"

namespace skdsl::model {

namespace {

struct MergeRule {
  uint32_t rank;
  int32_t id;  // of the merged token
};

/// Merge rules by the ids of left and right.
class MergeTable {
 public:
  void set(int32_t left, int32_t right, MergeRule rule) { rules_[key(left, right)] = rule; }
  const MergeRule* find(int32_t left, int32_t right) const {
    const auto at = rules_.find(key(left, right));
    return at == rules_.end() ? nullptr : &at->second;
  }
  void reserve(size_t n) { rules_.reserve(n); }

 private:
  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  std::unordered_map<uint64_t, MergeRule> rules_;
};

/// The tokens of one piece while they are merged; a merged right part keeps its place, dead.
class Word {
 public:
  void add(int32_t id) { symbols_.push_back({id}); }

  void merge(const MergeTable& rules) {
    const int n = static_cast<int>(symbols_.size());
    for (int i = 0; i < n; ++i) {
      symbols_[i].previous = i - 1;
      symbols_[i].next = i + 1 < n ? i + 1 : -1;
    }
    for (int i = 0; i + 1 < n; ++i) offer(rules, i, i + 1);
    while (!open_.empty()) {
      const Candidate best = open_.top();
      open_.pop();
      Symbol& left = symbols_[best.at];
      if (!left.alive || left.next < 0) continue;
      const Symbol& right = symbols_[left.next];
      // What stands here may have changed since the candidate was made.
      const MergeRule* rule = rules.find(left.id, right.id);
      if (!rule || rule->id != best.id) continue;
      left.id = best.id;
      symbols_[left.next].alive = false;
      left.next = right.next;
      if (left.next >= 0) symbols_[left.next].previous = best.at;
      if (left.previous >= 0) offer(rules, left.previous, best.at);
      if (left.next >= 0) offer(rules, best.at, left.next);
    }
  }

  void append_to(std::vector<int32_t>& ids) const {
    for (const Symbol& symbol : symbols_)
      if (symbol.alive) ids.push_back(symbol.id);
  }

 private:
  struct Symbol {
    int32_t id;
    int previous = -1;
    int next = -1;
    bool alive = true;
  };
  struct Candidate {
    uint32_t rank;
    int at;
    int32_t id;
    bool operator<(const Candidate& other) const {  // the queue's top is the largest
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  void offer(const MergeTable& rules, int left, int right) {
    if (const MergeRule* rule = rules.find(symbols_[left].id, symbols_[right].id))
      open_.push({rule->rank, left, rule->id});
  }

  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> open_;
};

class Bpe final : public TokenModel {
 public:
  Expected<void> read(const Json& json, const Members& members) {
    auto vocabulary = Vocabulary::read(json, members);
    if (!vocabulary) return tl::unexpected(vocabulary.error());
    vocabulary_ = std::move(*vocabulary);
    place_ = members.place();
    if (const Json* dropout = json.find("dropout");
        dropout && !dropout->is_null() && !(dropout->is_number() && dropout->as_double() == 0.0))
      return fail(
          fmt::format("{}: `dropout` is {}; only null or 0 is supported: ids must not depend on chance",
                      place_, to_json(*dropout).substr(0, 80)));
    const std::pair<std::string_view, bool*> flags[] = {
        {"fuse_unk", &fuse_unknown_}, {"byte_fallback", &byte_fallback_}, {"ignore_merges", &ignore_merges_}};
    for (const auto& [key, value] : flags) {
      const auto flag = members.flag(key);
      if (!flag) return tl::unexpected(flag.error());
      *value = *flag;
    }
    const std::pair<std::string_view, std::string*> affixes[] = {{"continuing_subword_prefix", &prefix_},
                                                                 {"end_of_word_suffix", &suffix_}};
    for (const auto& [key, value] : affixes) {
      auto text = members.optional_text(key);
      if (!text) return tl::unexpected(text.error());
      *value = text->value_or("");
    }
    auto unknown = members.optional_text("unk_token");
    if (!unknown) return tl::unexpected(unknown.error());
    if (*unknown) unknown_ = vocabulary_.id_of(**unknown);
    for (int byte = 0; byte < 256; ++byte)
      byte_tokens_.push_back(vocabulary_.id_of(fmt::format("<0x{:02X}>", byte)));
    return read_merges(members);
  }

  Expected<void> encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    if (ignore_merges_) {
      if (const auto id = vocabulary_.id_of(piece)) {
        ids.push_back(*id);
        return {};
      }
    }
    Word word;
    bool unknown_before = false;  // an unknown token that is not added yet: the next one may fuse with it
    for (size_t at = 0; at < piece.size();) {
      const std::string_view character = first_character(piece.substr(at));
      const bool first = at == 0;
      at += character.size();
      std::string spelled;
      std::string_view token = character;
      if ((!first && !prefix_.empty()) || (at == piece.size() && !suffix_.empty())) {
        spelled = fmt::format("{}{}{}", first ? "" : prefix_, character, at == piece.size() ? suffix_ : "");
        token = spelled;
      }
      if (const auto id = vocabulary_.id_of(token)) {
        if (unknown_before) word.add(*unknown_);
        unknown_before = false;
        word.add(*id);
      } else if (byte_fallback_ && has_bytes(token)) {
        for (const char byte : token) word.add(*byte_tokens_[static_cast<uint8_t>(byte)]);
      } else if (unknown_) {
        if (unknown_before && !fuse_unknown_) word.add(*unknown_);
        unknown_before = true;
      } else {
        return fail(fmt::format("{}: `{}` is not in the vocabulary, and there is no unknown token for it",
                                place_, character));
      }
    }
    if (unknown_before) word.add(*unknown_);
    word.merge(merges_);
    word.append_to(ids);
    return {};
  }
  std::optional<int32_t> id_of(std::string_view token) const override { return vocabulary_.id_of(token); }
  const std::string* token_of(int32_t id) const override { return vocabulary_.token_of(id); }
  int32_t size() const override { return vocabulary_.size(); }

 private:
  bool has_bytes(std::string_view token) const {
    for (const char byte : token)
      if (!byte_tokens_[static_cast<uint8_t>(byte)]) return false;
    return true;
  }

  /// "left right" or ["left", "right"]; the rank is the place in the list.
  Expected<void> read_merges(const Members& members) {
    const auto list = members.list("merges");
    if (!list) return tl::unexpected(list.error());
    merges_.reserve((*list)->size());
    for (size_t i = 0; i < (*list)->size(); ++i) {
      const Json& item = (**list)[i];
      std::string left, right;
      bool good = false;
      if (item.is_string()) {
        const size_t blank = item.as_string().find(' ');
        good = blank != std::string::npos && item.as_string().find(' ', blank + 1) == std::string::npos;
        if (good) {
          left = item.as_string().substr(0, blank);
          right = item.as_string().substr(blank + 1);
        }
      } else if (item.is_array() && item.as_array().size() == 2) {
        good = item.as_array()[0].is_string() && item.as_array()[1].is_string();
        if (good) {
          left = item.as_array()[0].as_string();
          right = item.as_array()[1].as_string();
        }
      }
      if (!good)
        return fail(fmt::format("{}: merge {} is {}; expected \"left right\" or [\"left\", \"right\"]",
                                place_, i, to_json(item).substr(0, 80)));
      // The prefix of the right part goes, as in `##b` behind `a`: `ab`.
      if (right.size() < prefix_.size())
        return fail(fmt::format("{}: the right part of merge {} is shorter than the prefix `{}`", place_, i,
                                prefix_));
      const std::string merged = left + right.substr(prefix_.size());
      const auto left_id = vocabulary_.id_of(left);
      const auto right_id = vocabulary_.id_of(right);
      const auto merged_id = vocabulary_.id_of(merged);
      for (const auto& [token, id] :
           {std::pair(std::string_view(left), left_id), {right, right_id}, {merged, merged_id}})
        if (!id)
          return fail(fmt::format("{}: merge {} needs the token `{}`, which is not in the vocabulary", place_,
                                  i, token));
      merges_.set(*left_id, *right_id, {static_cast<uint32_t>(i), *merged_id});
    }
    return {};
  }

  std::string place_;
  Vocabulary vocabulary_;
  MergeTable merges_;
  std::optional<int32_t> unknown_;
  std::vector<std::optional<int32_t>> byte_tokens_;  // of `<0x00>` to `<0xFF>`
  std::string prefix_;                               // of every character of a piece but the first
  std::string suffix_;                               // of the last character of a piece
  bool fuse_unknown_ = false;
  bool byte_fallback_ = false;
  bool ignore_merges_ = false;  // a piece that is a token is that token
};

}  // namespace

Expected<std::unique_ptr<TokenModel>> make_bpe(const Json& json, const std::string& where) {
  auto model = std::make_unique<Bpe>();
  if (auto ok = model->read(json, members_of(json, "model", where)); !ok) return tl::unexpected(ok.error());
  return model;
}

}  // namespace skdsl::model
