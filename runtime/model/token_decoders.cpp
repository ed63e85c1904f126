// token_decoders — how tokens become text again, each as a stage that works on a stream
#include "runtime/model/token_decoders.h"

#include <algorithm>

#include "runtime/base/utf8.h"
#include "runtime/model/byte_level.h"
#include "runtime/model/component_kinds.h"
#include "runtime/model/metaspace.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace {

using Made = Expected<std::unique_ptr<TokenDecoder>>;
using Stages = std::vector<std::unique_ptr<DecodeStage>>;

constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

/// A stage that must see each token whole.
class WholeTokens : public DecodeStage {
 public:
  void push(std::string_view text, bool ends, const Out& out) final {
    token_ += text;
    if (!ends) return;
    const std::string token = std::move(token_);
    token_.clear();
    push_token(token, out);
  }
  void finish(const Out& out) override {
    if (!token_.empty()) push("", true, out);
  }

 private:
  virtual void push_token(const std::string& token, const Out& out) = 0;
  std::string token_;
};

/// All tokens are one.
class FuseStage final : public DecodeStage {
 public:
  void push(std::string_view text, bool, const Out& out) override { out(text, false); }
  void finish(const Out& out) override { out("", true); }
};

/// A blank before each token but the first.
class WordsStage final : public DecodeStage {
 public:
  void push(std::string_view text, bool ends, const Out& out) override {
    if (begins_ && !first_) out(" ", false);
    first_ = false;
    begins_ = ends;
    out(text, ends);
  }

 private:
  bool first_ = true;
  bool begins_ = true;
};

/// Characters that stand for bytes become text. What is no UTF-8 becomes U+FFFD as in Rust's and Python's
/// lossy decoders; an incomplete character waits.
class ByteLevelStage final : public WholeTokens {
 public:
  void finish(const Out& out) override {
    WholeTokens::finish(out);
    out(repaired_utf8(bytes_), true);
    bytes_.clear();
  }

 private:
  void push_token(const std::string& token, const Out& out) override {
    bytes_ += from_byte_characters(token).value_or(token);
    const size_t ready = bytes_.size() - incomplete_utf8_tail(bytes_);
    out(repaired_utf8(std::string_view(bytes_).substr(0, ready)), false);
    bytes_.erase(0, ready);
  }
  std::string bytes_;
};

/// Tokens such as `<0xE2>` become bytes, runs of them text. A byte that is in no character becomes U+FFFD.
class ByteFallbackStage final : public WholeTokens {
 public:
  void finish(const Out& out) override {
    WholeTokens::finish(out);
    end_run(out);
  }

 private:
  void push_token(const std::string& token, const Out& out) override {
    const auto byte = byte_of_token(token);
    if (!byte) {
      end_run(out);
      out(token, true);
      return;
    }
    in_run_ = true;
    bytes_ += static_cast<char>(*byte);
    give(bytes_.size() - incomplete_utf8_tail(bytes_), out);
  }

  /// Gives the first `n` bytes.
  void give(size_t n, const Out& out) {
    std::string text;
    std::string_view rest = std::string_view(bytes_).substr(0, n);
    while (!rest.empty()) {
      const size_t good = invalid_utf8(rest).value_or(rest.size());
      text += rest.substr(0, good);
      rest.remove_prefix(good);
      if (rest.empty()) break;
      text += kReplacementCharacter;
      rest.remove_prefix(1);
    }
    if (!text.empty()) out(text, false);
    bytes_.erase(0, n);
  }
  void end_run(const Out& out) {
    if (!in_run_) return;
    in_run_ = false;
    give(bytes_.size(), out);
    out("", true);
  }

  std::string bytes_;
  bool in_run_ = false;
};

/// One text for another; what may be the beginning of a match waits.
class ReplaceStage final : public DecodeStage {
 public:
  ReplaceStage(std::string pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void push(std::string_view text, bool ends, const Out& out) override {
    waiting_ += text;
    std::string ready;
    size_t at = 0;
    for (size_t match; (match = waiting_.find(pattern_, at)) != std::string::npos;
         at = match + pattern_.size())
      ready.append(waiting_, at, match - at).append(content_);
    waiting_.erase(0, at);
    size_t keep = ends ? 0 : std::min(waiting_.size(), pattern_.size() - 1);
    while (keep > 0 && !pattern_.starts_with(std::string_view(waiting_).substr(waiting_.size() - keep)))
      --keep;
    ready.append(waiting_, 0, waiting_.size() - keep);
    waiting_.erase(0, waiting_.size() - keep);
    out(ready, ends);
  }
  void finish(const Out& out) override {
    if (!waiting_.empty()) push("", true, out);
  }

 private:
  std::string pattern_;
  std::string content_;
  std::string waiting_;
};

/// Up to `start` characters of one kind at the beginning of each token go, up to `stop` at its end.
class StripStage final : public DecodeStage {
 public:
  StripStage(std::string character, size_t start, size_t stop)
      : character_(std::move(character)), start_(start), stop_(stop), to_strip_(start) {}

  void push(std::string_view text, bool ends, const Out& out) override {
    while (to_strip_ > 0 && !text.empty()) {
      if (!text.starts_with(character_)) {
        to_strip_ = 0;
      } else {
        text.remove_prefix(character_.size());
        --to_strip_;
      }
    }
    waiting_ += text;
    size_t tail = 0;  // how many of the character stand at the end, `stop` at most
    while (tail < stop_ && ends_with(waiting_, tail)) ++tail;
    const size_t ready = waiting_.size() - tail * character_.size();
    const std::string given = waiting_.substr(0, ready);
    waiting_.erase(0, ready);
    if (ends) {
      waiting_.clear();
      to_strip_ = start_;
    }
    out(given, ends);
  }
  void finish(const Out& out) override {
    if (!waiting_.empty()) push("", true, out);
  }

