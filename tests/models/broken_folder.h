// broken_folder — a copy of a golden folder that a test may spoil
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {

class BrokenFolder {
 public:
  explicit BrokenFolder(const std::string& golden) : path_(folder_ / golden) {
    std::filesystem::copy(source_path("tests/models/golden/" + golden), path_);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::string read(const std::string& name) const {
    auto text = read_file(*this / name);
    EXPECT_TRUE(text.has_value()) << name;
    return text ? *text : "";
  }
  void write(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(write_file_atomically(*this / name, bytes).has_value()) << name;
  }
  void remove(const std::string& name) const { std::filesystem::remove(*this / name); }

  void edit_json(const std::string& name, const std::function<void(Json&)>& edit) const {
    auto json = parse_json(read(name), name);
    ASSERT_TRUE(json.has_value()) << name;
    edit(*json);
    write(name, to_json(*json, 1));
  }
  /// Gives header and data of a .safetensors file and writes what becomes of them.
  void edit_weights(const std::string& name, const std::function<void(Json&, std::string&)>& edit) const {
    const std::string bytes = read(name);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    auto header = parse_json(std::string_view(bytes).substr(8, length), name);
    ASSERT_TRUE(header.has_value()) << name;
    std::string data = bytes.substr(8 + length);
    edit(*header, data);
    const std::string text = to_json(*header);
    length = text.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, sizeof length);
    write(name, out + text + data);
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

/// The entry of a tensor in a header.
inline Json& entry(Json& header, const std::string& tensor) {
  for (auto& [name, value] : header.as_object())
    if (name == tensor) return value;
  ADD_FAILURE() << "no tensor " << tensor;
  return header;
}

/// Removes a key; whether it was there.
inline bool erase(Json& object, const std::string& key) {
  return std::erase_if(object.as_object(), [&](const auto& item) { return item.first == key; }) > 0;
}

}  // namespace skdsl::testing
