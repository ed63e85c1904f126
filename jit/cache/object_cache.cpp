#include "jit/cache/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "jit/cache/sha256.h"
#include "runtime/base/hash.h"

namespace skdsl::jit {

namespace fs = std::filesystem;

namespace {

// "skdsl-object 2\n", the checksum of all that follows its line, the key's lines, an empty line, the object.
constexpr std::string_view kMagic = "skdsl-object 2\n";
constexpr size_t kSumAt = kMagic.size(), kSumDigits = 32, kKeyAt = kSumAt + kSumDigits + 1;
constexpr std::string_view kEnding = ".sko", kTemporary = ".new-";
constexpr auto kAbandoned = std::chrono::hours(1);

std::string key_text(const CacheKey& key) {
  std::string out;
  for (const auto& [name, value] : key) {
    out += name + "=";
    for (const char c : value) out += c == '\n' ? ' ' : c;
    out += '\n';
  }
  return out + '\n';
}

// How the names of files begin: those of one machine and build alike.
std::string build_prefix(const CacheKey& key) {
  CacheKey build;
  for (const auto& part : key)
    if (of_build(part.first)) build.push_back(part);
  return sha256(key_text(build)).substr(0, 8) + "-";
}

CacheKey parsed(std::string_view text) {
  CacheKey out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.empty()) break;
    const size_t equal = std::min(line.find('='), line.size() - 1);
    out.emplace_back(line.substr(0, equal), line.substr(equal + 1));
    at = end + 1;
  }
  return out;
}

// The bytes of a regular file. Links are not followed: others may write to a shared folder.
std::optional<std::string> read_bytes(const fs::path& path, int& error) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    error = errno;
    return {};
  }
  struct stat info{};
  std::string bytes;
  error = EINVAL;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    bytes.resize(static_cast<size_t>(info.st_size));
    size_t done = 0;
    error = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::read(fd, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) error = errno;
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    bytes.resize(done);
  }
  ::close(fd);
  if (error != 0) return {};
  return bytes;
}

// "" for a file as it was written.
std::string damage(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return bytes.size() < kMagic.size() ? "it is cut short" : "it is not a file of this cache";
  if (bytes.size() < kKeyAt) return "it is cut short";
  if (bytes[kKeyAt - 1] != '\n' || bytes.substr(kSumAt, kSumDigits) != hash_of(bytes.substr(kKeyAt)).hex())
    return "its checksum is wrong";
  if (bytes.find("\n\n", kKeyAt) == std::string_view::npos) return "it has no object";
  return "";
}

std::string message(std::string_view what, const fs::path& path, int error) {
  return std::string(what) + " " + path.string() + ": " + std::strerror(error);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

ObjectCache ObjectCache::standard() {
  uint64_t limit = kDefaultLimit;
  if (const char* text = std::getenv("SKDSL_OBJECT_CACHE_BYTES"))
    std::from_chars(text, text + std::strlen(text), limit);
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return ObjectCache(fs::path(cache) / "skdsl" / "objects", limit);
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return ObjectCache(fs::path(home) / ".cache" / "skdsl" / "objects", limit);
  return ObjectCache({}, limit);
}

bool of_build(const std::string& name) {
  return name == "target" || name == "llvm" || name == "skdsl" || name == "jit";
}

fs::path ObjectCache::file_of(const CacheKey& key) const {
  return folder_ / (build_prefix(key) + sha256(key_text(key)) + std::string(kEnding));
}

bool ObjectCache::holds_build(const CacheKey& key) const {
  const std::string prefix = build_prefix(key);
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; on() && !error && at != end; at.increment(error))
    if (at->path().filename().native().starts_with(prefix)) return true;
  return false;
}

std::optional<Object> ObjectCache::get(const CacheKey& key, std::string& trouble) const {
  if (!on()) return {};
  const fs::path path = file_of(key);
  int error = 0;
  auto bytes = read_bytes(path, error);
  if (!bytes) {
    if (error != ENOENT && error != ENOTDIR) trouble = message("cannot read", path, error);
    return {};
  }
  std::string wrong = damage(*bytes);
  const std::string text = key_text(key);
  if (wrong.empty() && !std::string_view(*bytes).substr(kKeyAt).starts_with(text))
    wrong = "it belongs to another key";
  if (!wrong.empty()) {
    trouble = path.string() + " is not used: " + wrong;
    return {};
  }
  // Its last use; eviction goes by it.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  bytes->erase(0, kKeyAt + text.size());
  return bytes;
}

std::string ObjectCache::put(const CacheKey& key, const Object& object) const {
  if (!on()) return "";
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return "cannot make " + folder_.string() + ": " + error.message();
  static std::atomic<uint32_t> count{0};
  const fs::path temporary =
      folder_ / (std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(count++));
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return message("cannot write", temporary, errno);
  const std::string text = key_text(key);
  const std::string body = text + object;
  const bool written = write_all(fd, std::string(kMagic) + hash_of(body).hex() + "\n") && write_all(fd, body);
  const int why = errno;
  const bool closed = ::close(fd) == 0;
  std::string trouble;
  if (!written || !closed)
    trouble = message("cannot write", temporary, written ? errno : why);
  else if (::rename(temporary.c_str(), file_of(key).c_str()) != 0)
    trouble = message("cannot rename", temporary, errno);
  if (!trouble.empty())
    ::unlink(temporary.c_str());
  else
    evict();
  return trouble;
}

std::vector<ObjectCache::Entry> ObjectCache::entries() const {
  std::vector<Entry> out;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kEnding) continue;
    Entry e{.file = at->path()};
    std::error_code none;
    e.used = at->last_write_time(none);
    int why = 0;
    const auto bytes = read_bytes(e.file, why);
    if (bytes) {
      e.bytes = bytes->size();
      e.wrong = damage(*bytes);
      if (e.wrong.empty()) e.key = parsed(std::string_view(*bytes).substr(kKeyAt));
      if (e.wrong.empty() && file_of(e.key) != e.file) e.wrong = "it belongs to another key";
    } else if (why == ENOENT) {
      continue;  // another process has just removed it
    } else {
      e.wrong = std::strerror(why);
    }
    out.push_back(std::move(e));
  }
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
    return std::pair(b.used, a.file) < std::pair(a.used, b.file);
  });
  return out;
}

std::pair<size_t, uint64_t> ObjectCache::clear() const {
  size_t files = 0;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->path().extension() != kEnding && !name.starts_with(kTemporary)) continue;
    std::error_code none;
    const uint64_t size = at->file_size(none);
    if (!fs::remove(at->path(), none)) continue;
    ++files;
    bytes += size;
  }
  return {files, bytes};
}

void ObjectCache::evict() const {
  struct File {
    fs::file_time_type used;
    fs::path path;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    const auto used = at->last_write_time(none);
    if (none) continue;
    if (at->path().filename().string().starts_with(kTemporary)) {
      // Its writer was killed.
      if (now - used > kAbandoned) fs::remove(at->path(), none);
      continue;
    }
    if (at->path().extension() != kEnding) continue;
    const uint64_t bytes = at->file_size(none);
    if (none) continue;
    files.push_back({used, at->path(), bytes});
    total += bytes;
  }
  if (total <= limit_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& f : files) {
    if (total <= limit_) return;
    std::error_code none;
    if (fs::remove(f.path, none)) total -= f.bytes;
  }
}

}  // namespace skdsl::jit
