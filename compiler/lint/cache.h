// cache — results of linting by content
//
// An entry is found by the file's name and bytes, the options and the program that linted it; it says what
// else the result depends on (imports, config.json), and counts only while all of that is the same. A damaged
// entry is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/lint/lint.h"

namespace skdsl::lint {

class Cache {
 public:
  /// `folder` may be "": no cache. `salt` names everything besides file and settings that decides a result.
  Cache(std::string folder, std::string salt) : folder_(std::move(folder)), salt_(std::move(salt)) {}

  /// XDG_CACHE_HOME/skdsl/lint, else below HOME; "" without both.
  static std::string default_folder();

  /// The result for a file that is in `sources`; files that findings point to are read into it.
  std::optional<Result> find(uint32_t file, source::Sources& sources) const;
  /// Keeps a result. A folder that cannot be written keeps nothing.
  void keep(uint32_t file, const source::Sources& sources, const Result& result) const;

 private:
  std::string entry(uint32_t file, const source::Sources& sources) const;
  std::string folder_, salt_;
};

}  // namespace skdsl::lint
