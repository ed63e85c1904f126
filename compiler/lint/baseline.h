// baseline — findings of a project as it is, so that only new ones are told
//
// A finding is known again by its file, rule and the text of its line, so that it may move; each known one
// counts once.
#pragma once
#include <map>
#include <string>

#include "compiler/lint/format.h"

namespace skdsl::lint {

class Baseline {
 public:
  static Expected<Baseline> read(const std::string& path);
  static Baseline of(const std::vector<FileReport>& files);
  std::string text() const;

  /// Takes the known findings away; gives how many.
  size_t apply(std::vector<FileReport>& files) const;

 private:
  std::map<std::string, int64_t> counts_;  // "file\nid\nline" -> how many
};

}  // namespace skdsl::lint
