// Launches: limits and variants.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::host_device;
using testing::launch;

__global__ void nothing() {}

TEST(Launch, LaunchesOutsideTheLimitsAreRefused) {
  auto device = host_device();
  struct Case {
    LaunchShape shape;
    const char* says;
  };
  const Case cases[] = {
      {{{0}, {1}}, "grid.x is 0"},
      {{{-1}, {1}}, "grid.x is -1"},
      {{{2147483648}, {1}}, "grid.x is 2147483648"},
      {{{1, 65536}, {1}}, "grid.y is 65536"},
      {{{1, 1, 65536}, {1}}, "grid.z is 65536"},
      {{{1}, {0}}, "block.x is 0"},
      {{{1}, {1025}}, "block.x is 1025"},
      {{{1}, {1, 1, 65}}, "block.z is 65"},
      {{{1}, {512, 4}}, "threads of a block is 2048"},
      {{{1}, {1}, 232449}, "232449 bytes"},
  };
  for (const Case& c : cases) {
    const auto refused = launch(*device, 0, "nothing", nothing, c.shape);
    ASSERT_FALSE(refused.has_value()) << c.says;
    EXPECT_EQ(refused.error().kind, Failure::Kind::launch_refused);
    EXPECT_EQ(refused.error().code, "invalid-launch");
    EXPECT_NE(refused.error().detail.find(c.says), std::string::npos) << refused.error().detail;
    EXPECT_NE(refused.error().detail.find("nothing"), std::string::npos);
  }
  EXPECT_TRUE(launch(*device, 0, "nothing", nothing, {{1}, {1024}, 232448}));
  EXPECT_TRUE(device->synchronize()) << "the device lives";
}

TEST(Launch, AVariantIsItsHostInstance) {
  auto device = host_device();
  VariantRequest request;
  request.name = "nothing";
  request.expression = "nothing<4>";
  const auto missing = device->variant(request);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, Failure::Kind::unsupported);
  request.host = kernel_ref("nothing", nothing);
  const auto found = device->variant(request);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(device->launch(0, *found, {{1}, {1}}, {}));
  EXPECT_TRUE(device->synchronize());
}

}  // namespace
}  // namespace redzone::device
