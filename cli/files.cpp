#include "cli/files.h"

#include "runtime/base/file.h"

namespace skdsl::cli {

namespace {
std::string standard_input(Context& context) {
  std::string text;
  char buffer[65536];
  while (context.in.read(buffer, sizeof buffer) || context.in.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(context.in.gcount()));
    if (text.size() > source::kMaxFileBytes) break;
  }
  return text;
}
}  // namespace

Expected<std::string> read_text(const std::string& path, Context& context) {
  return path == "-" ? standard_input(context) : read_file(path);
}

Expected<uint32_t> read_source(const std::string& path, source::Sources& sources, Context& context) {
  if (path != "-") return sources.read(path);
  std::string text = standard_input(context);
  if (auto checked = source::check_text("<stdin>", text); !checked)
    return tl::unexpected<Error>(std::move(checked.error()));
  return sources.add("<stdin>", std::move(text));
}

}  // namespace skdsl::cli
