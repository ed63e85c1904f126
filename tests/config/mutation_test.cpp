// One edit in a working run config, at random: what it breaks is reported on the line of the edit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/config/yaml.h"
#include "runtime/base/file.h"
#include "tests/config/checked.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;
using config::KeyType;
using config::RunKey;

struct Line {
  std::string text;
  size_t indent = 0;
  std::string section, key;  // the key with its way below the section; "" for a section's own line
  std::string word;          // the key as it stands here
  const RunKey* row = nullptr;
  bool blank = false;
};

/// Lines of a config in block style, with what each says.
std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> out;
  std::vector<std::pair<size_t, std::string>> above;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    Line line{text.substr(at, end - at)};
    at = end + 1;
    line.indent = line.text.find_first_not_of(' ');
    line.blank = line.indent == std::string::npos || line.text[line.indent] == '#';
    if (!line.blank) {
      while (!above.empty() && above.back().first >= line.indent) above.pop_back();
      line.word = line.text.substr(line.indent, line.text.find(':') - line.indent);
      std::vector<std::string> path;
      for (const auto& [indent, word] : above) path.push_back(word);
      path.push_back(line.word);
      line.section = path[0];
      size_t below = 1;
      if (path.size() > 1 && path[0] == "model_config" && path[1] == "custom_params" && path.size() > 2) {
        line.section = "custom_params";
        below = 2;
      }
      for (size_t i = below; i < path.size(); ++i) line.key += (i > below ? "." : "") + path[i];
      line.row = config::find_run_key(line.section, line.key);
      above.emplace_back(line.indent, line.word);
    }
    out.push_back(std::move(line));
  }
  return out;
}

std::string joined(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& l : lines) out += l.text + "\n";
  return out;
}

