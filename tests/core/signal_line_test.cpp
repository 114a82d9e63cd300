#include "core/signal_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace redzone {
namespace {

TEST(SignalLine, HasTextsAndNumbers) {
  SignalLine line;
  line << "a " << 0 << " b " << -17 << " c " << std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(line.text(), "a 0 b -17 c -9223372036854775808");
}

TEST(SignalLine, KeepsWhatFitsAndItsLineFeed) {
  SignalLine line;
  for (int i = 0; i < 3000; ++i) line << "x";
  EXPECT_EQ(line.text(), std::string(2048, 'x'));
  ::testing::internal::CaptureStderr();
  line.print(STDERR_FILENO);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), std::string(2048, 'x') + "\n");
}

}  // namespace
}  // namespace redzone
