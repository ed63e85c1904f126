// pre_tokenizers — how a text is cut into the pieces that the model looks at
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/model/byte_level.h"
#include "runtime/model/component_kinds.h"
#include "runtime/model/metaspace.h"
#include "runtime/model/regex.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace {

using Made = Expected<std::unique_ptr<PreTokenizer>>;
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

/// The behaviour that a component names; absent is `fallback`, which may be null: then it must be there.
Expected<Behavior> behavior_of(const Json& json, const std::string& place, Behavior fallback = nullptr) {
  const Json* name = json.find("behavior");
  if (!name && fallback) return fallback;
  std::string names;
  for (const BehaviorRow& row : kBehaviors) {
    if (name && name->is_string() && row.name == name->as_string()) return row.behavior;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  return fail(
      fmt::format("{}: behavior {} is not one of {}", place, name ? to_json(*name) : "(missing)", names));
}

/// The pieces of a text around its matches. Only the first can begin where the text does.
void cut(const Piece& piece, const std::vector<Range>& matches, Behavior behavior, bool invert,
         std::vector<Piece>& out) {
  const std::string& text = piece.text;
  std::vector<Part> parts;
  size_t at = 0;
  for (const Range& match : matches) {
    if (match.first > at) parts.push_back({{at, match.first}, invert});
    parts.push_back({match, !invert});
    at = match.second;
  }
  if (at < text.size()) parts.push_back({{at, text.size()}, invert});
  for (const auto& [begin, end] : behavior(parts))
    if (begin < end) out.push_back({text.substr(begin, end - begin), piece.at_start && begin == 0});
}

class Split final : public PreTokenizer {
 public:
  Split(Regex regex, Behavior behavior, bool invert)
      : regex_(std::move(regex)), behavior_(behavior), invert_(invert) {}

  static Made make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "pre_tokenizer", where);
    const auto invert = members.flag("invert");
    if (!invert) return tl::unexpected(invert.error());
    const auto behavior = behavior_of(json, members.place());
    if (!behavior) return tl::unexpected(behavior.error());
    auto regex = Regex::of_pattern(json.find("pattern"), members.place());
    if (!regex) return tl::unexpected(regex.error());
    return std::make_unique<Split>(std::move(*regex), *behavior, *invert);
  }
  /// One of our own patterns.
  static Made make_fixed(const std::string& pattern, Behavior behavior, bool invert,
                         const std::string& where) {
    auto regex = Regex::compile(pattern, Regex::Syntax::Regex, where);
    if (!regex) return tl::unexpected(regex.error());
    return std::make_unique<Split>(std::move(*regex), behavior, invert);
  }

  Expected<void> split(Piece piece, std::vector<Piece>& out) const override {
    const auto matches = regex_.find_all(piece.text);
    if (!matches) return tl::unexpected(matches.error());
    cut(piece, *matches, behavior_, invert_, out);
    return {};
  }

 private:
  Regex regex_;
  Behavior behavior_;
  bool invert_;
};

/// Words and runs of other characters; white space goes.
Made make_whitespace(const Json&, const std::string& where) {
  return Split::make_fixed(R"(\w+|[^\w\s]+)", removed, true, where);
}

/// What stands between white space.
Made make_whitespace_split(const Json&, const std::string& where) {
  return Split::make_fixed(R"(\s)", removed, false, where);
}

/// Numbers apart from the rest, whole or digit by digit.
Made make_digits(const Json& json, const std::string& where) {
  const auto individual = members_of(json, "pre_tokenizer", where).flag("individual_digits");
  if (!individual) return tl::unexpected(individual.error());
  return Split::make_fixed(R"(\p{N})", *individual ? isolated : contiguous, false, where);
}

/// Punctuation, and what ASCII has of symbols, apart from the rest.
Made make_punctuation(const Json& json, const std::string& where) {
  const auto behavior = behavior_of(json, members_of(json, "pre_tokenizer", where).place(), isolated);
  if (!behavior) return tl::unexpected(behavior.error());
  return Split::make_fixed(R"([\p{P}$+<=>^`|~])", *behavior, false, where);
}

