// overlay — a text that stands for a file while somebody edits it
#pragma once
#include <string>

namespace skdsl::source {

/// While it lives, `Sources::read` of this path gives this text instead of what is on disk. One for each
/// path.
class Overlay {
 public:
  Overlay(std::string path, std::string text);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

 private:
  std::string path_;
};

}  // namespace skdsl::source
