#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tests/unit/front/front.h"

namespace skdsl {
namespace {

namespace fs = std::filesystem;

class SourceFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("skdsl_source_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  fs::path folder_;
  source::Sources sources_;
};

TEST_F(SourceFiles, ReadsTextAndFindsLines) {
  const auto file = sources_.read(write("a.sk", "one\ntwo\r\nthree"));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(*file, 1u);
  EXPECT_EQ(sources_.line(*file, 1), "one");
  EXPECT_EQ(sources_.line(*file, 2), "two");
  EXPECT_EQ(sources_.line(*file, 3), "three");
  EXPECT_EQ(sources_.line(*file, 4), "");
  EXPECT_EQ(sources_.loc({*file, 4, 7}), (Loc{*file, 2, 1, 3}));
  EXPECT_EQ(sources_.loc({*file, 14, 14}), (Loc{*file, 3, 6, 0}));
  EXPECT_EQ(sources_.span({*file, 2, 1, 3}), (Span{*file, 4, 7}));
  EXPECT_EQ(sources_.text(Span{*file, 4, 7}), "two");
  EXPECT_EQ(sources_.loc({}).line, 0u);
}

TEST_F(SourceFiles, SaysWhatIsWrongWithAFile) {
  const auto error = [&](const std::string& path) {
    const auto file = sources_.read(path);
    EXPECT_FALSE(file.has_value()) << path;
    return file.has_value() ? Error{} : file.error();
  };
  const Error missing = error((folder_ / "none.sk").string());
  EXPECT_EQ(missing.kind, ErrorKind::Environment);
  EXPECT_NE(missing.message.find("No such file"), std::string::npos);
  EXPECT_NE(error(folder_.string()).message.find("is a directory"), std::string::npos);
  EXPECT_NE(error("/dev/null").message.find("is not a regular file"), std::string::npos);

  const Error nul = error(write("nul.sk", std::string("a\nb\0c", 5)));
  EXPECT_EQ(nul.kind, ErrorKind::Input);
  EXPECT_NE(nul.message.find("NUL at byte 3 (line 2, column 2)"), std::string::npos) << nul.message;

  const Error bad = error(write("bad.sk", "x = 1\ny = \xff\n"));
  EXPECT_NE(bad.message.find("0xff at byte 10 (line 2, column 5)"), std::string::npos) << bad.message;
  EXPECT_NE(error(write("cut.sk", "12345678\xe2\x82")).message.find("0xe2 at byte 8"), std::string::npos);
  EXPECT_NE(error(write("overlong.sk", "\xc0\x80")).message.find("0xc0 at byte 0"), std::string::npos);
  EXPECT_NE(error(write("surrogate.sk", "\xed\xa0\x80")).message.find("0xed at byte 0"), std::string::npos);

  const std::string large = write("large.sk", "");
  fs::resize_file(large, source::kMaxFileBytes + 1);
  EXPECT_NE(error(large).message.find("at most 268435456 are read"), std::string::npos);

  if (::geteuid() != 0) {
    const std::string secret = write("secret.sk", "x");
    ::chmod(secret.c_str(), 0);
    EXPECT_NE(error(secret).message.find("Permission denied"), std::string::npos);
  }
  EXPECT_EQ(sources_.size(), 1u) << "nothing was added";
}

TEST_F(SourceFiles, TakesEmptyFilesAndAllOfUtf8) {
  EXPECT_TRUE(sources_.read(write("empty.sk", "")).has_value());
  EXPECT_TRUE(
      sources_.read(write("utf8.sk", "// ü € \xf0\x9f\x98\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf")).has_value());
}

}  // namespace
}  // namespace skdsl
