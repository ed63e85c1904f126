// json — a small JSON value, read strictly and written plainly
//
// Reading keeps the order of keys, refuses duplicate keys and deep nesting, and says line and column of what
// is wrong. The parser library is seen by json.cpp alone.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl {

/// Arrays and objects nest at most this deep, when read.
inline constexpr int kMaxJsonDepth = 128;

struct Json {
  using Array = std::vector<Json>;
  using Object =
      std::vector<std::pair<std::string, Json>>;  // in the order of the text; keys are unique when read
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object>;

  Value value = nullptr;

  Json() = default;
  Json(std::nullptr_t) {}          // NOLINT: a value is a Json
  template <std::same_as<bool> T>  // so that no pointer becomes a bool
  Json(T b) : value(b) {}          // NOLINT
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T i) : value(static_cast<int64_t>(i)) {}        // NOLINT
  Json(double d) : value(d) {}                         // NOLINT
  Json(std::string s) : value(std::move(s)) {}         // NOLINT
  Json(std::string_view s) : value(std::string(s)) {}  // NOLINT
  Json(const char* s) : value(std::string(s)) {}       // NOLINT
  Json(Array a) : value(std::move(a)) {}               // NOLINT
  Json(Object o) : value(std::move(o)) {}              // NOLINT

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  bool is_bool() const { return std::holds_alternative<bool>(value); }
  bool is_int() const { return std::holds_alternative<int64_t>(value); }
  bool is_double() const { return std::holds_alternative<double>(value); }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(value); }
  bool is_array() const { return std::holds_alternative<Array>(value); }
  bool is_object() const { return std::holds_alternative<Object>(value); }

  /// The value of that kind; asking for another kind is our bug, so ask `is_…` first.
  bool as_bool() const;
  int64_t as_int() const;
  double as_double() const;  // integers too
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;
  Array& as_array();
  Object& as_object();

  /// The value under a key; null when there is none or when this is no object.
  const Json* find(std::string_view key) const;
  /// Replaces or appends a key; a null value becomes an object first.
  void set(std::string_view key, Json new_value);
  /// Appends to an array; a null value becomes an array first.
  void push(Json new_value);

  /// "null", "a boolean", "an integer", "a number", "a string", "a list", "an object": for messages.
  std::string_view kind() const;

  friend bool operator==(const Json&, const Json&) = default;
};

/// Reads one JSON document; `where` is the file's name in messages ("where:line:column: …"). Integers outside
/// int64 become doubles.
Expected<Json> parse_json(std::string_view text, const std::string& where);

/// The text of a value: on one line, or with `indent` blanks per level. Doubles are written with
/// `significant_digits`, or with as many as it takes to read the same double back (0). What JSON cannot say
/// (NaN, infinity) is null; bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Json& json, int indent = 0, int significant_digits = 0);

}  // namespace skdsl
