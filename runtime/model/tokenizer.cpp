#include "runtime/model/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <unordered_map>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/utf8.h"
#include "runtime/model/regex.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace fs = std::filesystem;

namespace {

/// A token that is found in the text before anything else looks at it.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // not beside a word character
  bool lstrip = false;       // takes the white space on its left
  bool rstrip = false;
  bool normalized = false;  // looked for after the others
  bool special = false;     // left out of decoded text when asked
};

Expected<AddedToken> read_added_token(const Json& json, const std::string& where) {
  AddedToken token;
  const Json* content = json.find("content");
  const Json* id = json.find("id");
  if (!content || !content->is_string() || content->as_string().empty()) {
    return fail(fmt::format("`{}`: added_tokens: expected a string that is not empty as `content`, found {}",
                            where, content ? to_json(*content) : "none"));
  }
  token.content = content->as_string();
  const auto number = id ? token_id(*id) : std::nullopt;
  if (!number) {
    return fail(fmt::format("`{}`: added_tokens: expected a token id as `id` of `{}`, found {}", where,
                            token.content, id ? to_json(*id) : "none"));
  }
  token.id = *number;
  const std::pair<std::string_view, bool*> flags[] = {{"single_word", &token.single_word},
                                                      {"lstrip", &token.lstrip},
                                                      {"rstrip", &token.rstrip},
                                                      {"normalized", &token.normalized},
                                                      {"special", &token.special}};
  for (const auto& [key, value] : flags) {
    const Json* member = json.find(key);
    if (!member) continue;
    if (!member->is_bool()) {
      return fail(fmt::format("`{}`: added_tokens: `{}` of `{}` is {}; expected true or false", where, key,
                              token.content, member->kind()));
    }
    *value = member->as_bool();
  }
  return token;
}

std::string_view last_character(std::string_view text) {
  return text.substr(utf8_floor(text, text.size() - 1));
}
std::string_view first_character(std::string_view text) {
  size_t n = 1;
  while (n < text.size() && utf8_floor(text, n) != n) ++n;
  return text.substr(0, n);
}

/// A stretch of the text: an added token, or text between them.
struct Stretch {
  std::string_view text;
  const AddedToken* token = nullptr;
};

/// The added tokens of one round, for finding the leftmost longest one.
class Finder {
 public:
  void add(const AddedToken& token) { by_byte_[static_cast<uint8_t>(token.content[0])].push_back(&token); }
  void finish() {
    for (auto& row : by_byte_)
      std::sort(row.begin(), row.end(), [](const AddedToken* a, const AddedToken* b) {
        return a->content.size() > b->content.size();
      });
  }

  void cut(std::string_view text, std::vector<Stretch>& out) const {
    size_t done = 0;  // everything before is in `out`
    for (size_t at = 0; at < text.size();) {
      const AddedToken* token = longest(text.substr(at));
      if (!token) {
        ++at;
        continue;
      }
      size_t begin = at;
      size_t end = at + token->content.size();
      at = end;
      const bool left_word = begin > 0 && is_word_character(last_character(text.substr(0, begin)));
      const bool right_word = end < text.size() && is_word_character(first_character(text.substr(end)));
      if (token->single_word && (left_word || right_word)) continue;
      while (token->lstrip && begin > done) {
        const std::string_view left = last_character(text.substr(0, begin));
        if (!is_white_space(left)) break;
        begin -= left.size();
      }
      while (token->rstrip && end < text.size()) {
        const std::string_view right = first_character(text.substr(end));
        if (!is_white_space(right)) break;
        end += right.size();
      }
      if (begin > done) out.push_back({text.substr(done, begin - done)});
      out.push_back({text.substr(begin, end - begin), token});
      at = done = end;
    }
    if (done < text.size()) out.push_back({text.substr(done)});
  }

 private:
  const AddedToken* longest(std::string_view text) const {
    for (const AddedToken* token : by_byte_[static_cast<uint8_t>(text[0])])
      if (text.starts_with(token->content)) return token;
    return nullptr;
  }
  std::array<std::vector<const AddedToken*>, 256> by_byte_;
};

}  // namespace

struct Tokenizer::Parts {
  std::string where;
  std::vector<AddedToken> added;
  std::map<int32_t, const AddedToken*> added_by_id;
  std::unordered_map<std::string, int32_t> added_ids;
  Finder raw;                                   // tokens looked for first
  Finder normalized;                            // then these, in what is left
  std::unique_ptr<PreTokenizer> pre_tokenizer;  // may be null
  std::unique_ptr<TokenModel> model;
  std::unique_ptr<PostProcessor> post_processor;  // may be null
  std::unique_ptr<TokenDecoder> decoder;

  Expected<void> read_added_tokens(const Json* json);
  Expected<void> encode_text(std::string_view text, std::vector<int32_t>& ids) const;
};

Expected<void> Tokenizer::Parts::read_added_tokens(const Json* json) {
  if (!json || json->is_null()) return {};
  if (!json->is_array())
    return fail(fmt::format("`{}`: added_tokens is {}; expected a list", where, json->kind()));
  added.reserve(json->as_array().size());  // the finders keep addresses
  for (const Json& element : json->as_array()) {
    auto token = read_added_token(element, where);
    if (!token) return tl::unexpected(token.error());
    const auto in_model = model->id_of(token->content);
    const std::string* owner = model->token_of(token->id);
    if ((in_model && *in_model != token->id) || (owner && *owner != token->content)) {
      return fail(fmt::format(
          "`{}`: added token `{}` has id {}, but in the vocabulary {}", where, token->content, token->id,
          in_model ? fmt::format("it has id {}", *in_model) : fmt::format("that id is `{}`", *owner)));
    }
    added.push_back(std::move(*token));
    const AddedToken& kept = added.back();
    const bool fresh_id = added_by_id.emplace(kept.id, &kept).second;
    const bool fresh_content = added_ids.emplace(kept.content, kept.id).second;
    if (!fresh_id || !fresh_content) {
      return fail(fmt::format("`{}`: added token `{}` (id {}) stands twice or shares its id", where,
                              kept.content, kept.id));
    }
    (kept.normalized ? normalized : raw).add(kept);
  }
  raw.finish();
  normalized.finish();
  return {};
}

