// Results that cannot be written.
#include "cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace redzone::cli {
namespace {

std::string read_all(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = ::read(fd, chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(n));
  return text;
}

TEST(Results, AreWrittenInFullWithControlCharactersEscaped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Results results(ends[1]);
  results.print("one\n");
  results.print("t\x1bwo\n");
  ::close(ends[1]);
  EXPECT_EQ(results.problem(), 0);
  EXPECT_EQ(read_all(ends[0]), "one\nt\\x1bwo\n");
  ::close(ends[0]);
}

TEST(Results, AFullDiskIsRemembered) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  Results results(full);
  EXPECT_EQ(results.problem(), 0);
  results.print("one\n");
  EXPECT_EQ(results.problem(), ENOSPC);
  ::close(full);
  results.print("two\n");
  EXPECT_EQ(results.problem(), ENOSPC);  // the first error; nothing is written after it
}

TEST(Results, AReaderThatWentAwayIsRemembered) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  Results results(ends[1]);
  results.print("one\n");
  EXPECT_EQ(results.problem(), EPIPE);
  ::close(ends[1]);
}

}  // namespace
}  // namespace redzone::cli