struct Mutant {
  std::string text;
  size_t line = 0;  // from 1
};

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  static constexpr const char* kKinds[] = {"key typo",     "wrong section", "wrong type",
                                           "out of range", "duplicate key", "bad indentation"};

  /// A mutant of the kind, or one without text when the place does not take it.
  Mutant mutate(size_t kind, std::vector<Line> lines) {
    std::vector<size_t> places;
    for (size_t i = 0; i < lines.size(); ++i)
      if (!lines[i].blank) places.push_back(i);
    const size_t at = places[pick(places.size())];
    switch (kind) {
      case 0:
        return typo(lines, at);
      case 1:
        return move(lines, at);
      case 2:
      case 3:
        return revalue(lines, at, kind == 3);
      case 4:
        return duplicate(lines, at);
      default:
        return reindent(lines, at);
    }
  }

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

 private:
  Mutant typo(std::vector<Line>& lines, size_t at) {
    Line& l = lines[at];
    std::string word = l.word;
    const size_t i = pick(word.size());
    const char letter = static_cast<char>('a' + pick(26));
    switch (pick(4)) {
      case 0:
        word.erase(i, 1);
        break;
      case 1:
        word.insert(i, 1, letter);
        break;
      case 2:
        word[i] = letter;
        break;
      default:
        if (i + 1 < word.size()) std::swap(word[i], word[i + 1]);
    }
    const std::string key = l.key.substr(0, l.key.size() - std::min(l.key.size(), l.word.size())) + word;
    const auto& sections = config::run_sections();
    const bool exists = l.key.empty() ? std::find(sections.begin(), sections.end(), word) != sections.end()
                                      : config::find_run_key(l.section, key) != nullptr;
    if (word.empty() || word == l.word || exists) return {};
    l.text.replace(l.indent, l.word.size(), word);
    return {joined(lines), at + 1};
  }

  Mutant move(std::vector<Line>& lines, size_t at) {
    const Line l = lines[at];
    if (!l.row || l.key.find('.') != std::string::npos || l.row->type == KeyType::Dict) return {};
    std::vector<size_t> targets;  // lines that end in a key of another section
    for (size_t i = 0; i < lines.size(); ++i)
      if (lines[i].row && lines[i].row->type != KeyType::Dict && lines[i].section != l.section &&
          lines[i].key.find('.') == std::string::npos && !config::find_run_key(lines[i].section, l.key))
        targets.push_back(i);
    if (targets.empty()) return {};
    const size_t to = targets[pick(targets.size())];
    Line moved = l;
    moved.text = std::string(lines[to].indent, ' ') + l.text.substr(l.indent);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to) + 1, moved);
    const size_t from = at > to ? at + 1 : at;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
    return {joined(lines), to + (at > to ? 2 : 1)};
  }

  std::string one_of(std::vector<std::string> values) { return values[pick(values.size())]; }

  std::string wrong_value(const RunKey& row) {
    switch (row.type) {
      case KeyType::Bool:
      case KeyType::OptBool:
        return one_of({"7", "maybe", "[True]", "0.5", "{a: 1}"});
      case KeyType::Int:
      case KeyType::OptInt:
        return one_of({"abc", "True", "1.5", "[2]", "\"8\"", "{a: 1}"});
      case KeyType::Float:
      case KeyType::OptFloat:
        return one_of({"abc", "True", "[0.5]", "\"0.5\""});
      case KeyType::Str:
      case KeyType::OptStr:
        return row.section == "target" ? one_of({"[1]", "True", "{a: 1}"})
                                       : one_of({"12", "[a]", "{a: b}", "True", "1.5"});
      case KeyType::Choice:
      case KeyType::OptChoice:
        return one_of({"3", "[a]", "True", "{a: b}"});
      case KeyType::Switch:
        return one_of({"many", "[1]", "1.5", "{a: 1}"});
      default:
        return "5";
    }
  }

  std::string far_value(const RunKey& row) {
    if (row.type == KeyType::Choice || row.type == KeyType::OptChoice)
      return one_of({"none_of_them", "fastest", "x"});
    if (row.type == KeyType::Switch) return one_of({"3", "-1"});
    const size_t dots = row.range.find("..");
    if (dots == std::string_view::npos) return "";
    const std::string least(row.range.substr(0, dots)), most(row.range.substr(dots + 2));
    if (!most.empty() && pick(2) == 0)
      return std::to_string(std::stol(most) + 1 + static_cast<long>(pick(100)));
    return std::to_string(std::stol(least) - 1 - static_cast<long>(pick(100)));
  }

  Mutant revalue(std::vector<Line>& lines, size_t at, bool far) {
    Line& l = lines[at];
    if (!l.row || l.row->type == KeyType::Dict) return {};
    const std::string value = far ? far_value(*l.row) : wrong_value(*l.row);
    if (value.empty()) return {};
    l.text = l.text.substr(0, l.text.find(':')) + ": " + value;
    return {joined(lines), at + 1};
  }

  Mutant duplicate(std::vector<Line>& lines, size_t at) {
    const Line l = lines[at];
    if (!l.row || l.row->type == KeyType::Dict) return {};
    // Somewhere below it in the same map.
    std::vector<size_t> targets;
    for (size_t i = at; i < lines.size(); ++i) {
      if (i > at && !lines[i].blank && lines[i].indent < l.indent) break;
      if (!lines[i].blank && lines[i].indent == l.indent && lines[i].row &&
          lines[i].row->type != KeyType::Dict)
        targets.push_back(i);
    }
    const size_t to = targets[pick(targets.size())];
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to) + 1, l);
    return {joined(lines), to + 2};
  }

  Mutant reindent(std::vector<Line>& lines, size_t at) {
    Line& l = lines[at];
    const std::string rest = l.text.substr(l.indent);
    const size_t way = pick(7);
    if (way == 6) {
      if (l.indent == 0) return {};
      l.text = "\t" + rest;
    } else {
      const auto indent = static_cast<int64_t>(l.indent) +
                          (way < 3 ? static_cast<int64_t>(way) + 1 : -static_cast<int64_t>(way) + 2);
      if (indent < 0) return {};
      l.text = std::string(static_cast<size_t>(indent), ' ') + rest;
    }
    return {joined(lines), at + 1};
  }

  std::mt19937_64 random_;
};

using Configs = std::vector<std::pair<std::string, std::vector<Line>>>;