/// Bytes as printable characters, cut by GPT-2's pattern unless `use_regex` is false.
class ByteLevel final : public PreTokenizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "pre_tokenizer", where);
    const auto prefix = members.flag("add_prefix_space", true);
    if (!prefix) return tl::unexpected(prefix.error());
    const auto trim = members.flag("trim_offsets", true);  // of no effect on ids
    if (!trim) return tl::unexpected(trim.error());
    const auto use_regex = members.flag("use_regex", true);
    if (!use_regex) return tl::unexpected(use_regex.error());
    auto made = std::make_unique<ByteLevel>();
    made->prefix_ = *prefix;
    if (*use_regex) {
      auto split = Split::make_fixed(std::string(kByteLevelPattern), isolated, false, where);
      if (!split) return split;
      made->split_ = std::move(*split);
    }
    return made;
  }

  Expected<void> split(Piece piece, std::vector<Piece>& out) const override {
    if (prefix_ && !piece.text.starts_with(' ')) piece.text.insert(0, 1, ' ');
    const size_t begin = out.size();
    if (!split_) {
      out.push_back(std::move(piece));
    } else if (auto done = split_->split(std::move(piece), out); !done) {
      return done;
    }
    for (size_t i = begin; i < out.size(); ++i) out[i].text = to_byte_characters(out[i].text);
    return {};
  }

 private:
  bool prefix_ = true;
  std::unique_ptr<PreTokenizer> split_;
};

/// Blanks become a visible character, which begins each word.
class Metaspace final : public PreTokenizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    const Members members = members_of(json, "pre_tokenizer", where);
    auto space = read_metaspace(members);
    if (!space) return tl::unexpected(space.error());
    const auto split = members.flag("split", true);
    if (!split) return tl::unexpected(split.error());
    auto made = std::make_unique<Metaspace>();
    made->space_ = std::move(*space);
    made->split_ = *split;
    return made;
  }

  Expected<void> split(Piece piece, std::vector<Piece>& out) const override {
    const std::string& mark = space_.replacement;
    std::string text;
    for (const char c : piece.text) c == ' ' ? text += mark : text += c;
    const bool wanted =
        space_.scheme == PrependScheme::Always || (space_.scheme == PrependScheme::First && piece.at_start);
    if (wanted && !text.starts_with(mark)) text.insert(0, mark);
    piece.text = std::move(text);
    if (!split_) {
      out.push_back(std::move(piece));
      return {};
    }
    std::vector<Range> matches;
    for (size_t at = piece.text.find(mark); at != std::string::npos;
         at = piece.text.find(mark, at + mark.size()))
      matches.emplace_back(at, at + mark.size());
    cut(piece, matches, merged_with_next, false, out);
    return {};
  }

 private:
  MetaspaceSettings space_;
  bool split_ = true;
};

/// One pre-tokenizer after the other, each on the pieces of the one before.
class Sequence final : public PreTokenizer {
 public:
  static Made make(const Json& json, const std::string& where) {
    const auto list = members_of(json, "pre_tokenizer", where).list("pretokenizers");
    if (!list) return tl::unexpected(list.error());
    auto sequence = std::make_unique<Sequence>();
    for (const Json& element : **list) {
      auto member = make_pre_tokenizer(&element, where);
      if (!member) return member;
      if (!*member) return fail(fmt::format("`{}`: pre_tokenizer Sequence: a member is null", where));
      sequence->members_.push_back(std::move(*member));
    }
    return sequence;
  }

  Expected<void> split(Piece piece, std::vector<Piece>& out) const override {
    std::vector<Piece> pieces;
    pieces.push_back(std::move(piece));
    for (const auto& member : members_) {
      std::vector<Piece> finer;
      for (Piece& coarse : pieces)
        if (auto done = member->split(std::move(coarse), finer); !done) return done;
      pieces = std::move(finer);
    }
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
    return {};
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> members_;
};

const Kind<PreTokenizer> kPreTokenizers[] = {
    {"ByteLevel", ByteLevel::make, {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"Digits", make_digits, {"individual_digits"}},
    {"Metaspace", Metaspace::make, kMetaspaceMembers},
    {"Punctuation", make_punctuation, {"behavior"}},
    {"Sequence", Sequence::make, {"pretokenizers"}},
    {"Split", Split::make, {"pattern", "behavior", "invert"}},
    {"Whitespace", make_whitespace},
    {"WhitespaceSplit", make_whitespace_split},
};

}  // namespace

Expected<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json* json, const std::string& where) {
  return make_of_kind<PreTokenizer>(json, "pre_tokenizer", where, kPreTokenizers);
}

}  // namespace skdsl::model
