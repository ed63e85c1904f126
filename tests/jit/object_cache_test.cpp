// The cache of objects under everything that can go wrong: it compiles again or says why, and never gives
// wrong bytes.
#include "jit/cache/object_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "jit/cache/sha256.h"
#include "jit/host/host.h"
#include "tests/support/temporary_folder.h"

namespace skdsl::jit {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

bool soak() { return std::getenv("SKDSL_SOAK") != nullptr; }

CacheKey key(const std::string& plan, const std::string& target = "cpu +a,-b",
             const std::string& llvm = "19.1.7") {
  return {{"kind", "step"}, {"name", "M.decode"}, {"plan", plan}, {"target", target},
          {"llvm", llvm},   {"skdsl", "0.1.0"},   {"jit", "id"}};
}
Object object(size_t bytes, unsigned seed = 1) {
  std::mt19937 engine(seed);
  Object out(bytes, 0);
  for (char& c : out) c = static_cast<char>(engine());
  return out;
}
std::string bytes_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& p, const std::string& bytes) {
  std::ofstream(p, std::ios::binary | std::ios::trunc) << bytes;
}
fs::path only_file(const ObjectCache& cache) {
  fs::path out;
  for (const auto& e : fs::directory_iterator(cache.folder())) out = e.path();
  return out;
}
std::optional<Object> get(const ObjectCache& cache, const CacheKey& k, std::string* trouble = nullptr) {
  std::string text;
  auto out = cache.get(k, text);
  if (trouble) *trouble = text;
  return out;
}

TEST(Sha256, KnowsTheExamplesOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Cache, GivesBackWhatWasPutForThatKeyAlone) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "a/b");
  EXPECT_FALSE(get(cache, key("1")));
  EXPECT_EQ(cache.put(key("1"), object(5000)), "");
  EXPECT_EQ(cache.put(key("2"), object(0)), "");
  EXPECT_EQ(get(cache, key("1")), object(5000));
  EXPECT_EQ(get(cache, key("2")), object(0));
  for (const CacheKey& other : {key("3"), key("1", "cpu -a"), key("1", "cpu +a,-b", "19.1.8"), CacheKey{}})
    EXPECT_FALSE(get(cache, other));
  EXPECT_EQ(cache.entries().size(), 2u);
  EXPECT_EQ(cache.clear().first, 2u);
  EXPECT_TRUE(cache.entries().empty());
  EXPECT_FALSE(ObjectCache({}).on());
  EXPECT_EQ(ObjectCache({}).put(key("1"), "x"), "");
  EXPECT_FALSE(ObjectCache(folder / "off", 0).on());
}

TEST(Cache, AnyTruncationIsFoundOut) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c");
  const size_t bytes = soak() ? 20000 : 500;
  cache.put(key("1"), object(bytes));
  const fs::path file = only_file(cache);
  const std::string good = bytes_of(file);
  for (size_t n = 0; n < good.size(); ++n) {
    write(file, good.substr(0, n));
    std::string trouble;
    ASSERT_FALSE(get(cache, key("1"), &trouble)) << n;
    ASSERT_NE(trouble, "") << n;
  }
  for (const std::string& more : {std::string(1, 0), std::string("x"), good}) {
    write(file, good + more);
    ASSERT_FALSE(get(cache, key("1")));
  }
  write(file, good);
  EXPECT_EQ(get(cache, key("1")), object(bytes));
}

TEST(Cache, AnyFlippedBitIsFoundOut) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c");
  const size_t bytes = soak() ? 4000 : 60;
  cache.put(key("1"), object(bytes));
  const fs::path file = only_file(cache);
  const std::string good = bytes_of(file);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write(file, bad);
    std::string trouble;
    ASSERT_FALSE(get(cache, key("1"), &trouble)) << bit;
    ASSERT_NE(trouble, "") << bit;
  }
  // It is listed as damaged, and written anew it works again.
  EXPECT_NE(cache.entries().at(0).wrong, "");
  EXPECT_EQ(cache.put(key("1"), object(bytes)), "");
  EXPECT_EQ(get(cache, key("1")), object(bytes));
}

TEST(Cache, AFileUnderTheNameOfAnotherKeyIsNotUsed) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c");
  cache.put(key("1", "other cpu"), object(100));
  const std::string foreign = bytes_of(only_file(cache));
  cache.clear();
  cache.put(key("1"), object(200));
  const fs::path file = only_file(cache);
  write(file, foreign);
  std::string trouble;
  EXPECT_FALSE(get(cache, key("1"), &trouble));
  EXPECT_NE(trouble.find("another key"), std::string::npos);
  EXPECT_NE(cache.entries().at(0).wrong, "");
  // A folder, a link and a pipe in its place.
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(get(cache, key("1"), &trouble));
  EXPECT_NE(cache.put(key("1"), object(200)), "");
  fs::remove(file);
  write(folder / "elsewhere", foreign);
  fs::create_symlink(folder / "elsewhere", file);
  EXPECT_FALSE(get(cache, key("1"), &trouble));
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(get(cache, key("1"), &trouble));
}

