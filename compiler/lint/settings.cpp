#include "compiler/lint/settings.h"

#include <algorithm>
#include <filesystem>

#include "compiler/config/yaml.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint {

namespace fs = std::filesystem;

bool matches(std::string_view glob, std::string_view path) {
  // Positions to return to: the last `*` and the last `**`.
  size_t g = 0, p = 0, star = glob.npos, star_p = 0, deep = glob.npos, deep_p = 0;
  while (p < path.size() || g < glob.size()) {
    if (glob.substr(g, 2) == "**") {
      deep = g, deep_p = p, star = glob.npos;
      g += glob.substr(g, 3) == "**/" ? 3 : 2;
      continue;
    }
    if (g < glob.size() && glob[g] == '*') {
      star = g++, star_p = p;
      continue;
    }
    if (p < path.size() && g < glob.size() && (glob[g] == path[p] || (glob[g] == '?' && path[p] != '/'))) {
      ++g, ++p;
      continue;
    }
    if (star != glob.npos && star_p < path.size() && path[star_p] != '/') {
      p = ++star_p, g = star + 1;
      continue;
    }
    if (deep == glob.npos || deep_p >= path.size()) return false;
    // `**/` stands for whole folders.
    const bool folders = glob.substr(deep, 3) == "**/";
    do ++deep_p;
    while (folders && deep_p < path.size() && path[deep_p - 1] != '/');
    if (folders && deep_p >= path.size()) return false;
    p = deep_p, g = deep + (folders ? 3 : 2), star = glob.npos;
  }
  return true;
}

namespace {

class Reader {
 public:
  explicit Reader(Settings& out) : out_(out), diags_(*out.sources) {}

  void read(const std::string& path) {
    auto file = out_.sources->read(path);
    if (!file) {
      diags_.report({}, diag::Id::FileUnreadable, file.error().message);
    } else if (const auto root =
                   config::read_yaml(*file, [](const auto&, const auto&) { return true; }, diags_)) {
      top(*root);
    }
    out_.problems = diags_.all();
  }

 private:
  using Node = config::YamlNode;

  void unknown(const Node& key, std::string_view where, const std::vector<std::string>& names) {
    auto report = diags_.report(key.span, diag::Id::RunUnknownKey, key.text, where);
    const std::string near = diag::nearest(key.text, names);
    report.help(near.empty() ? fmt::format("the keys are {}", fmt::join(names, ", "))
                             : fmt::format("did you mean `{}`?", near));
  }
  void wrong(const Node& value, std::string_view what) {
    diags_.report(value.span, diag::Id::RunBadValue, std::string(what));
  }

  void top(const Node& root) {
    if (root.kind == Node::Kind::Null) return;
    if (root.kind != Node::Kind::Map) return wrong(root, "settings of lint are a map: chip, allow, paths");
    PathSettings everywhere;
    for (const auto& [key, value] : root.entries) {
      if (key.text == "allow") {
        allow(value, everywhere);
      } else if (key.text == "modes") {
        modes(value, everywhere);
      } else if (key.text == "chip") {
        if (!find_chip(value.text))
          wrong(value, fmt::format("`{}` is no chip; a2, a3 and 950 are known", value.text));
        else
          out_.chip = value.text;
      } else if (key.text == "paths") {
        if (value.kind != Node::Kind::Sequence)
          wrong(value, "`paths` is a list of `match` and what it allows");
        for (const Node& item : value.items) one_path(item);
      } else {
        unknown(key, std::string(kSettingsName), {"chip", "allow", "modes", "paths"});
      }
    }
    out_.paths.insert(out_.paths.begin(), std::move(everywhere));
  }

  void one_path(const Node& item) {
    if (item.kind != Node::Kind::Map) return wrong(item, "an entry of `paths` is a map with `match`");
    PathSettings p;
    for (const auto& [key, value] : item.entries) {
      if (key.text == "match")
        p.match = value.text;
      else if (key.text == "allow")
        allow(value, p);
      else if (key.text == "modes")
        modes(value, p);
      else
        unknown(key, "an entry of `paths`", {"match", "allow", "modes"});
    }
    if (p.match.empty()) return wrong(item, "an entry of `paths` needs `match`");
    out_.paths.push_back(std::move(p));
  }