 private:
  bool ends_with(std::string_view text, size_t skipped) const {
    return text.size() >= (skipped + 1) * character_.size() &&
           text.substr(0, text.size() - skipped * character_.size()).ends_with(character_);
  }
  std::string character_;
  size_t start_;
  size_t stop_;
  size_t to_strip_;
  std::string waiting_;
};

/// Marks become blanks; those of the first token go, when the encoder put one there.
class MetaspaceStage final : public DecodeStage {
 public:
  MetaspaceStage(std::string mark, bool drop_first) : mark_(std::move(mark)), drop_(drop_first) {}

  void push(std::string_view text, bool ends, const Out& out) override {
    std::string given;
    while (!text.empty()) {
      const std::string_view character = first_character(text);
      text.remove_prefix(character.size());
      if (character != mark_) {
        given += character;
      } else if (!drop_) {
        given += ' ';
      }
    }
    if (ends) drop_ = false;
    out(given, ends);
  }

 private:
  std::string mark_;
  bool drop_;
};

/// A decoder whose stages come from a function.
class SimpleDecoder final : public TokenDecoder {
 public:
  explicit SimpleDecoder(std::function<std::unique_ptr<DecodeStage>()> make) : make_(std::move(make)) {}
  void start(Stages& stages) const override { stages.push_back(make_()); }

 private:
  std::function<std::unique_ptr<DecodeStage>()> make_;
};

template <class Stage>
Made make_plain(const Json&, const std::string&) {
  return std::make_unique<SimpleDecoder>([] { return std::make_unique<Stage>(); });
}

Made make_replace(const Json& json, const std::string& where) {
  const Members members = members_of(json, "decoder", where);
  const Json* pattern = json.find("pattern");
  const Json* text = pattern ? pattern->find("String") : nullptr;
  if (!text || !text->is_string() || text->as_string().empty() || pattern->as_object().size() != 1)
    return members.expected("pattern",
                            "{\"String\": \"…\"}, not empty; other patterns are not supported in decoders");
  auto content = members.text("content");
  if (!content) return tl::unexpected(content.error());
  return std::make_unique<SimpleDecoder>([from = text->as_string(), to = std::move(*content)] {
    return std::make_unique<ReplaceStage>(from, to);
  });
}

Made make_strip(const Json& json, const std::string& where) {
  const Members members = members_of(json, "decoder", where);
  auto content = members.text("content");
  if (!content) return tl::unexpected(content.error());
  if (content->empty() || first_character(*content) != *content)
    return members.expected("content", "one character");
  const auto start = members.count("start");
  if (!start) return tl::unexpected(start.error());
  const auto stop = members.count("stop");
  if (!stop) return tl::unexpected(stop.error());
  return std::make_unique<SimpleDecoder>([character = std::move(*content), a = *start, b = *stop] {
    return std::make_unique<StripStage>(character, static_cast<size_t>(a), static_cast<size_t>(b));
  });
}

Made make_metaspace(const Json& json, const std::string& where) {
  auto space = read_metaspace(members_of(json, "decoder", where));
  if (!space) return tl::unexpected(space.error());
  return std::make_unique<SimpleDecoder>([space = std::move(*space)] {
    return std::make_unique<MetaspaceStage>(space.replacement, space.scheme != PrependScheme::Never);
  });
}

class Sequence final : public TokenDecoder {
 public:
  static Made make(const Json& json, const std::string& where) {
    const auto list = members_of(json, "decoder", where).list("decoders");
    if (!list) return tl::unexpected(list.error());
    auto sequence = std::make_unique<Sequence>();
    for (const Json& element : **list) {
      if (element.is_null()) return fail(fmt::format("`{}`: decoder Sequence: a member is null", where));
      auto member = make_token_decoder(&element, where);
      if (!member) return member;
      sequence->members_.push_back(std::move(*member));
    }
    return sequence;
  }
  void start(Stages& stages) const override {
    for (const auto& member : members_) member->start(stages);
  }

 private:
  std::vector<std::unique_ptr<TokenDecoder>> members_;
};

const Kind<TokenDecoder> kDecoders[] = {
    {"ByteFallback", make_plain<ByteFallbackStage>},
    {"ByteLevel", make_plain<ByteLevelStage>, {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"Fuse", make_plain<FuseStage>},
    {"Metaspace", make_metaspace, kMetaspaceMembers},
    {"Replace", make_replace, {"pattern", "content"}},
    {"Sequence", Sequence::make, {"decoders"}},
    {"Strip", make_strip, {"content", "start", "stop"}},
};

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return {};
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return {};
    value = value * 16 + digit;
  }
  return static_cast<uint8_t>(value);
}

std::unique_ptr<DecodeStage> byte_fallback_stage() { return std::make_unique<ByteFallbackStage>(); }

Made make_token_decoder(const Json* json, const std::string& where) {
  auto decoder = make_of_kind<TokenDecoder>(json, "decoder", where, kDecoders);
  if (decoder && !*decoder)
    return std::make_unique<SimpleDecoder>([] { return std::make_unique<WordsStage>(); });
  return decoder;
}

}  // namespace skdsl::model
