#include "runtime/model/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/utf8.h"
#include "runtime/model/stream_decoder.h"
#include "runtime/model/tokenizer_parts.h"

namespace skdsl::model {

namespace fs = std::filesystem;

namespace {
constexpr size_t kMaxDecodeStages = 64;  // each is a call inside the one before
}  // namespace

Expected<void> Tokenizer::Parts::read_added_tokens(const Json* json) {
  if (!json || json->is_null()) return {};
  if (!json->is_array())
    return fail(fmt::format("`{}`: added_tokens is {}; expected a list", where, json->kind()));
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
    const AddedToken& kept = added.emplace_back(std::move(*token));
    const bool fresh_id = added_by_id.emplace(kept.id, &kept).second;
    const bool fresh_content = added_ids.emplace(kept.content, kept.id).second;
    if (!fresh_id || !fresh_content) {
      return fail(fmt::format("`{}`: added token `{}` (id {}) stands twice or shares its id", where,
                              kept.content, kept.id));
    }
    if (kept.special) special.insert(kept.id);
    Piece content{kept.content};
    if (kept.normalized && normalizer)
      if (auto done = normalizer->normalize(content); !done) return done;
    (kept.normalized ? normalized : raw).add(std::move(content.text), kept);
  }
  return {};
}

Expected<void> Tokenizer::Parts::encode_text(Piece piece, std::vector<int32_t>& ids) const {
  std::vector<Piece> pieces;
  if (piece.text.empty()) return {};
  if (!pre_tokenizer) {
    pieces.push_back(std::move(piece));
  } else if (auto done = pre_tokenizer->split(std::move(piece), pieces); !done) {
    return done;
  }
  for (const Piece& p : pieces)
    if (auto done = model->encode(p.text, ids); !done) return done;
  return {};
}

bool Tokenizer::present(const fs::path& folder) {
  std::error_code ec;
  return fs::exists(folder / "tokenizer.json", ec) || fs::exists(folder / "tokenizer.model", ec);
}

Expected<Tokenizer> Tokenizer::open(const fs::path& folder) {
  std::error_code ec;
  fs::path file = folder / "tokenizer.json";
  const bool json = fs::exists(file, ec) || !fs::exists(folder / "tokenizer.model", ec);
  if (!json) file = folder / "tokenizer.model";
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  if (json) return from_json(*text, file.string());
  const fs::path config = folder / "tokenizer_config.json";
  if (!fs::exists(config, ec)) return from_sentencepiece(*text, file.string());
  const auto config_text = read_file(config);
  if (!config_text) return tl::unexpected(config_text.error());
  return from_sentencepiece(*text, file.string(), *config_text, config.string());
}

Expected<Tokenizer> Tokenizer::from_sentencepiece(std::string_view bytes, const std::string& where,
                                                  std::string_view config, const std::string& config_where) {
  auto parts = sentencepiece_parts(bytes, where, config, config_where);
  if (!parts) return tl::unexpected(parts.error());
  return Tokenizer(std::move(*parts));
}

Expected<Tokenizer> Tokenizer::from_json(std::string_view text, const std::string& where) {
  const auto json = parse_json(text, where);
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object()) return fail(fmt::format("`{}`: expected an object, found {}", where, json->kind()));

  // `truncation` and `padding` are settings of a batch call; whoever calls decides about both, so they do not
  // count.
  constexpr std::array<std::string_view, 9> kMembers = {"version",        "truncation", "padding",
                                                        "added_tokens",   "normalizer", "pre_tokenizer",
                                                        "post_processor", "decoder",    "model"};
  for (const auto& [key, value] : json->as_object())
    if (std::find(kMembers.begin(), kMembers.end(), key) == kMembers.end())
      return fail(
          fmt::format("`{}`: `{}` (here {}) is not supported; supported: added_tokens, normalizer, "
                      "pre_tokenizer, model, post_processor, decoder",
                      where, key, to_json(value).substr(0, 80)));

  auto parts = std::make_shared<Parts>();
  parts->where = where;
  // Each member is read into its place; the first that fails ends it.
  Expected<void> done;
  const auto read = [&](std::string_view key, auto make, auto& place) {
    if (!done) return;
    auto made = make(json->find(key), where);
    if (made)
      place = std::move(*made);
    else
      done = tl::unexpected(made.error());
  };
  read("normalizer", make_normalizer, parts->normalizer);
  read("model", make_token_model, parts->model);
  read("pre_tokenizer", make_pre_tokenizer, parts->pre_tokenizer);
  read("post_processor", make_post_processor, parts->post_processor);
  read("decoder", make_token_decoder, parts->decoder);
  if (done) done = parts->read_added_tokens(json->find("added_tokens"));
  if (done) {
    std::vector<std::unique_ptr<DecodeStage>> stages;
    parts->decoder->start(stages);
    if (stages.size() > kMaxDecodeStages)
      done = fail(fmt::format("`{}`: decoder has {} steps; at most {} are supported", where, stages.size(),
                              kMaxDecodeStages));
  }
  if (!done) return tl::unexpected(done.error());

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
    if (stretch.token) {
      ids.push_back(stretch.token->id);
      continue;
    }
    Piece piece{std::string(stretch.text), stretch.text.data() == text.data()};
    if (parts_->normalizer)
      if (auto done = parts_->normalizer->normalize(piece); !done) return tl::unexpected(done.error());
    std::vector<Stretch> fine;
    parts_->normalized.cut(piece.text, fine);
    for (const Stretch& part : fine) {
      if (part.token) {
        ids.push_back(part.token->id);
        continue;
      }
      const bool at_start = piece.at_start && part.text.data() == piece.text.data();
      if (auto done = parts_->encode_text({std::string(part.text), at_start}, ids); !done)
        return tl::unexpected(done.error());
    }
  }
  return add_special && parts_->post_processor ? parts_->post_processor->apply(std::move(ids)) : ids;
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

bool Tokenizer::is_special(int32_t id) const { return parts_->special.contains(id); }

int32_t Tokenizer::vocab_size() const {
  const int32_t last = parts_->added_by_id.empty() ? 0 : parts_->added_by_id.rbegin()->first + 1;
  return std::max(last, parts_->model->size());
}

}  // namespace skdsl::model
