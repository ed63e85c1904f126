// added_tokens — tokens that are found in the text before anything else looks at it
//
// Two rounds: tokens that are not `normalized` are looked for in the text as it came, the others, themselves
// normalized, in the normalized text between them. The leftmost match wins, the longest among equals.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // not beside a word character
  bool lstrip = false;       // takes the white space on its left
  bool rstrip = false;
  bool normalized = false;  // looked for in the normalized text
  bool special = false;     // left out of decoded text when asked
};

/// One element of `added_tokens`; `where` names the file.
Expected<AddedToken> read_added_token(const Json& json, const std::string& where);

/// A stretch of the text: an added token, or text between them.
struct Stretch {
  std::string_view text;
  const AddedToken* token = nullptr;
};

/// The added tokens of one round.
class TokenFinder {
 public:
  /// Looks for `content` and calls it `token`, which must outlive the finder. An empty content is never
  /// found.
  void add(std::string content, const AddedToken& token);
  /// Appends the stretches of `text`, in order.
  void cut(std::string_view text, std::vector<Stretch>& out) const;

 private:
  struct Row {
    std::string content;
    const AddedToken* token;
  };
  const Row* longest(std::string_view text) const;
  std::array<std::vector<Row>, 256> by_byte_;  // by the first byte, the longest first
};

}  // namespace skdsl::model
