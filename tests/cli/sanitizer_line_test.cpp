// The line of `doctor` about compute-sanitizer. The proof itself is tested in
// tests/sanitizer/tier_test.cpp.
#include "cli/sanitizer_line.h"

#include <gtest/gtest.h>

namespace redzone::cli {
namespace {

constexpr const char* kTool = "/opt/bin/compute-sanitizer";
constexpr const char* kWithout =
    "memcheck attributes no finding, --sanitizer is an error, bench has no memcheck columns";

Result<void> never() {
  ADD_FAILURE() << "nothing to try it on, or nothing to try";
  return {};
}

TEST(SanitizerLine, AbsentSaysWhatFollows) {
  for (const bool gpu : {false, true}) {
    const auto line = sanitizer_line("", gpu, never);
    EXPECT_FALSE(line.ok);
    EXPECT_EQ(line.found, "not found");
    EXPECT_EQ(line.consequence, kWithout);
  }
}

TEST(SanitizerLine, PresentWithoutAGpuIsNotSaidToWork) {
  const auto line = sanitizer_line(kTool, false, never);
  EXPECT_TRUE(line.ok);
  EXPECT_EQ(line.found, "/opt/bin/compute-sanitizer (not tried: no GPU)");
}

TEST(SanitizerLine, PresentAndProven) {
  int asked = 0;
  const auto line = sanitizer_line(kTool, true, [&]() -> Result<void> {
    ++asked;
    return {};
  });
  EXPECT_TRUE(line.ok);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(report::doctor_text({{line}, true}),
            "ok   compute-sanitizer  /opt/bin/compute-sanitizer: memcheck catches a planted "
            "write\nready\n");
}

TEST(SanitizerLine, PresentAndOfNoUseSaysWhyAndWhatFollows) {
  const auto line = sanitizer_line(kTool, true, []() -> Result<void> {
    return harness_error("memcheck cannot be used here: Device not supported");
  });
  EXPECT_FALSE(line.ok);
  EXPECT_EQ(line.found,
            "/opt/bin/compute-sanitizer: memcheck cannot be used here: Device not supported");
  EXPECT_EQ(line.consequence, kWithout);
  const auto json = report::doctor_json({{line}, true});
  EXPECT_NE(json.find(R"("ok": false)"), std::string::npos) << json;
  EXPECT_NE(json.find("Device not supported"), std::string::npos) << json;
}

}  // namespace
}  // namespace redzone::cli
