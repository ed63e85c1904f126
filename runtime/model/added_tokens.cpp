#include "runtime/model/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/utf8.h"
#include "runtime/model/regex.h"
#include "runtime/model/tokenizer_components.h"

namespace skdsl::model {

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
  for (const auto& [key, member] : json.as_object()) {
    if (key == "id" || key == "content") continue;
    const auto row = std::find_if(std::begin(flags), std::end(flags),
                                  [&key = key](const auto& flag) { return flag.first == key; });
    if (row == std::end(flags)) {
      return fail(fmt::format(
          "`{}`: added_tokens: `{}` (here {}) of `{}` is not supported; supported: id, content, single_word, "
          "lstrip, rstrip, normalized, special",
          where, key, to_json(member).substr(0, 80), token.content));
    }
    if (!member.is_bool()) {
      return fail(fmt::format("`{}`: added_tokens: `{}` of `{}` is {}; expected true or false", where, key,
                              token.content, member.kind()));
    }
    *row->second = member.as_bool();
  }
  return token;
}

void TokenFinder::add(std::string content, const AddedToken& token) {
  if (content.empty()) return;
  auto& rows = by_byte_[static_cast<uint8_t>(content[0])];
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const Row& row) { return row.content.size() < content.size(); });
  rows.insert(at, {std::move(content), &token});
}

void TokenFinder::cut(std::string_view text, std::vector<Stretch>& out) const {
  size_t done = 0;  // everything before is in `out`
  for (size_t at = 0; at < text.size();) {
    const Row* row = longest(text.substr(at));
    if (!row) {
      ++at;
      continue;
    }
    const AddedToken* token = row->token;
    size_t begin = at;
    size_t end = at + row->content.size();
    // The search goes on behind the match, whatever white space the token takes.
    at = end;
    const bool left_word = begin > 0 && is_word_character(last_character(text.substr(0, begin)));
    const bool right_word = end < text.size() && is_word_character(first_character(text.substr(end)));
    if (token->single_word && (left_word || right_word)) continue;
    while (token->lstrip && begin > 0 && is_white_space(last_character(text.substr(0, begin))))
      begin -= last_character(text.substr(0, begin)).size();
    if (token->lstrip) begin = std::max(begin, done);
    while (token->rstrip && end < text.size() && is_white_space(first_character(text.substr(end))))
      end += first_character(text.substr(end)).size();
    if (begin > done) out.push_back({text.substr(done, begin - done)});
    out.push_back({text.substr(std::min(begin, end), end - std::min(begin, end)), token});
    done = end;
  }
  if (done < text.size()) out.push_back({text.substr(done)});
}

const TokenFinder::Row* TokenFinder::longest(std::string_view text) const {
  for (const Row& row : by_byte_[static_cast<uint8_t>(text[0])])
    if (text.starts_with(row.content)) return &row;
  return nullptr;
}

}  // namespace skdsl::model
