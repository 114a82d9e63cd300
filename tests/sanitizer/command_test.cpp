// The command line of the tool.
#include "sanitizer/command.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace redzone::sanitizer {
namespace {

std::string line(SanitizerTool tool, const char* log = "/tmp/l") {
  return fmt::format("{}", fmt::join(command_prefix("/opt/cs", tool, log), " "));
}

TEST(Command, HasWhatEachToolNeeds) {
  const std::string common =
      " --destroy-on-device-error kernel --print-limit 1000 --show-backtrace device "
      "--target-processes application-only --log-file /tmp/l";
  EXPECT_EQ(line(SanitizerTool::memcheck),
            "/opt/cs --tool memcheck" + common +
                " --track-stream-ordered-races all --report-api-errors no");
  EXPECT_EQ(line(SanitizerTool::racecheck),
            "/opt/cs --tool racecheck" + common + " --racecheck-report analysis");
  EXPECT_EQ(line(SanitizerTool::initcheck), "/opt/cs --tool initcheck" + common);
  EXPECT_EQ(line(SanitizerTool::synccheck), "/opt/cs --tool synccheck" + common);
}

TEST(Command, APercentSignInThePathIsItself) {
  EXPECT_NE(line(SanitizerTool::memcheck, "/tmp/50%p").find("/tmp/50%%p"), std::string::npos);
}

}  // namespace
}  // namespace redzone::sanitizer
