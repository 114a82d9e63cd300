// Files named by the user.
#include "core/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/temporary_folder.h"

namespace redzone {
namespace {

class ReadFile : public ::testing::Test {
 protected:
  // The error message, "" if the file can be read.
  static std::string problem(const std::filesystem::path& file) {
    const auto text = read_file(file);
    if (text) return "";
    EXPECT_EQ(text.error().kind, ErrorKind::usage);
    return text.error().message.substr(file.string().size());
  }

  const TemporaryFolder made_ = TemporaryFolder::create("read").value();
  const std::filesystem::path folder_ = made_.path();
};

TEST_F(ReadFile, GivesTheBytes) {
  const std::string bytes("a\0\r\n\xff", 5);
  std::ofstream(folder_ / "f", std::ios::binary) << bytes;
  EXPECT_EQ(*read_file(folder_ / "f"), bytes);
  std::ofstream(folder_ / "empty") << "";
  EXPECT_EQ(*read_file(folder_ / "empty"), "");
}

TEST_F(ReadFile, WaitsForNothingThatMayNeverEnd) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(problem(folder_ / "pipe"), ": is not a regular file");
  EXPECT_EQ(problem("/dev/zero"), ": is not a regular file");
  EXPECT_EQ(problem(folder_), ": is a folder, not a file");
  EXPECT_EQ(problem(folder_ / "absent"), ": no such file");
}

TEST_F(ReadFile, RefusesWhatIsLargerThanAnyPlan) {
  std::ofstream(folder_ / "large") << "";
  std::filesystem::resize_file(folder_ / "large", std::uintmax_t{64} << 20);
  EXPECT_EQ(problem(folder_ / "large"), "");
  std::filesystem::resize_file(folder_ / "large", (std::uintmax_t{64} << 20) + 1);
  EXPECT_EQ(problem(folder_ / "large"), ": larger than 64 MiB");
}

}  // namespace
}  // namespace redzone
