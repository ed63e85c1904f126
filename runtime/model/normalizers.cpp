// normalizers — how a text is rewritten before it is cut (an includer of ICU, for the Unicode forms)
#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>

#include "runtime/base/assert.h"
#include "runtime/base/utf8.h"
#include "runtime/model/byte_level.h"
#include "runtime/model/component_kinds.h"
#include "runtime/model/regex.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace {

using Made = Expected<std::unique_ptr<Normalizer>>;
constexpr size_t kMaxTextBytes = size_t{1} << 28;  // replacements can multiply
using Form = const icu::Normalizer2* (*)(UErrorCode&);

/// A Unicode normalisation form.
template <Form form>
class UnicodeForm final : public Normalizer {
 public:
  static Made make(const Json&, const std::string&) { return std::make_unique<UnicodeForm>(); }
  Expected<void> normalize(Piece& piece) const override {
    UErrorCode status = U_ZERO_ERROR;
    std::string out;
    icu::StringByteSink<std::string> sink(&out);
    form(status)->normalizeUTF8(0, piece.text, sink, nullptr, status);
    SK_ASSERT(U_SUCCESS(status), "normalising valid UTF-8 succeeds");
    piece.text = std::move(out);
    return {};
  }
};

const icu::Normalizer2* nfc(UErrorCode& status) { return icu::Normalizer2::getNFCInstance(status); }
const icu::Normalizer2* nfd(UErrorCode& status) { return icu::Normalizer2::getNFDInstance(status); }
const icu::Normalizer2* nfkc(UErrorCode& status) { return icu::Normalizer2::getNFKCInstance(status); }
const icu::Normalizer2* nfkd(UErrorCode& status) { return icu::Normalizer2::getNFKDInstance(status); }

/// Each character by itself: no rule looks at its neighbours.
class Lowercase final : public Normalizer {
 public:
  static Made make(const Json&, const std::string&) { return std::make_unique<Lowercase>(); }
  Expected<void> normalize(Piece& piece) const override {
    std::string out;
    icu::StringByteSink<std::string> sink(&out);
    for (std::string_view rest = piece.text; !rest.empty();) {
      const std::string_view character = first_character(rest);
      rest.remove_prefix(character.size());
      UErrorCode status = U_ZERO_ERROR;
      icu::CaseMap::utf8ToLower("", 0, character, sink, nullptr, status);
      SK_ASSERT(U_SUCCESS(status), "mapping valid UTF-8 succeeds");
    }
    piece.text = std::move(out);
    return {};
  }
};

class Prepend final : public Normalizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    auto text = members_of(json, "normalizer", where).text("prepend");
    if (!text) return tl::unexpected(text.error());
    auto normalizer = std::make_unique<Prepend>();
    normalizer->text_ = std::move(*text);
    return normalizer;
  }
  Expected<void> normalize(Piece& piece) const override {
    if (!piece.text.empty()) piece.text.insert(0, text_);
    return {};
  }

 private:
  std::string text_;
};

class Replace final : public Normalizer {
 public:
  Replace(Regex regex, std::string content, std::string place)
      : regex_(std::move(regex)), content_(std::move(content)), place_(std::move(place)) {}

  static Made make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "normalizer", where);
    auto regex = Regex::of_pattern(json.find("pattern"), members.place());
    if (!regex) return tl::unexpected(regex.error());
    auto content = members.text("content");
    if (!content) return tl::unexpected(content.error());
    return std::make_unique<Replace>(std::move(*regex), std::move(*content), members.place());
  }
  /// Marks go.
  static Made make_strip_accents(const Json&, const std::string& where) {
    auto regex = Regex::compile("\\p{M}", Regex::Syntax::Regex, where);
    if (!regex) return tl::unexpected(regex.error());
    return std::make_unique<Replace>(std::move(*regex), "", where);
  }

  Expected<void> normalize(Piece& piece) const override {
    const auto matches = regex_.find_all(piece.text);
    if (!matches) return tl::unexpected(matches.error());
    std::string out;
    size_t at = 0;
    for (const auto& [begin, end] : *matches) {
      out.append(piece.text, at, begin - at).append(content_);
      at = end;
      if (begin == 0 && end > 0 && content_.empty()) piece.at_start = false;
    }
    piece.text = out.append(piece.text, at);
    if (piece.text.size() > kMaxTextBytes)
      return fail(fmt::format("{}: the text grows beyond {} bytes", place_, kMaxTextBytes));
    return {};
  }

 private:
  Regex regex_;
  std::string content_;
  std::string place_;
};

class Strip final : public Normalizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "normalizer", where);
    const auto left = members.flag("strip_left");
    if (!left) return tl::unexpected(left.error());
    const auto right = members.flag("strip_right");
    if (!right) return tl::unexpected(right.error());
    auto normalizer = std::make_unique<Strip>();
    normalizer->left_ = *left;
    normalizer->right_ = *right;
    return normalizer;
  }
  Expected<void> normalize(Piece& piece) const override {
    std::string_view text = piece.text;
    while (right_ && !text.empty() && is_white_space(last_character(text)))
      text.remove_suffix(last_character(text).size());
    const size_t all = text.size();
    while (left_ && !text.empty() && is_white_space(first_character(text)))
      text.remove_prefix(first_character(text).size());
    if (text.size() < all) piece.at_start = false;
    piece.text = std::string(text);
    return {};
  }

 private:
  bool left_ = false;
  bool right_ = false;
};

class ByteLevel final : public Normalizer {
 public:
  static Made make(const Json&, const std::string&) { return std::make_unique<ByteLevel>(); }
  Expected<void> normalize(Piece& piece) const override {
    piece.text = to_byte_characters(piece.text);
    return {};
  }
};

class Sequence final : public Normalizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    const auto list = members_of(json, "normalizer", where).list("normalizers");
    if (!list) return tl::unexpected(list.error());
    auto sequence = std::make_unique<Sequence>();
    for (const Json& element : **list) {
      auto member = make_normalizer(&element, where);
      if (!member) return member;
      if (!*member) return fail(fmt::format("`{}`: normalizer Sequence: a member is null", where));
      sequence->members_.push_back(std::move(*member));
    }
    return sequence;
  }
  Expected<void> normalize(Piece& piece) const override {
    for (const auto& member : members_)
      if (auto done = member->normalize(piece); !done) return done;
    return {};
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> members_;
};

const Kind<Normalizer> kNormalizers[] = {
    {"NFC", UnicodeForm<nfc>::make},
    {"NFD", UnicodeForm<nfd>::make},
    {"NFKC", UnicodeForm<nfkc>::make},
    {"NFKD", UnicodeForm<nfkd>::make},
    {"Lowercase", Lowercase::make},
    {"Prepend", Prepend::make, {"prepend"}},
    {"Replace", Replace::make, {"pattern", "content"}},
    {"Strip", Strip::make, {"strip_left", "strip_right"}},
    {"StripAccents", Replace::make_strip_accents},
    {"ByteLevel", ByteLevel::make},
    {"Sequence", Sequence::make, {"normalizers"}},
};

}  // namespace

Expected<std::unique_ptr<Normalizer>> make_normalizer(const Json* json, const std::string& where) {
  return make_of_kind<Normalizer>(json, "normalizer", where, kNormalizers);
}

}  // namespace skdsl::model
