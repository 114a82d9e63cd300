#include "core/write_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "core/temporary_folder.h"

namespace redzone {
namespace {
namespace fs = std::filesystem;

class WriteFile : public ::testing::Test {
 protected:
  std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir()), {}));
  }
  const fs::path& dir() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_ = TemporaryFolder::create("write-file").value();
};

TEST_F(WriteFile, ReplacesAllOfIt) {
  const fs::path path = dir() / "f";
  EXPECT_TRUE(write_file(path, "long before"));
  fs::permissions(path, fs::perms(0640));
  EXPECT_TRUE(write_file(path, std::string_view("a\0b", 3)));
  EXPECT_EQ(contents(path), std::string("a\0b", 3));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, FollowsALinkAndKeepsIt) {
  EXPECT_TRUE(write_file(dir() / "f", "old"));
  fs::create_symlink("f", dir() / "link");
  EXPECT_TRUE(write_file(dir() / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(dir() / "link"));
  EXPECT_EQ(contents(dir() / "f"), "new");
}

TEST_F(WriteFile, KeepsWhatWasThereWhereThereIsNoRoom) {
  const fs::path path = dir() / "f";
  ASSERT_TRUE(write_file(path, "old"));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 100;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto written = write_file(path, std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, path.string() + ": cannot be written: File too large");
  EXPECT_EQ(written.error().kind, ErrorKind::harness);
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, NamesWhatIsWrong) {
  const auto none = write_file(dir() / "no" / "f", "x");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            (dir() / "no" / "f").string() + ": cannot be written: No such file or directory");
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
  EXPECT_FALSE(write_file(dir(), "x")) << "a folder";
  const auto full = write_file("/dev/full", std::string(100'000, 'x'));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::harness);
  EXPECT_TRUE(write_file("/dev/null", "x"));
}

}  // namespace
}  // namespace redzone
