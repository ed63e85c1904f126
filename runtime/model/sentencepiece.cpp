// sentencepiece — a tokenizer from a tokenizer.model (the only includer of the SentencePiece library)
//
// The library encodes; decoding is a stream of our own, with the library's results. As in Hugging Face's
// LlamaTokenizer a begin token stands in front unless tokenizer_config.json says `add_bos_token: false`, and
// an end token behind when it says `add_eos_token: true`.
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <exception>

#include "runtime/base/json.h"
#include "runtime/model/component_kinds.h"
#include "runtime/model/sentencepiece_file.h"
#include "runtime/model/token_decoders.h"
#include "runtime/model/tokenizer_parts.h"

namespace skdsl::model {

namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // ▁ stands for a blank

/// The library and what we read ourselves.
struct Model {
  std::string where;
  SentencePieceFile file;
  sentencepiece::SentencePieceProcessor processor;
};

class SentencePieceModel final : public TokenModel {
 public:
  explicit SentencePieceModel(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  Expected<void> encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    std::vector<int> out;
    const auto status = model_->processor.Encode(piece, &out);
    if (!status.ok()) return fail(fmt::format("`{}`: {}", model_->where, status.ToString()));
    ids.insert(ids.end(), out.begin(), out.end());
    return {};
  }
  std::optional<int32_t> id_of(std::string_view token) const override {
    const int id = model_->processor.PieceToId(token);
    const std::string* found = token_of(id);
    return found && *found == token ? std::optional<int32_t>(id) : std::nullopt;
  }
  const std::string* token_of(int32_t id) const override {
    return id >= 0 && id < size() ? &model_->file.pieces[static_cast<size_t>(id)].text : nullptr;
  }
  int32_t size() const override { return static_cast<int32_t>(model_->file.pieces.size()); }

 private:
  std::shared_ptr<const Model> model_;
};

/// Pieces to text: ▁ is a blank, but not at the beginning when the encoder put one there or takes them away.
class PieceStage final : public DecodeStage {
 public:
  explicit PieceStage(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  void push(std::string_view piece, bool, const Out& out) override {
    const SentencePieceFile& file = model_->file;
    const int id = model_->processor.PieceToId(piece);
    const PieceType type = file.pieces[static_cast<size_t>(id)].type;
    if (type == PieceType::Byte) {
      text_seen_ = true;
      out(piece, true);
      return;
    }
    if (blank_seen_ || text_seen_) at_start_ = false;
    std::string text;
    blank_seen_ = false;
    if (type == PieceType::Unknown) {
      text = file.unknown_surface;
    } else {
      if (at_start_ && (file.add_dummy_prefix || file.remove_extra_whitespaces) &&
          piece.starts_with(kSpace)) {
        piece.remove_prefix(kSpace.size());
        // One blank goes; all of them when the encoder takes away more than one.
        blank_seen_ = !file.remove_extra_whitespaces;
      }
      for (size_t at; (at = piece.find(kSpace)) != piece.npos; piece.remove_prefix(at + kSpace.size()))
        text.append(piece.substr(0, at)).append(" ");
      text += piece;
    }
    text_seen_ |= !text.empty();
    // What looks like the name of a byte is text here, so it goes on in two parts.
    if (byte_of_token(text)) {
      out(text.substr(0, 1), true);
      text.erase(0, 1);
    }
    out(text, true);
  }

 private:
  std::shared_ptr<const Model> model_;
  bool at_start_ = true;
  bool blank_seen_ = false;
  bool text_seen_ = false;
};

class PieceDecoder final : public TokenDecoder {
 public:
  explicit PieceDecoder(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  void start(std::vector<std::unique_ptr<DecodeStage>>& stages) const override {
    stages.push_back(std::make_unique<PieceStage>(model_));
    stages.push_back(byte_fallback_stage());
  }

 private:
  std::shared_ptr<const Model> model_;
};

/// Begin and end token.
class BeginEnd final : public PostProcessor {
 public:
  BeginEnd(std::optional<int32_t> begin, std::optional<int32_t> end) : begin_(begin), end_(end) {}
  std::vector<int32_t> apply(std::vector<int32_t> ids) const override {
    if (begin_) ids.insert(ids.begin(), *begin_);
    if (end_) ids.push_back(*end_);
    return ids;
  }
  std::vector<int32_t> added_ids() const override { return apply({}); }

