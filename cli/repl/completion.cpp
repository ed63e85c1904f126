#include "cli/repl/completion.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/repl/input.h"
#include "compiler/superkernel/options.h"
#include "stdlib/op_info.h"

namespace skdsl::cli::repl {

namespace fs = std::filesystem;

namespace {

using Words = std::set<std::string>;

void add_files(const std::string& start, Words& out) {
  const size_t slash = start.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : start.substr(0, slash + 1);
  std::error_code trouble;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, trouble)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with(".")) continue;
    if (entry.is_directory(ignored))
      out.insert(folder + name + "/");
    else if (name.ends_with(".sk"))
      out.insert(folder + name);
  }
}

void add_all(const std::vector<std::string>& words, Words& out) { out.insert(words.begin(), words.end()); }

/// What a word of a command's arguments stands for.
void offer(const Repl& repl, const std::string& word, const std::string& start, Words& out) {
  if (word == "SCOPE")
    add_all(repl.scope_names(), out);
  else if (word == "OP" || word == "WEIGHT")
    add_all(repl.op_names(), out);
  else if (word == "FILE")
    add_files(start, out);
  else if (word == "MODE")
    out.insert({"eager", "npugraph_ex", "ge_graph"});
  else if (word == "COMMAND")
    for (const ReplCommand& c : repl_commands()) out.emplace(c.name);
  else if (word == "KEY=VALUE")
    for (const std::string& k : repl.config_keys()) out.insert(k + "=");
  else if (word == "OPTION=VALUE") {
    for (size_t i = 0; i < static_cast<size_t>(superkernel::Option::kCount); ++i)
      out.insert(std::string(superkernel::row(static_cast<superkernel::Option>(i)).key) + "=");
  } else if (word == "FLAG")
    out.insert(
        {"--prompt", "--prompt-ids", "--max-new-tokens", "--modes", "--threads", "--golden", "--report"});
  else if (word == "STREAM")
    out.insert("none");
  else if (!word.empty() && std::islower(static_cast<unsigned char>(word[0])) != 0)
    out.insert(word.substr(0, word.find('=') == std::string::npos ? word.size() : word.find('=') + 1));
}

}  // namespace

std::vector<std::string> completions(const Repl& repl, const std::string& before) {
  Words words;
  const size_t first = before.find_first_not_of(" \t\n");
  std::string start;
  if (first != std::string::npos && before[first] == ':') {
    const std::string line = before.substr(first);
    const size_t blank = line.find_last_of(" \t");
    start = blank == std::string::npos ? line : line.substr(blank + 1);
    if (blank == std::string::npos) {
      for (const ReplCommand& c : repl_commands()) words.insert(":" + std::string(c.name));
    } else if (const ReplCommand* c = find_command(line.substr(1, line.find_first_of(" \t") - 1))) {
      // The word that is being typed, counted behind the command's name.
      size_t place = 0;
      bool in_word = true;
      for (size_t i = 0; i < line.size(); ++i) {
        const bool gap = line[i] == ' ' || line[i] == '\t';
        if (gap && in_word) ++place;
        in_word = !gap;
      }
      std::vector<std::string> expected;
      std::string word;
      for (const char ch : std::string(c->arguments) + " ") {
        if (ch == '[' || ch == ']') continue;
        if (ch != ' ')
          word += ch;
        else if (!word.empty())
          expected.push_back(std::move(word)), word.clear();
      }
      if (place >= 1 && place <= expected.size()) offer(repl, expected[place - 1], start, words);
    }
  } else {
    size_t at = before.size();
    while (at > 0 && (std::isalnum(static_cast<unsigned char>(before[at - 1])) != 0 || before[at - 1] == '_'))
      --at;
    start = before.substr(at);
    if (start.empty()) return {};
    add_all(keywords(), words);
    for (const OpInfo& op : kOps) words.emplace(op.name);
    add_all(const_cast<Repl&>(repl).statements().names(), words);
    add_all(repl.config_keys(), words);
  }
  std::vector<std::string> out;
  for (const std::string& w : words)
    if (w.starts_with(start)) out.push_back(w);
  return out;
}

}  // namespace skdsl::cli::repl
