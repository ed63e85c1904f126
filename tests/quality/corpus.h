// corpus — the programs that mistakes are made in, and how each is compiled
//
// Examples and golden programs are texts with their settings. A file of the standard library is compiled
// through an example that reaches it by its imports: the example's folder holds a copy of it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/sema/elaborate.h"

namespace skdsl::quality {

struct Program {
  std::string name;       // for people: "std/mlp.sk of longcat.sk"
  std::string main_path;  // beside it stand the files that take the place of shipped ones
  std::string main;       // the text of the main file
  std::string file;       // path of the file with mistakes; main_path or one on disk
  std::string text;       // its right text
  sema::Options options;
};

struct Corpus {
  std::vector<Program> examples;
  std::vector<std::vector<Program>> library;  // of each file of the library, the ways to it
  std::vector<Program> goldens;
};

/// Reads everything; `folder` holds what has to be on disk. Programs that have errors already are left out.
Corpus read_corpus(const std::string& folder);

/// A program with `text` in place of its file.
struct Checked {
  source::Sources sources;
  diag::Engine diags{sources};
  uint32_t file = 0;  // of the text, 0 when it was not read
};
std::unique_ptr<Checked> check(const Program& program, const std::string& text);

}  // namespace skdsl::quality
