#include "compiler/lint/cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/hash.h"
#include "runtime/base/json.h"
#include "stdlib/sources.h"

namespace skdsl::lint {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 2;

/// What a dependency is at the moment: its bytes; of a folder names, sizes and times; or that it is not
/// there.
std::string state_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "absent";
  if (S_ISDIR(info.st_mode)) {
    std::vector<std::string> entries;
    std::error_code ignored;
    for (const auto& e : fs::directory_iterator(path, ignored)) {
      struct stat inner{};
      if (::stat(e.path().c_str(), &inner) != 0) continue;
      entries.push_back(fmt::format("{} {} {}.{}", e.path().filename().string(), inner.st_size,
                                    inner.st_mtim.tv_sec, inner.st_mtim.tv_nsec));
    }
    std::sort(entries.begin(), entries.end());
    return hash_of(fmt::format("{}", fmt::join(entries, "\n"))).hex();
  }
  const auto text = read_file(path);
  return text ? hash_of(*text).hex() : "unreadable";
}

Json span_json(const source::Sources& sources, Span s) {
  if (!s) return nullptr;
  return Json::Array{sources.name(s.file), s.begin, s.end};
}

/// Reads spans back; files that are not there yet are read.
class Spans {
 public:
  Spans(uint32_t file, source::Sources& sources) : sources_(sources) {
    known_.emplace_back(sources.name(file), file);
  }

  std::optional<Span> read(const Json& j) {
    if (j.is_null()) return Span{};
    if (!j.is_array() || j.as_array().size() != 3 || !j.as_array()[0].is_string() ||
        !j.as_array()[1].is_int() || !j.as_array()[2].is_int())
      return {};
    const auto file = find(j.as_array()[0].as_string());
    if (!file) return {};
    const int64_t begin = j.as_array()[1].as_int(), end = j.as_array()[2].as_int();
    if (begin < 0 || end < begin || static_cast<size_t>(end) > sources_.text(*file).size()) return {};
    return Span{*file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

 private:
  std::optional<uint32_t> find(const std::string& name) {
    for (const auto& [known, file] : known_)
      if (known == name) return file;
    for (const ShippedSource& s : shipped_sources())
      if (s.name == name) return known_.emplace_back(name, sources_.add(name, std::string(s.text))).second;
    const auto file = sources_.read(name);
    if (!file) return {};
    return known_.emplace_back(name, *file).second;
  }
  source::Sources& sources_;
  std::vector<std::pair<std::string, uint32_t>> known_;
};

Json finding_json(const source::Sources& sources, const diag::Diagnostic& d) {
  Json::Array notes, helps, edits;
  for (const auto& n : d.notes) notes.push_back(Json::Array{span_json(sources, n.span), n.text});
  for (const auto& h : d.helps) helps.emplace_back(h);
  for (const auto& e : d.fix.edits) edits.push_back(Json::Array{span_json(sources, e.span), e.text});
  return Json::Object{{"id", diag::rule(d.id).id},
                      {"severity", static_cast<int64_t>(d.severity)},
                      {"message", d.message},
                      {"span", span_json(sources, d.span)},
                      {"notes", std::move(notes)},
                      {"helps", std::move(helps)},
                      {"trust", static_cast<int64_t>(d.fix.applicability)},
                      {"edits", std::move(edits)}};
}

/// Pairs of a place and a text.
template <class Add>
bool read_pairs(const Json* list, Spans& spans, Add add) {
  if (!list || !list->is_array()) return false;
  for (const Json& pair : list->as_array()) {
    if (!pair.is_array() || pair.as_array().size() != 2 || !pair.as_array()[1].is_string()) return false;
    const auto span = spans.read(pair.as_array()[0]);
    if (!span) return false;
    add(*span, pair.as_array()[1].as_string());
  }
  return true;
}

bool strings(const Json* list, std::vector<std::string>& to) {
  if (!list || !list->is_array()) return false;
  for (const Json& j : list->as_array()) {
    if (!j.is_string()) return false;
    to.push_back(j.as_string());
  }
  return true;
}

std::optional<diag::Diagnostic> read_finding(const Json& j, Spans& spans) {
  diag::Diagnostic d{};
  const Json *id = j.find("id"), *severity = j.find("severity"), *message = j.find("message"),
             *span = j.find("span"), *trust = j.find("trust");
  if (!id || !id->is_string() || !severity || !severity->is_int() || !message || !message->is_string() ||
      !span || !trust || !trust->is_int())
    return {};
  d.id = diag::find(id->as_string());
  if (d.id == diag::Id::kCount || severity->as_int() < 0 || severity->as_int() > 3 || trust->as_int() < 0 ||
      trust->as_int() > 2)
    return {};
  d.severity = static_cast<diag::Severity>(severity->as_int());
  d.message = message->as_string();
  d.fix.applicability = static_cast<diag::Applicability>(trust->as_int());
  const auto place = spans.read(*span);
  if (!place) return {};
  d.span = *place;
  if (!read_pairs(j.find("notes"), spans,
                  [&](Span s, std::string t) { d.notes.push_back({s, std::move(t)}); }) ||
      !read_pairs(j.find("edits"), spans,
                  [&](Span s, std::string t) { d.fix.edits.push_back({s, std::move(t)}); }) ||
      !strings(j.find("helps"), d.helps))
    return {};
  return d;
}

}  // namespace

std::string Cache::default_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/skdsl/lint";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/skdsl/lint";
  return {};
}

