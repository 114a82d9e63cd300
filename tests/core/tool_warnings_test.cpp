// What a campaign counts of the warnings of a tool.
#include "core/tool_warnings.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace redzone {
namespace {

SanitizerRecord warning_at(int line, const char* thread = "0,0,0") {
  SanitizerRecord record;
  record.kind = "absent-lane";
  record.warning = true;
  record.kernel = "sum";
  record.location = fmt::format("sum.cu:{}", line);
  record.thread = thread;
  return record;
}

TEST(ToolWarnings, AreCountedByPlace) {
  SanitizerRecord later = warning_at(8, "3,0,0");
  later.call = 2;
  ToolWarnings warnings;
  warnings.add({SanitizerTool::sync, {warning_at(8), later, warning_at(9)}, 0, ""});
  warnings.add({SanitizerTool::sync, {warning_at(8)}, 0, ""});
  const std::vector<ToolWarning> wanted{{SanitizerTool::sync, "absent lane in sum at sum.cu:8", 2},
                                        {SanitizerTool::sync, "absent lane in sum at sum.cu:9", 1}};
  EXPECT_EQ(warnings.seen(), wanted);
  EXPECT_EQ(warnings.others(), 0u);
}

TEST(ToolWarnings, AreNoErrors) {
  SanitizerRecord error = warning_at(8);
  error.warning = false;
  ToolWarnings warnings;
  warnings.add({SanitizerTool::sync, {error}, 0, ""});
  EXPECT_TRUE(warnings.seen().empty());
}

TEST(ToolWarnings, AreBounded) {
  ToolWarnings warnings;
  for (int line = 0; line < 100; ++line)
    warnings.add({SanitizerTool::sync, {warning_at(line), warning_at(line + 1)}, 0, ""});
  EXPECT_EQ(warnings.seen().size(), ToolWarnings::kMost);
  EXPECT_EQ(warnings.seen()[1].reports, 2u);
  // The first of these has one that is told and one that is not.
  EXPECT_EQ(warnings.others(), 100 - (ToolWarnings::kMost - 1));
}

}  // namespace
}  // namespace redzone