Expected<void> Tokenizer::Parts::encode_text(std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<std::string> pieces;
  if (pre_tokenizer) {
    if (auto done = pre_tokenizer->split(text, pieces); !done) return done;
  } else {
    pieces.emplace_back(text);
  }
  for (const std::string& piece : pieces)
    if (auto done = model->encode(piece, ids); !done) return done;
  return {};
}

bool Tokenizer::present(const fs::path& folder) {
  std::error_code ec;
  return fs::exists(folder / "tokenizer.json", ec);
}

Expected<Tokenizer> Tokenizer::open(const fs::path& folder) {
  const fs::path file = folder / "tokenizer.json";
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  return from_json(*text, file.string());
}

Expected<Tokenizer> Tokenizer::from_json(std::string_view text, const std::string& where) {
  const auto json = parse_json(text, where);
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object()) return fail(fmt::format("`{}`: expected an object, found {}", where, json->kind()));

  // `truncation` and `padding` are settings of a batch call; whoever calls decides about both, so they do not
  // count.
  auto parts = std::make_shared<Parts>();
  parts->where = where;
  if (auto ok = check_normalizer(json->find("normalizer"), where); !ok) return tl::unexpected(ok.error());
  auto model = make_token_model(json->find("model"), where);
  if (!model) return tl::unexpected(model.error());
  parts->model = std::move(*model);
  auto pre_tokenizer = make_pre_tokenizer(json->find("pre_tokenizer"), where);
  if (!pre_tokenizer) return tl::unexpected(pre_tokenizer.error());
  parts->pre_tokenizer = std::move(*pre_tokenizer);
  auto post_processor = make_post_processor(json->find("post_processor"), where);
  if (!post_processor) return tl::unexpected(post_processor.error());
  parts->post_processor = std::move(*post_processor);
  auto decoder = make_token_decoder(json->find("decoder"), where);
  if (!decoder) return tl::unexpected(decoder.error());
  parts->decoder = std::move(*decoder);
  if (auto ok = parts->read_added_tokens(json->find("added_tokens")); !ok) return tl::unexpected(ok.error());

  Tokenizer tokenizer(parts);
  if (parts->post_processor) {
    for (const int32_t id : parts->post_processor->added_ids())
      if (!tokenizer.token_of(id)) {
        return fail(fmt::format("`{}`: post_processor adds id {}, which is no token", where, id));
      }
  }
  return tokenizer;
}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text, bool add_special) const {
  if (const auto bad = invalid_utf8(text)) {
    return fail(fmt::format("the text to encode is not UTF-8: byte {} is 0x{:02x}", *bad,
                            static_cast<uint8_t>(text[*bad])));
  }
  std::vector<Stretch> rough;
  parts_->raw.cut(text, rough);
  std::vector<int32_t> ids;
  for (const Stretch& stretch : rough) {
    std::vector<Stretch> fine;
    if (stretch.token) {
      fine.push_back(stretch);
    } else {
      parts_->normalized.cut(stretch.text, fine);
    }
    for (const Stretch& part : fine) {
      if (part.token) {
        ids.push_back(part.token->id);
      } else if (auto done = parts_->encode_text(part.text, ids); !done) {
        return tl::unexpected(done.error());
      }
    }
  }
  return add_special && parts_->post_processor ? parts_->post_processor->apply(ids) : ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  StreamDecoder stream(*this, skip_special);
  std::string text;
  for (const int32_t id : ids) text += stream.push(id);
  return text + stream.finish();
}

std::optional<int32_t> Tokenizer::id_of(std::string_view token) const {
  const auto added = parts_->added_ids.find(std::string(token));
  if (added != parts_->added_ids.end()) return added->second;
  return parts_->model->id_of(token);
}

const std::string* Tokenizer::token_of(int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  if (added != parts_->added_by_id.end()) return &added->second->content;
  return parts_->model->token_of(id);
}

bool Tokenizer::is_special(int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  return added != parts_->added_by_id.end() && added->second->special;
}

int32_t Tokenizer::vocab_size() const {
  const int32_t last = parts_->added_by_id.empty() ? 0 : parts_->added_by_id.rbegin()->first + 1;
  return std::max(last, parts_->model->size());
}

std::string StreamDecoder::push(int32_t id) {
  const std::string* token = tokenizer_.token_of(id);
  if (!token || (skip_special_ && tokenizer_.is_special(id))) return {};
  pending_ += tokenizer_.parts_->decoder->bytes(*token, first_);
  first_ = false;
  const size_t tail = incomplete_utf8_tail(pending_);
  std::string ready = repaired_utf8(std::string_view(pending_).substr(0, pending_.size() - tail));
  pending_.erase(0, pending_.size() - tail);
  return ready;
}

std::string StreamDecoder::finish() {
  std::string rest = repaired_utf8(pending_);
  pending_.clear();
  first_ = true;
  return rest;
}

}  // namespace skdsl::model