std::string Cache::entry(uint32_t file, const source::Sources& sources) const {
  const std::string name =
      hash_of(fmt::format("{}\n{}\n{}", salt_, sources.name(file), hash_of(sources.text(file)).hex())).hex();
  return fmt::format("{}/{}/{}.json", folder_, name.substr(0, 2), name.substr(2));
}

std::optional<Result> Cache::find(uint32_t file, source::Sources& sources) const {
  if (folder_.empty()) return {};
  const std::string path = entry(file, sources);
  const auto text = read_file(path);
  if (!text) return {};
  const auto root = parse_json(*text, path);
  if (!root || !root->is_object()) return {};
  const Json *format = root->find("format"), *key = root->find("file"), *depends = root->find("depends"),
             *findings = root->find("findings");
  if (!format || *format != Json(kFormat) || !key || *key != Json(sources.name(file)) || !depends ||
      !depends->is_array() || !findings || !findings->is_array())
    return {};
  for (const Json& d : depends->as_array()) {
    if (!d.is_array() || d.as_array().size() != 2 || !d.as_array()[0].is_string() ||
        !d.as_array()[1].is_string())
      return {};
    if (state_of(d.as_array()[0].as_string()) != d.as_array()[1].as_string()) return {};
  }
  Result out;
  if (!strings(root->find("modes"), out.modes)) return {};
  Spans spans(file, sources);
  for (const Json& j : findings->as_array()) {
    auto d = read_finding(j, spans);
    if (!d) return {};
    out.findings.push_back(std::move(*d));
  }
  for (const Json& d : depends->as_array()) out.read.push_back(d.as_array()[0].as_string());
  return out;
}

void Cache::keep(uint32_t file, const source::Sources& sources, const Result& result) const {
  if (folder_.empty()) return;
  Json::Array depends, findings, modes;
  for (const std::string& path : result.read) depends.push_back(Json::Array{path, state_of(path)});
  for (const diag::Diagnostic& d : result.findings) findings.push_back(finding_json(sources, d));
  for (const std::string& m : result.modes) modes.emplace_back(m);
  const std::string path = entry(file, sources);
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  // A cache that cannot be written is no trouble of the user's.
  (void)write_file_atomically(path, to_json(Json::Object{{"format", kFormat},
                                                         {"file", sources.name(file)},
                                                         {"depends", std::move(depends)},
                                                         {"modes", std::move(modes)},
                                                         {"findings", std::move(findings)}}));
}

}  // namespace skdsl::lint
