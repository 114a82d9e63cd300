// A log file while a tool writes to it.
#include "sanitizer/log_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/temporary_folder.h"
#include "sanitizer/new_log.h"

namespace redzone::sanitizer {
namespace {

constexpr const char* kBanner = "========= COMPUTE-SANITIZER\n";
constexpr const char* kRead = "========= Invalid __global__ read of size 4 bytes\n========= \n";

class Log : public testing::Test {
 protected:
  void append(std::string_view text) { std::ofstream(path_, std::ios::app) << text; }

  TemporaryFolder folder_ = TemporaryFolder::create("sanitizer").value();
  std::filesystem::path path_ = new_log(folder_.path()).value();
  LogFile log_{path_};
};

TEST_F(Log, GivesEachRecordOnce) {
  append(kBanner);
  EXPECT_TRUE(log_.read(true).empty());
  append(kRead);
  EXPECT_EQ(log_.read(true).size(), 1u);
  EXPECT_TRUE(log_.read(true).empty());
  append(std::string(kRead) + kRead);
  EXPECT_EQ(log_.read(true).size(), 2u);
  EXPECT_EQ(log_.problem(), "");
}

TEST_F(Log, ARecordThatIsBeingWrittenIsNotLost) {
  append(std::string(kBanner) + "========= Invalid __global__ read of si");
  EXPECT_TRUE(log_.read(false).empty());
  append("ze 4 bytes\n========= \n");
  EXPECT_EQ(log_.read(false).size(), 1u);
}

TEST_F(Log, AnEmptyFileMeansThatTheToolIsNotAtWork) {
  EXPECT_TRUE(log_.read(true).empty());
  EXPECT_NE(log_.problem(), "");
}

TEST_F(Log, AFileThatIsGoneOrCutIsAProblem) {
  LogFile none(folder_.path() / "none");
  EXPECT_TRUE(none.read(true).empty());
  EXPECT_NE(none.problem().find("cannot be read"), std::string::npos);

  append(std::string(kBanner) + kRead);
  EXPECT_EQ(log_.read(true).size(), 1u);
  std::ofstream(path_, std::ios::trunc) << kBanner;
  log_.read(true);
  EXPECT_NE(log_.problem().find("shorter"), std::string::npos);
}

TEST_F(Log, AFloodIsBounded) {
  append(kBanner);
  std::filesystem::resize_file(path_, LogFile::kMostBytes + 4096);  // zeros
  log_.read(true);
  EXPECT_NE(log_.problem().find("grew by"), std::string::npos);
}

TEST(Folder, IsRemovedWithItsFiles) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::create("sanitizer");
    ASSERT_TRUE(folder);
    path = folder->path();
    ASSERT_TRUE(new_log(path));
    EXPECT_NE(new_log(path).value(), new_log(path).value());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(new_log(path));
}

}  // namespace
}  // namespace redzone::sanitizer
