// pre_tokenizers — how a text is cut into the pieces that the model looks at
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/model/component_kinds.h"
#include "runtime/model/regex.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

namespace {

/// A boolean member; absent is `false`.
Expected<bool> flag(const Json& json, std::string_view key, std::string_view stage,
                    const std::string& where) {
  const Json* member = json.find(key);
  if (!member) return false;
  if (member->is_bool()) return member->as_bool();
  return fail(fmt::format("`{}`: {}: `{}` is {}; expected true or false", where, stage, key, member->kind()));
}

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
      return fail(
          fmt::format("`{}`: pre_tokenizer Split: expected {{\"Regex\": \"…\"}} or {{\"String\": \"…\"}} as "
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

}  // namespace

Expected<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json* json, const std::string& where) {
  return make_of_kind<PreTokenizer>(json, "pre_tokenizer", where, kPreTokenizers);
}

}  // namespace skdsl::model
