// completion — the words that may come next, from the tables and the loaded model
#pragma once
#include <string>
#include <vector>

#include "cli/repl/repl.h"

namespace skdsl::cli::repl {

/// Words that begin as the last one of `before` does; sorted.
std::vector<std::string> completions(const Repl& repl, const std::string& before);

}  // namespace skdsl::cli::repl
