// support — temporary folders, crafted safetensors files and hand-made programs for the tests of this folder
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/plan/program.h"

namespace skdsl::test {

namespace fs = std::filesystem;

/// A folder that goes away with the test.
class TempDir {
 public:
  TempDir() {
    static std::atomic<int> counter{0};
    path_ = fs::temp_directory_path() /
            ("skdsl_model_test_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
    fs::create_directories(path_);
  }
  ~TempDir() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  const fs::path& path() const { return path_; }
  fs::path write(const std::string& name, std::string_view bytes) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }
  /// Names of what lies in the folder, sorted, hidden files included.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path_)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  fs::path path_;
};

inline fs::path source_dir() { return SKDSL_SOURCE_DIR; }
inline fs::path golden(const std::string& name) { return source_dir() / "tests/models/golden" / name; }
inline fs::path adder() { return source_dir() / "examples/longcat-adder"; }

/// Eight bytes of header length, a header, data.
inline std::string safetensors(const std::string& header, const std::string& data, uint64_t length_lie = 0) {
  std::string out;
  const uint64_t length = length_lie ? length_lie : header.size();
  for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i) & 0xff);
  return out + header + data;
}

/// The little-endian bytes of values.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// A whole error as a user reads it.
inline std::string text_of(const Error& error) {
  std::string out = error.message;
  for (const std::string& note : error.notes) out += "\n" + note;
  return out;
}

template <class T>
std::string error_text(const Expected<T>& result) {
  return result ? "(no error)" : text_of(result.error());
}

/// Whether an error's text has a part.
inline testing::AssertionResult says(const std::string& seen, const std::string& part) {
  if (seen.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "expected \"" << part << "\" in the error: " << seen;
}
#define EXPECT_ERROR(result, part) EXPECT_TRUE(::skdsl::test::says(::skdsl::test::error_text(result), part))

/// What ASSERT_TRUE cannot say about an Expected.
#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << ::skdsl::test::error_text(result)
#define EXPECT_OK(result) EXPECT_TRUE((result).has_value()) << ::skdsl::test::error_text(result)

/// A declaration: one row of sources, not stacked unless said.
inline plan::WeightDecl weight(std::string path, plan::DType dtype, const std::vector<int64_t>& shape,
                               std::vector<std::vector<std::string>> sources, bool stacked = false) {
  plan::WeightDecl decl;
  decl.path = std::move(path);
  decl.type.dtype = dtype;
  for (const int64_t d : shape) decl.type.dims.emplace_back(d);
  decl.sources = std::move(sources);
  decl.stacked = stacked;
  return decl;
}

}  // namespace skdsl::test
