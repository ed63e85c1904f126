// yaml — one YAML document as a tree that knows where each word stands
//
// yaml-cpp keeps the last of duplicate keys and forgets places, so the tree is built from its events. It also
// says "illegal map value" somewhere near a line with wrong blanks; the line itself is found by trying which
// one line, indented otherwise, makes the file whole.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/base/json.h"

namespace skdsl::config {

struct YamlEntry;

struct YamlNode {
  enum class Kind : uint8_t { Null, Scalar, Sequence, Map };
  Kind kind = Kind::Null;
  std::string text;     // of a scalar
  bool quoted = false;  // then it is text whatever it looks like
  Span span;
  std::vector<YamlNode> items;     // of a sequence
  std::vector<YamlEntry> entries;  // of a map; keys are unique

  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  YamlNode key, value;
};

/// Whether a key may stand under these keys ({} at the top); guides the search for a wrongly indented line.
using KnownPlace = std::function<bool(const std::vector<std::string>& above, const std::string& key)>;

/// Reads the document of a source; nothing when it is none, and then that is reported (SK2014, SK2015).
std::optional<YamlNode> read_yaml(uint32_t file, const KnownPlace& known, diag::Engine& diags);

/// A value by the core schema: null, booleans, integers, floats, else text.
Json to_json_value(const YamlNode& node);
/// "flow text" of --set.
Expected<Json> parse_yaml_value(const std::string& text);

/// The line (from 1) that must be indented otherwise for the text to be block maps in order, and the blanks
/// that it should have; nothing when no single line is to blame.
std::optional<std::pair<size_t, size_t>> misindented_line(std::string_view text, const KnownPlace& known);

}  // namespace skdsl::config
