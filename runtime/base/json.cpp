#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "runtime/base/assert.h"
#include "runtime/base/utf8.h"

namespace skdsl {

bool Json::as_bool() const {
  SK_ASSERT(is_bool(), "the kind is asked before the value");
  return std::get<bool>(value);
}
int64_t Json::as_int() const {
  SK_ASSERT(is_int(), "the kind is asked before the value");
  return std::get<int64_t>(value);
}
double Json::as_double() const {
  SK_ASSERT(is_number(), "the kind is asked before the value");
  return is_int() ? static_cast<double>(std::get<int64_t>(value)) : std::get<double>(value);
}
const std::string& Json::as_string() const {
  SK_ASSERT(is_string(), "the kind is asked before the value");
  return std::get<std::string>(value);
}
const Json::Array& Json::as_array() const {
  SK_ASSERT(is_array(), "the kind is asked before the value");
  return std::get<Array>(value);
}
const Json::Object& Json::as_object() const {
  SK_ASSERT(is_object(), "the kind is asked before the value");
  return std::get<Object>(value);
}
Json::Array& Json::as_array() { return const_cast<Array&>(std::as_const(*this).as_array()); }
Json::Object& Json::as_object() { return const_cast<Object&>(std::as_const(*this).as_object()); }

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const auto& [name, member] : std::get<Object>(value))
    if (name == key) return &member;
  return nullptr;
}

void Json::set(std::string_view key, Json new_value) {
  if (is_null()) value = Object{};
  for (auto& [name, member] : as_object())
    if (name == key) {
      member = std::move(new_value);
      return;
    }
  as_object().emplace_back(std::string(key), std::move(new_value));
}

void Json::push(Json new_value) {
  if (is_null()) value = Array{};
  as_array().push_back(std::move(new_value));
}

std::string_view Json::kind() const {
  static constexpr std::string_view kKinds[] = {"null",     "a boolean", "an integer", "a number",
                                                "a string", "a list",    "an object"};
  return kKinds[value.index()];
}

namespace {

/// Walks the text and tells the handler how far the lexer has read.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char* at = nullptr;
  const char** read = nullptr;
  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    *read = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at == b.at; }
};

/// Builds the value from parser events; nesting is kept on our own stack.
class Builder {
 public:
  explicit Builder(const char* const* read) : begin_(*read), read_(read) {}

  bool null() { return add(nullptr); }
  bool boolean(bool b) { return add(b); }
  bool number_integer(int64_t i) { return add(i); }
  bool number_unsigned(uint64_t u) {
    if (u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return add(static_cast<double>(u));
    return add(static_cast<int64_t>(u));
  }
  bool number_float(double d, const std::string&) { return add(d); }
  bool string(std::string& s) { return add(std::move(s)); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return open(Json::Object{}); }
  bool start_array(size_t) { return open(Json::Array{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Frame& frame = stack_.back();
    if (!frame.keys.insert(name).second) {
      error = fmt::format("duplicate key `{}`; each key may stand once", shortened(name));
      error_position = static_cast<size_t>(*read_ - begin_);  // the closing quote
      return false;
    }
    frame.key = std::move(name);
    return true;
  }

  template <class Exception>
  bool parse_error(size_t position, const std::string&, const Exception& e) {
    // "[json.exception.…] parse error at line 1, column 2: what": the place is ours to say.
    std::string_view what = e.what();
    if (const size_t at = what.find("column "); at != what.npos)
      if (const size_t colon = what.find(": ", at); colon != what.npos) what.remove_prefix(colon + 2);
    if (what.starts_with("[")) what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    error = shortened(what);
    // Behind a number, the lexer itself has read one character more than it counts.
    error_position = position;
    return false;
  }

  Json root;
  std::string error;
  size_t error_position = 0;  // characters read, the offending one included

 private:
  struct Frame {
    Json json;
    std::string key;                       // objects: of the member being read
    std::unordered_set<std::string> keys;  // objects: seen so far
  };

  static std::string shortened(std::string_view text) {
    constexpr size_t kMost = 200;
    if (text.size() <= kMost) return std::string(text);
    return std::string(text.substr(0, utf8_floor(text, kMost))) + "…";
  }

  bool add(Json json) {
    if (stack_.empty()) {
      root = std::move(json);
    } else if (Frame& top = stack_.back(); top.json.is_array()) {
      top.json.as_array().push_back(std::move(json));
    } else {
      top.json.as_object().emplace_back(std::move(top.key), std::move(json));
    }
    return true;
  }
  bool open(Json json) {
    if (stack_.size() >= kMaxJsonDepth) {
      error = fmt::format("more than {} levels of lists and objects", kMaxJsonDepth);
      error_position = static_cast<size_t>(*read_ - begin_);
      return false;
    }
    stack_.push_back({std::move(json), {}, {}});
    return true;
  }
  bool close() {
    Json done = std::move(stack_.back().json);
    stack_.pop_back();
    return add(std::move(done));
  }

  const char* begin_;
  const char* const* read_;  // how far the lexer has read
  std::vector<Frame> stack_;
};

void write_double(std::string& out, double d, int digits) {
  if (!std::isfinite(d)) {
    out += "null";
    return;
  }
  const size_t begin = out.size();
  if (digits > 0) {
    fmt::format_to(std::back_inserter(out), "{:.{}g}", d, digits);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", d);
  }
  // A whole double stays a double for the reader.
  if (out.find_first_of(".e", begin) == out.npos) out += ".0";
}

void write_string(std::string& out, const std::string& s) {
  using Library = nlohmann::json;
  out += Library(s).dump(-1, ' ', false, Library::error_handler_t::replace);
}

class Writer {
 public:
  Writer(int indent, int digits) : indent_(indent), digits_(digits) {}

  void write(const Json& json) {
    if (json.is_null()) out_ += "null";
    if (json.is_bool()) out_ += json.as_bool() ? "true" : "false";
    if (json.is_int()) fmt::format_to(std::back_inserter(out_), "{}", json.as_int());
    if (json.is_double()) write_double(out_, json.as_double(), digits_);
    if (json.is_string()) write_string(out_, json.as_string());
    if (json.is_array()) {
      list('[', ']', json.as_array(), [&](const Json& element) { write(element); });
    }
    if (json.is_object()) {
      list('{', '}', json.as_object(), [&](const auto& member) {
        write_string(out_, member.first);
        out_ += indent_ > 0 ? ": " : ":";
        write(member.second);
      });
    }
  }
  std::string take() { return std::move(out_); }

 private:
  template <class List, class Write>
  void list(char open, char close, const List& items, Write&& write_item) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      line();
      write_item(item);
    }
    --depth_;
    if (!items.empty()) line();
    out_ += close;
  }
  void line() {
    if (indent_ <= 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_) * depth_, ' ');
  }

  int indent_;
  int digits_;
  size_t depth_ = 0;
  std::string out_;
};

}  // namespace

Expected<Json> parse_json(std::string_view text, const std::string& where) {
  const char* read = text.data();
  Builder builder(&read);
  const CountingIterator first{text.data(), &read};
  const CountingIterator last{text.data() + text.size(), &read};
  if (nlohmann::json::sax_parse(first, last, &builder)) return std::move(builder.root);

  // At the end of the text the position lies behind it.
  const std::string_view before = text.substr(0, std::min(builder.error_position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1);
  return fail(fmt::format("{}:{}:{}: {}", where, line, std::max<size_t>(column, 1), builder.error));
}

std::string to_json(const Json& json, int indent, int significant_digits) {
  Writer writer(indent, significant_digits);
  writer.write(json);
  return writer.take();
}

}  // namespace skdsl
