#include "cli/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace skdsl::cli {

Expected<uint32_t> read_source(const std::string& path, source::Sources& sources, Context& context) {
  if (path != "-") return sources.read(path);
  std::string text;
  char buffer[65536];
  while (context.in.read(buffer, sizeof buffer) || context.in.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(context.in.gcount()));
    if (text.size() > source::kMaxFileBytes) break;
  }
  if (auto checked = source::check_text("<stdin>", text); !checked)
    return tl::unexpected<Error>(std::move(checked.error()));
  return sources.add("<stdin>", std::move(text));
}

Expected<void> replace_file(const std::string& path, std::string_view text) {
  const auto failed = [&](const std::string& what) {
    return fail_environment(fmt::format("cannot write `{}`: {}: {}", path, what, std::strerror(errno)));
  };
  char* const resolved = ::realpath(path.c_str(), nullptr);
  const std::string target = resolved != nullptr ? resolved : path;
  std::free(resolved);
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return failed("no temporary file beside it");
  const auto give_up = [&](const std::string& what) {
    const int error = errno;
    ::close(fd);
    ::unlink(temporary.c_str());
    errno = error;
    return failed(what);
  };
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0 && ::fchmod(fd, info.st_mode & 07777) != 0)
    return give_up("permissions");
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return give_up("write");
    text.remove_prefix(static_cast<size_t>(n));
  }
  if (::fsync(fd) != 0) return give_up("fsync");
  if (::close(fd) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    errno = error;
    return failed("rename");
  }
  return {};
}

}  // namespace skdsl::cli