 private:
  std::optional<int32_t> begin_;
  std::optional<int32_t> end_;
};

/// Adds what tokenizer_config.json changes; what it changes and we cannot follow is refused.
Expected<std::unique_ptr<PostProcessor>> read_config(const Model& model, std::string_view text,
                                                     const std::string& where) {
  Json json = Json::Object{};
  if (!text.empty()) {
    auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    json = std::move(*parsed);
    if (!json.is_object()) return fail(fmt::format("`{}`: expected an object, found {}", where, json.kind()));
  }
  const Members members(json, fmt::format("`{}`", where));
  const auto flag_or_fail = [&](std::string_view key, bool fallback) { return members.flag(key, fallback); };
  const auto prefix = flag_or_fail("add_prefix_space", model.file.add_dummy_prefix);
  if (!prefix) return tl::unexpected(prefix.error());
  if (*prefix != model.file.add_dummy_prefix)
    return members.expected("add_prefix_space", fmt::format("{}, as tokenizer.model has it", !*prefix));
  if (const Json* added = json.find("added_tokens_decoder"); added && added->is_object())
    for (const auto& [id, token] : added->as_object()) {
      const Json* content = token.find("content");
      const std::string name = content && content->is_string() ? content->as_string() : std::string();
      const int known = model.processor.PieceToId(name);
      if (model.file.pieces[static_cast<size_t>(known)].text != name || std::to_string(known) != id)
        return fail(fmt::format("`{}`: added_tokens_decoder: the token `{}` (id {}) is not in `{}`", where,
                                name, id, model.where),
                    {"help: tokens added to a SentencePiece model are supported through a tokenizer.json"});
    }
  const auto special = [&](std::string_view key, bool fallback, int id) -> Expected<std::optional<int32_t>> {
    const auto wanted = flag_or_fail(key, fallback);
    if (!wanted) return tl::unexpected(wanted.error());
    if (*wanted && id < 0 && json.find(key))
      return members.expected(key, "false, because tokenizer.model has no such token");
    return *wanted && id >= 0 ? std::optional<int32_t>(id) : std::nullopt;
  };
  const auto begin = special("add_bos_token", true, model.processor.bos_id());
  if (!begin) return tl::unexpected(begin.error());
  const auto end = special("add_eos_token", false, model.processor.eos_id());
  if (!end) return tl::unexpected(end.error());
  return std::make_unique<BeginEnd>(*begin, *end);
}

Expected<std::shared_ptr<const Model>> load(std::string_view bytes, const std::string& where) {
  auto file = read_sentencepiece_file(bytes, where);
  if (!file) return tl::unexpected(file.error());
  auto model = std::make_shared<Model>();
  model->where = where;
  model->file = std::move(*file);
  std::string wrong;
  try {
    const auto status = model->processor.LoadFromSerializedProto(bytes);
    if (!status.ok()) wrong = status.ToString();
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  if (!wrong.empty())
    return fail(fmt::format("`{}`: the SentencePiece library does not take this model: {}", where, wrong));
  if (model->processor.GetPieceSize() != static_cast<int>(model->file.pieces.size()))
    return fail(fmt::format("`{}`: the SentencePiece library finds {} pieces, the file has {}", where,
                            model->processor.GetPieceSize(), model->file.pieces.size()));
  return model;
}

}  // namespace

Expected<std::shared_ptr<const Tokenizer::Parts>> sentencepiece_parts(std::string_view bytes,
                                                                      const std::string& where,
                                                                      std::string_view config,
                                                                      const std::string& config_where) {
  const auto model = load(bytes, where);
  if (!model) return tl::unexpected(model.error());
  auto post_processor = read_config(**model, config, config_where);
  if (!post_processor) return tl::unexpected(post_processor.error());
  auto parts = std::make_shared<Tokenizer::Parts>();
  parts->where = where;
  parts->model = std::make_unique<SentencePieceModel>(*model);
  parts->decoder = std::make_unique<PieceDecoder>(*model);
  parts->post_processor = std::move(*post_processor);
  for (size_t id = 0; id < (*model)->file.pieces.size(); ++id)
    if ((*model)->file.pieces[id].type == PieceType::Control) parts->special.insert(static_cast<int32_t>(id));
  return parts;
}

}  // namespace skdsl::model