Configs configs_of(const fs::path& folder) {
  Configs out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".yaml")
      out.emplace_back(entry.path().filename().string(), lines_of(*read_file(entry.path().string()) + "\n"));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

void mutate_and_count(const Configs& configs) {
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  const char* const given = std::getenv("SKDSL_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20'260'105;
  const size_t wanted = soak ? 20'000 : 1'000;
  Mutator mutator(seed);
  std::string name = (fs::temp_directory_path() / "skdsl-mutants-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::string path = (folder / "run.yaml").string();

  constexpr size_t kKinds = std::size(Mutator::kKinds);
  size_t counted[kKinds] = {}, right[kKinds] = {}, first[kKinds] = {}, whole = 0, shown = 0;
  for (size_t done = 0; done < wanted;) {
    const size_t kind = done % kKinds;
    const auto& [file, lines] = configs[mutator.pick(configs.size())];
    const Mutant mutant = mutator.mutate(kind, lines);
    if (mutant.text.empty()) continue;
    // Other blanks may mean the same: then nothing is wrong.
    source::Sources sources;
    diag::Engine ignored(sources);
    const config::KnownPlace anywhere = [](const std::vector<std::string>&, const std::string&) {
      return true;
    };
    const auto before = config::read_yaml(sources.add("before", joined(lines)), anywhere, ignored);
    const auto after = config::read_yaml(sources.add("after", mutant.text), anywhere, ignored);
    if (before && after && config::to_json_value(*before) == config::to_json_value(*after)) {
      ++whole;
      continue;
    }
    std::ofstream(path, std::ios::binary) << mutant.text;
    const Checked c(path);
    ++done;
    ++counted[kind];
    bool found = false, at_first = true, leading = false;
    for (const diag::Diagnostic& d : c.diags.all()) {
      if (d.severity == diag::Severity::Info) continue;
      const bool here = d.span && c.sources.loc(d.span).line == mutant.line;
      found |= here;
      if (at_first) leading = here;
      at_first = false;
    }
    right[kind] += found;
    first[kind] += leading;
    if (!found && ++shown <= 15) {
      std::string wrong(lines_of(mutant.text)[mutant.line - 1].text);
      std::printf("not on its line: %s in %s, line %zu: %s\n%s", Mutator::kKinds[kind], file.c_str(),
                  mutant.line, wrong.c_str(), c.text().c_str());
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  size_t all = 0, good = 0, leading = 0;
  for (size_t k = 0; k < kKinds; ++k) {
    std::printf("%-16s %4zu of %4zu on the right line (%zu as the first report)\n", Mutator::kKinds[k],
                right[k], counted[k], first[k]);
    all += counted[k];
    good += right[k];
    leading += first[k];
  }
  std::printf(
      "seed %llu: %zu of %zu mutations on the right line (%.1f %%), %zu as the first report; %zu edits left "
      "a valid file\n",
      static_cast<unsigned long long>(seed), good, all,
      100.0 * static_cast<double>(good) / static_cast<double>(all), leading, whole);
  EXPECT_GE(static_cast<double>(good), 0.97 * static_cast<double>(all));
}

TEST(RunConfigMutations, AreReportedOnTheirLine) {
  const Configs configs = configs_of(fs::path(SKDSL_SOURCE_DIR) / "tests" / "config" / "good");
  ASSERT_GE(configs.size(), 12U);
  mutate_and_count(configs);
}

TEST(RunConfigMutations, OfTheRecipesToo) {
  const char* const data = std::getenv("SKDSL_DATA_DIR");
  if (!data || !fs::is_directory(fs::path(data) / "run_configs"))
    GTEST_SKIP() << "skipped: SKDSL_DATA_DIR has no run_configs";
  Configs configs = configs_of(fs::path(data) / "run_configs");
  std::erase_if(configs, [](const auto& c) {
    return std::none_of(c.second.begin(), c.second.end(),
                        [](const Line& l) { return l.word == "scheduler_config"; });
  });
  ASSERT_FALSE(configs.empty());
  mutate_and_count(configs);
}

}  // namespace
}  // namespace skdsl::testing
