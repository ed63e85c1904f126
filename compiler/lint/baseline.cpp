#include "compiler/lint/baseline.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace skdsl::lint {

namespace {

struct Key {
  std::string file, id, line;
  std::string text() const { return file + '\n' + id + '\n' + line; }
};

Key key_of(const FileReport& f, const diag::Diagnostic& d) {
  std::string_view line = f.sources->line(d.span.file, f.sources->loc(d.span).line);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return {d.span ? f.sources->name(d.span.file) : f.path, std::string(diag::rule(d.id).id),
          d.span ? std::string(line) : d.message};
}

}  // namespace

Expected<Baseline> Baseline::read(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected<Error>(std::move(text.error()));
  auto root = parse_json(*text, path);
  if (!root) return tl::unexpected<Error>(std::move(root.error()));
  const auto damaged = [&](std::string_view what) {
    return fail(fmt::format("{}: {}", path, what), {"help: write it anew with --update-baseline"});
  };
  const Json* format = root->find("format_version");
  const Json* findings = root->find("findings");
  if (!format || *format != Json(1) || !findings || !findings->is_array())
    return damaged("not a baseline of skdsl lint");
  Baseline out;
  for (const Json& j : findings->as_array()) {
    const Json *file = j.find("file"), *id = j.find("id"), *line = j.find("line"), *count = j.find("count");
    if (!file || !file->is_string() || !id || !id->is_string() || !line || !line->is_string() || !count ||
        !count->is_int() || count->as_int() < 1)
      return damaged("an entry needs file, id, line and count");
    out.counts_[Key{file->as_string(), id->as_string(), line->as_string()}.text()] += count->as_int();
  }
  return out;
}

Baseline Baseline::of(const std::vector<FileReport>& files) {
  Baseline out;
  for (const FileReport& f : files)
    for (const diag::Diagnostic& d : f.result.findings) ++out.counts_[key_of(f, d).text()];
  return out;
}

std::string Baseline::text() const {
  Json::Array findings;
  for (const auto& [key, count] : counts_) {
    const size_t one = key.find('\n'), two = key.find('\n', one + 1);
    findings.push_back(Json::Object{{"file", key.substr(0, one)},
                                    {"id", key.substr(one + 1, two - one - 1)},
                                    {"line", key.substr(two + 1)},
                                    {"count", count}});
  }
  return to_json(Json::Object{{"format_version", 1}, {"findings", std::move(findings)}}, 1) + '\n';
}

size_t Baseline::apply(std::vector<FileReport>& files) const {
  std::map<std::string, int64_t> left = counts_;
  size_t known = 0;
  for (FileReport& f : files)
    known += std::erase_if(f.result.findings, [&](const diag::Diagnostic& d) {
      const auto it = left.find(key_of(f, d).text());
      return it != left.end() && it->second-- > 0;
    });
  return known;
}

}  // namespace skdsl::lint