TEST(Cache, TheLeastRecentlyUsedGoFirst) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c", 10000);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(cache.put(key(std::to_string(i)), object(2000)), "");
    const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(10 - i);
    for (const auto& e : cache.entries())
      if (e.key == key(std::to_string(i))) fs::last_write_time(e.file, old);
  }
  ASSERT_TRUE(get(cache, key("0")));  // used: now the youngest
  ASSERT_EQ(cache.put(key("4"), object(2000)), "");
  ASSERT_EQ(cache.put(key("5"), object(2000)), "");
  EXPECT_TRUE(get(cache, key("0")));
  EXPECT_FALSE(get(cache, key("1")));
  uint64_t bytes = 0;
  for (const auto& e : cache.entries()) bytes += e.bytes;
  EXPECT_LE(bytes, 10000u);
  // What a killed writer left goes too, once it is old.
  write(cache.folder() / ".new-1-0", "half");
  fs::last_write_time(cache.folder() / ".new-1-0", fs::file_time_type::clock::now() - std::chrono::hours(2));
  write(cache.folder() / ".new-2-0", "half");
  cache.put(key("6"), object(10));
  EXPECT_FALSE(fs::exists(cache.folder() / ".new-1-0"));
  EXPECT_TRUE(fs::exists(cache.folder() / ".new-2-0"));
}

TEST(Cache, AWriterKilledAtAnyMomentLeavesNothingWrong) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c");
  std::mt19937 random(7);
  const int rounds = soak() ? 3000 : 150;
  std::printf("killed writers: seed 7, %d rounds\n", rounds);
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (unsigned i = 0;; ++i) cache.put(key(std::to_string(i % 3)), object(60000, i % 3 + 1));
    }
    ::usleep(random() % 4000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (unsigned i = 0; i < 3; ++i) {
      std::string trouble;
      const auto got = get(cache, key(std::to_string(i)), &trouble);
      ASSERT_EQ(trouble, "") << round;
      if (got) ASSERT_TRUE(*got == object(60000, i + 1)) << round;
    }
  }
}

TEST(Cache, ManyProcessesMayShareIt) {
  TemporaryFolder folder;
  const ObjectCache cache(folder / "c", 200000);  // so small that they evict each other's
  const int rounds = soak() ? 4000 : 300;
  std::vector<pid_t> children;
  for (unsigned p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::mt19937 random(p);
      for (int round = 0; round < rounds; ++round) {
        const unsigned i = random() % 8;
        if (random() % 2 && !cache.put(key(std::to_string(i)), object(30000, i)).empty()) ::_exit(1);
        std::string trouble;
        const auto got = cache.get(key(std::to_string(i)), trouble);
        if (!trouble.empty()) ::_exit(2);
        if (got && *got != object(30000, i)) ::_exit(3);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(Cache, AFullDiskIsToldAndLeavesNothing) {
  TemporaryFolder folder;
  // A file may have 1,000 bytes: the write fails in the middle.
  const fs::path at = folder / "c";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const ObjectCache cache(at);
    if (cache.put(key("1"), object(100000)).empty()) ::_exit(1);
    if (!fs::is_empty(at)) ::_exit(2);
    if (!cache.put(key("2"), object(100)).empty()) ::_exit(3);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const std::string disk = folder / "disk";
  fs::create_directory(disk);
  if (::geteuid() != 0 || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    std::printf("skipped: a small disk cannot be mounted here\n");
    return;
  }
  const ObjectCache cache(fs::path(disk) / "c");
  std::string trouble;
  for (int i = 0; i < 8 && trouble.empty(); ++i) trouble = cache.put(key(std::to_string(i)), object(20000));
  EXPECT_NE(trouble, "");
  for (const auto& e : cache.entries()) EXPECT_EQ(e.wrong, "");
  ::umount(disk.c_str());
}

TEST(Cache, AFolderThatCannotBeWrittenIsTold) {
  TemporaryFolder folder;
  write(folder / "file", "x");
  EXPECT_NE(ObjectCache(folder / "file/c").put(key("1"), object(10)), "");
  std::string trouble;
  EXPECT_FALSE(ObjectCache(folder / "file/c").get(key("1"), trouble));
  EXPECT_EQ(trouble, "");
  // Permissions do not bind root: another user tries.
  const fs::path at = folder / "readonly";
  fs::create_directory(at);
  const ObjectCache cache(at);
  ASSERT_EQ(cache.put(key("1"), object(10)), "");
  fs::permissions(
      at, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(0);
    ::_exit(cache.put(key("2"), object(10)).empty() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  fs::permissions(at, fs::perms::owner_all);
}

}  // namespace
}  // namespace skdsl::jit
