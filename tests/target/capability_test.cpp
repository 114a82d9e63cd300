// Requirements of a target that a device lacks; checked only for devices with the corresponding
// trait.
#include "target/capability.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TargetSpec spec_for(int capability) {
  TargetSpec spec{.name = "t"};
  spec.needs_nvrtc = true;
  spec.min_compute_capability = capability;
  return spec;
}

TEST(SupportProblem, IsAskedOfDevicesThatHaveACapabilityAndNvrtc) {
  DeviceTraits device = traits_of(DeviceKind::cuda);
  EXPECT_EQ(support_problem(spec_for(90), device, 90, "13.0"), std::nullopt);
  EXPECT_EQ(support_problem(spec_for(90), device, 80, ""), "NVRTC is not installed");
  EXPECT_EQ(support_problem(spec_for(90), device, 80, "13.0"),
            "needs compute capability 9.0, the device has 8.0");

  device.targets.needs_nvrtc = false;
  EXPECT_EQ(support_problem(spec_for(90), device, 90, ""), std::nullopt);
  EXPECT_TRUE(support_problem(spec_for(90), device, 80, ""));

  device.targets.checks_compute_capability = false;
  EXPECT_EQ(support_problem(spec_for(90), device, 0, ""), std::nullopt);
}

TEST(SupportProblem, IsNoneWithoutAGpu) {
  for (const auto kind : {DeviceKind::host, DeviceKind::dry_run})
    EXPECT_EQ(support_problem(spec_for(90), traits_of(kind), 0, ""), std::nullopt);
}

}  // namespace
}  // namespace redzone
