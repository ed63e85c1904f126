// object_cache — compiled objects on disk
//
// A file holds its whole key and a checksum over all of it, so whatever is not exactly what was written for
// that key is found out and compiled again. Files appear complete, by renaming; any number of processes may
// share the folder.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/load/linked.h"

namespace skdsl::jit {

/// What an object depends on, by name: "kind", "name", "plan", "options", "target", "llvm", "skdsl", …
using CacheKey = std::vector<std::pair<std::string, std::string>>;
/// The parts of a key that belong to the machine and to the build.
bool of_build(const std::string& name);

class ObjectCache {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{256} << 20;

  /// XDG_CACHE_HOME/skdsl/objects, else HOME/.cache/skdsl/objects; the limit is SKDSL_OBJECT_CACHE_BYTES or
  /// 256 MiB, and 0 turns the cache off. Without a home there is none.
  static ObjectCache standard();
  explicit ObjectCache(std::filesystem::path folder, uint64_t limit = kDefaultLimit)
      : folder_(std::move(folder)), limit_(limit) {}

  bool on() const { return !folder_.empty() && limit_ > 0; }
  const std::filesystem::path& folder() const { return folder_; }
  uint64_t limit() const { return limit_; }

  /// The object of that key; `trouble` says what was wrong with a file that is not used.
  std::optional<Object> get(const CacheKey& key, std::string& trouble) const;
  /// Keeps an object and removes the least recently used ones above the limit. Gives what went wrong, "" when
  /// nothing did.
  std::string put(const CacheKey& key, const Object& object) const;

  /// Whether there is any object whose key has these parts of machine and build.
  bool holds_build(const CacheKey& key) const;

  struct Entry {
    std::filesystem::path file;
    uint64_t bytes = 0;
    std::filesystem::file_time_type used;
    CacheKey key;       // empty when the file is damaged
    std::string wrong;  // what is
  };
  /// By last use, the latest first.
  std::vector<Entry> entries() const;
  /// Removes all; how many files and bytes.
  std::pair<size_t, uint64_t> clear() const;

 private:
  std::filesystem::path file_of(const CacheKey& key) const;
  void evict() const;

  std::filesystem::path folder_;
  uint64_t limit_ = kDefaultLimit;
};

}  // namespace skdsl::jit
