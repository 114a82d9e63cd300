// Interleavings of streams: a few seeds cover every class of order.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <map>
#include <string>

#include "tests/device/append_kernel.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::append;
using testing::Buffer;
using testing::host_device;
using testing::launch;
using testing::read;
using testing::zero;

// The position of the short stream's one operation among the long stream's twelve.
std::string order_class(std::uint64_t seed, bool short_first) {
  constexpr int kLong = 12;
  auto device = host_device(seed, 2);
  Buffer<int> log(*device, 2 + kLong);
  zero(*device, log);
  EXPECT_TRUE(device->wait(1, 0));
  EXPECT_TRUE(device->synchronize());
  EXPECT_TRUE(device->hold());
  const auto one = [&] {
    EXPECT_TRUE(launch(*device, 1, "append", append, {{1}, {1}}, log.data(), 99));
  };
  if (short_first) one();
  for (int i = 0; i < kLong; ++i)
    EXPECT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), i));
  if (!short_first) one();
  EXPECT_TRUE(device->open());
  EXPECT_TRUE(device->synchronize());
  const auto ran = read(*device, log.data() + 1, log.data()[0]);
  const auto at = std::find(ran.begin(), ran.end(), 99) - ran.begin();
  return at == 0 ? "first" : at == kLong ? "last" : "between";
}

TEST(StreamPolicy, AShortQueueMeetsALongOneInEachOrder) {
  for (const bool short_first : {false, true}) {
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) ++seen[order_class(seed, short_first)];
    EXPECT_GE(seen["first"], 10);
    EXPECT_GE(seen["last"], 10);
    EXPECT_GE(seen["between"], 10);
  }
}

TEST(StreamPolicy, SeedZeroIsTheOrderOfEnqueueing) {
  EXPECT_EQ(order_class(0, false), "last");
  EXPECT_EQ(order_class(0, true), "first");
}

}  // namespace
}  // namespace redzone::device