  void modes(const Node& list, PathSettings& to) {
    for (const Node& item : list.items) {
      if (item.text == "eager" || item.text == "npugraph_ex" || item.text == "ge_graph")
        to.modes.push_back(item.text);
      else
        wrong(item, fmt::format("`{}` is no mode; eager, npugraph_ex and ge_graph are", item.text));
    }
    if (list.kind != Node::Kind::Sequence) wrong(list, "`modes` is a list such as [eager]");
  }

  void allow(const Node& map, PathSettings& to) {
    if (map.kind != Node::Kind::Map) return wrong(map, "`allow` is a map of rules with the reason of each");
    for (const auto& [key, value] : map.entries) {
      const diag::Id id = diag::find(key.text);
      const Rule* rule = find(id);
      if (!rule) {
        std::vector<std::string> names;
        for (const Rule& r : rules()) names.emplace_back(diag::rule(r.id).id);
        auto report =
            diags_.report(key.span, diag::Id::AllowImpossible, fmt::format("`{}` is no lint rule", key.text));
        const std::string near = diag::nearest(key.text, names);
        report.help(near.empty() ? "`skdsl lint --list` shows the rules"
                                 : fmt::format("did you mean `{}`?", near));
      } else if (rule->locked) {
        diags_.report(key.span, diag::Id::AllowImpossible, fmt::format("{} cannot be allowed", key.text))
            .note("what it finds raises or hangs on the device");
      } else if (value.kind != Node::Kind::Scalar || value.text.empty()) {
        diags_.report(key.span, diag::Id::AllowWithoutReason).help(fmt::format("write `{}: why`", key.text));
      } else {
        to.allow.push_back(id);
      }
    }
  }

  Settings& out_;
  diag::Engine diags_;
};

}  // namespace

Settings read_settings(const std::string& path) {
  Settings out;
  out.folder = fs::path(path).parent_path().string();
  out.sources = std::make_shared<source::Sources>();
  Reader(out).read(path);
  return out;
}

PathSettings Settings::of(const std::string& path) const {
  PathSettings out;
  std::error_code ignored;
  const std::string inside = folder.empty() ? path : fs::relative(path, folder, ignored).generic_string();
  for (const PathSettings& p : paths) {
    if (!p.match.empty() && !matches(p.match, inside)) continue;
    out.allow.insert(out.allow.end(), p.allow.begin(), p.allow.end());
    if (!p.modes.empty()) out.modes = p.modes;
  }
  return out;
}

std::shared_ptr<const Settings> SettingsFinder::find(const std::string& path) {
  std::error_code ignored;
  fs::path folder = fs::absolute(path, ignored).lexically_normal().parent_path();
  const std::lock_guard lock(mutex_);
  std::vector<std::string> asked;
  std::shared_ptr<const Settings> found;
  while (true) {
    const std::string name = folder.string();
    const auto it =
        std::find_if(by_folder_.begin(), by_folder_.end(), [&](const auto& e) { return e.first == name; });
    if (it != by_folder_.end()) {
      found = it->second;
      break;
    }
    asked.push_back(name);
    if (const fs::path file = folder / kSettingsName; fs::exists(file, ignored)) {
      found = std::make_shared<const Settings>(read_settings(file.string()));
      break;
    }
    if (!folder.has_relative_path()) {
      found = std::make_shared<const Settings>();
      break;
    }
    folder = folder.parent_path();
  }
  for (std::string& name : asked) by_folder_.emplace_back(std::move(name), found);
  return found;
}

std::vector<std::shared_ptr<const Settings>> SettingsFinder::all() const {
  std::vector<std::shared_ptr<const Settings>> out;
  for (const auto& [folder, settings] : by_folder_)
    if (std::find(out.begin(), out.end(), settings) == out.end()) out.push_back(settings);
  return out;
}

}  // namespace skdsl::lint
