#include "runtime/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/base/assert.h"

namespace skdsl {

namespace fs = std::filesystem;

namespace {

std::string reason(int error_number) {
  std::string text = std::generic_category().message(error_number);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> cannot_read(const fs::path& path, std::string_view why) {
  return fail_environment(fmt::format("cannot read `{}`: {}", path.string(), why));
}

/// Refuses what is not a file before anything is read, so that nothing blocks or never ends.
Expected<struct stat> stat_of(const Fd& fd, const fs::path& path, bool pipes) {
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot_read(path, reason(errno));
  if (S_ISDIR(info.st_mode)) return cannot_read(path, "it is a folder, not a file");
  if (S_ISREG(info.st_mode) || (pipes && S_ISFIFO(info.st_mode))) return info;
  return cannot_read(path, "it is not a regular file");
}

}  // namespace

Expected<std::string> read_file(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return cannot_read(path, reason(errno));
  const auto info = stat_of(fd, path, true);
  if (!info) return tl::unexpected(info.error());
  ::fcntl(fd.get(), F_SETFL, 0);

  std::string text;
  text.reserve(static_cast<size_t>(info->st_size) + 1);
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_read(path, reason(errno));
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

Expected<MappedFile> MappedFile::open(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return cannot_read(path, reason(errno));
  const auto info = stat_of(fd, path, false);
  if (!info) return tl::unexpected(info.error());

  MappedFile file;
  const auto size = static_cast<size_t>(info->st_size);
  if (size == 0) return file;  // mmap refuses an empty range
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return cannot_read(path, reason(errno));
  file.owner_ = {data, [size](void* p) { ::munmap(p, size); }};
  file.bytes_ = {static_cast<const std::byte*>(data), size};
  return file;
}

tl::unexpected<Error> AtomicFile::trouble(std::string_view what, int error_number) const {
  return fail_environment(fmt::format("cannot {} `{}`: {}", what, asked_.string(), reason(error_number)));
}

Expected<AtomicFile> AtomicFile::create(const fs::path& path) {
  AtomicFile file(path);
  file.goal_ = path;
  mode_t mode = 0666;  // less what umask takes
  bool exists = false;
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) {
    exists = true;
    mode = info.st_mode & 07777;
    if (S_ISDIR(info.st_mode)) return file.trouble("write", EISDIR);
    file.direct_ = !S_ISREG(info.st_mode);
    std::error_code ec;
    if (const fs::path real = fs::canonical(path, ec); !ec) file.goal_ = real;
    if (!file.direct_ && ::access(path.c_str(), W_OK) != 0) return file.trouble("write", errno);
  } else if (errno != ENOENT) {
    return file.trouble("write", errno);
  }
  if (file.direct_) {
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd_ < 0) return file.trouble("write", errno);
    return file;
  }

  const fs::path folder = file.goal_.has_parent_path() ? file.goal_.parent_path() : fs::path(".");
  file.fd_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file.fd_ < 0) {
    static std::atomic<unsigned> counter{0};
    file.temporary_ =
        folder / fmt::format(".{}.{}.{}.tmp", file.goal_.filename().string(), ::getpid(), counter++);
    file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file.fd_ < 0) {
      file.temporary_.clear();
      return file.trouble("write", errno);
    }
  }
  if (exists) ::fchmod(file.fd_, mode);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : asked_(std::move(other.asked_)),
      goal_(std::move(other.goal_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      direct_(other.direct_) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Expected<void> AtomicFile::write(std::string_view bytes) {
  SK_ASSERT(fd_ >= 0, "nothing is written after commit");
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return trouble("write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Expected<void> AtomicFile::commit() {
  SK_ASSERT(fd_ >= 0, "a file is committed once");
  if (direct_) {
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) return trouble("write", errno);
    return {};
  }
  if (::fsync(fd_) != 0) return trouble("write", errno);
  const fs::path folder = goal_.has_parent_path() ? goal_.parent_path() : fs::path(".");
  if (temporary_.empty()) {
    // A nameless file can get a name but cannot replace one, so it becomes a temporary name for a moment.
    static std::atomic<unsigned> counter{0};
    const fs::path named =
        folder / fmt::format(".{}.{}.{}.new", goal_.filename().string(), ::getpid(), counter++);
    const std::string self = fmt::format("/proc/self/fd/{}", fd_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, named.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return trouble("write", errno);
    }
    temporary_ = named;
  }
  if (::rename(temporary_.c_str(), goal_.c_str()) != 0) return trouble("write", errno);
  temporary_.clear();
  ::close(std::exchange(fd_, -1));
  // The name itself survives a power cut only when the folder is synced; not every file system can.
  if (const Fd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); dir.get() >= 0)
    ::fsync(dir.get());
  return {};
}

Expected<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(bytes); !written) return written;
  return file->commit();
}

}  // namespace skdsl
