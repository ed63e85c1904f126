#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "support.h"

namespace skdsl {
namespace fs = std::filesystem;
namespace {

using test::TempDir;

TEST(File, ReadsWholeFiles) {
  const TempDir dir;
  const std::string bytes("a\0b\n", 4);
  EXPECT_EQ(read_file(dir.write("x", bytes)).value(), bytes);
  EXPECT_EQ(read_file(dir.write("empty", "")).value(), "");
  const auto map = MappedFile::open(dir.path() / "x");
  ASSERT_OK(map);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(map->bytes().data()), map->size()), bytes);
  EXPECT_EQ(MappedFile::open(dir.path() / "empty").value().size(), 0u);
}

TEST(File, RefusesWhatIsNoFile) {
  const TempDir dir;
  EXPECT_ERROR(read_file(dir.path() / "absent"), "absent`: no such file");
  EXPECT_ERROR(read_file(dir.path()), "it is a folder");
  EXPECT_ERROR(MappedFile::open(dir.path()), "it is a folder");
  EXPECT_ERROR(read_file("/dev/zero"), "not a regular file");  // would never end
  EXPECT_EQ(read_file(dir.path() / "absent").error().kind, ErrorKind::Environment);
  const fs::path pipe = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file(pipe).value(), "");  // nobody writes: does not wait
  EXPECT_ERROR(MappedFile::open(pipe), "not a regular file");
}

TEST(File, AMappingOutlivesItsFile) {
  const TempDir dir;
  std::shared_ptr<void> owner;
  const std::byte* data = nullptr;
  {
    const auto map = MappedFile::open(dir.write("x", "abc"));
    ASSERT_OK(map);
    owner = map->owner();
    data = map->bytes().data();
  }
  fs::remove(dir.path() / "x");
  EXPECT_EQ(static_cast<char>(data[2]), 'c');
}

TEST(File, WritesAllOrNothing) {
  const TempDir dir;
  const fs::path goal = dir.path() / "out";
  ASSERT_OK(write_file_atomically(goal, "one"));
  EXPECT_EQ(read_file(goal).value(), "one");
  ASSERT_OK(write_file_atomically(goal, "two, longer"));
  EXPECT_EQ(read_file(goal).value(), "two, longer");
  {
    auto file = AtomicFile::create(goal);
    ASSERT_OK(file);
    ASSERT_OK(file->write("half"));
  }  // never committed
  EXPECT_EQ(read_file(goal).value(), "two, longer");
  EXPECT_EQ(dir.names(), std::vector<std::string>{"out"});
}

TEST(File, FailureInTheMiddleLeavesTheOldFile) {
  const TempDir dir;
  const fs::path goal = dir.write("out", "old");
  // A size limit stands in for a full disk.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto result = write_file_atomically(goal, std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_ERROR(result, "cannot write `" + goal.string() + "`");
  EXPECT_EQ(read_file(goal).value(), "old");
  EXPECT_EQ(dir.names(), std::vector<std::string>{"out"});
}

TEST(File, UnwritableOutputIsAClearError) {
  const TempDir dir;
  dir.write("file", "x");
  const auto under_a_file = write_file_atomically(dir.path() / "file" / "out", "y");
  EXPECT_ERROR(under_a_file,
               "cannot write `" + (dir.path() / "file" / "out").string() + "`: not a directory");
  EXPECT_EQ(under_a_file.error().kind, ErrorKind::Environment);
  EXPECT_ERROR(write_file_atomically(dir.path() / "absent" / "out", "y"), "no such file or directory");
  EXPECT_ERROR(write_file_atomically(dir.path(), "y"), "is a directory");
  EXPECT_ERROR(write_file_atomically("", "y"), "cannot write ``");
}

TEST(File, FollowsLinksAndKeepsPermissions) {
  const TempDir dir;
  const fs::path target = dir.write("target", "old");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(target, dir.path() / "link");
  ASSERT_OK(write_file_atomically(dir.path() / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(dir.path() / "link"));
  EXPECT_EQ(read_file(target).value(), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(File, DevicesAreWrittenNotReplaced) {
  ASSERT_OK(write_file_atomically("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace skdsl
