#include "core/tool_output.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <string>

namespace redzone {
namespace {

using std::chrono::seconds;

constexpr ToolLimits kLimits{.time = seconds(60), .bytes = 1000};

ToolOutput shell(const std::string& script, ToolLimits limits = kLimits) {
  return ToolOutput::start({"sh", "-c", script}, limits).value();
}

std::string output_of(ToolOutput tool) {
  tool.wait({});
  return tool.text();
}

TEST(ToolOutput, HasAllThatIsPrinted) {
  EXPECT_EQ(output_of(shell("echo one; echo two >&2; exit 3")), "one\ntwo\n");
  EXPECT_EQ(output_of(shell("printf '\\000x'")), std::string("\0x", 2));
  EXPECT_EQ(output_of(shell("echo one; kill -SEGV $$")), "one\n");
}

TEST(ToolOutput, HasNoMoreThanTheLimit) {
  EXPECT_EQ(output_of(shell("yes", {.time = seconds(60), .bytes = 5})), "y\ny\ny");
  EXPECT_EQ(output_of(shell("echo one; exec sleep 60",
                            {.time = std::chrono::milliseconds(300), .bytes = 1000})),
            "one\n");
}

TEST(ToolOutput, TheStandardInputIsEmpty) {
  EXPECT_EQ(output_of(shell("cat; echo end")), "end\n");
}

TEST(ToolOutput, IsReadWithoutWaiting) {
  ToolOutput tool = shell("exec sleep 60");
  EXPECT_FALSE(tool.is_complete());
  int asked = 0;
  tool.wait([&] { return ++asked == 3; });
  EXPECT_EQ(asked, 3);
}

TEST(ToolOutput, EndsTheTool) {
  pid_t pid = -1;
  {
    ToolOutput tool = shell("echo $$; exec sleep 60");
    tool.wait([&] { return !tool.text().empty(); });
    pid = std::stoi(tool.text());
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(ToolOutput, AToolThatCannotBeRunIsAnError) {
  const auto tool = ToolOutput::start({"/no/such/tool"}, kLimits);
  ASSERT_FALSE(tool);
  EXPECT_EQ(tool.error().message, "/no/such/tool: No such file or directory");
}

}  // namespace
}  // namespace redzone
