#include "core/build_environment.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TEST(BuildEnvironment, JoinsWhatIsGivenAndWhatIsFound) {
  const Environment e = collect_environment("NVIDIA H100", "580.1", 90, "13.0", "c0de");
  EXPECT_EQ(e.device, "NVIDIA H100");
  EXPECT_EQ(e.driver, "580.1");
  EXPECT_EQ(e.compute_capability, 90);
  EXPECT_EQ(e.nvrtc, "13.0");
  EXPECT_EQ(e.code_hash, "c0de");
  EXPECT_EQ(e.host.rfind("Linux ", 0), 0u) << e.host;
  EXPECT_EQ(e.toolkit, build_toolkit());
  EXPECT_NE(e.toolkit.find(std::to_string(__GNUC__)), std::string::npos);
  EXPECT_EQ(e.redzone_version, redzone_version());
  EXPECT_FALSE(e.redzone_version.empty());
}

}  // namespace
}  // namespace redzone
