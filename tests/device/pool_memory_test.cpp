// When the stream-ordered pool of the host device passes memory of one stream to another.
#include <gtest/gtest.h>

#include "device/device.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::launch;

void no_work() {}

void store(int* to, int value) {
  *to = value;
}

class Pool : public ::testing::Test {
 protected:
  void begin(const PoolPolicy& policy, std::uint64_t schedule_seed = 0) {
    ASSERT_TRUE(device->begin_trial({Launch::async, schedule_seed, 3, policy}));
  }
  OrderedMemory& pool() { return device->ordered_memory(Allocator::pool); }
  Region acquire(int stream, std::size_t bytes = 4000) {
    auto region = pool().acquire(bytes, stream);
    EXPECT_TRUE(region.has_value());
    return region ? *region : Region{};
  }
  void work(int stream) { ASSERT_TRUE(launch(*device, stream, "nothing", no_work, {})); }

  // A region that stream 0 has used, and freed after queued work.
  Region freed() {
    const Region region = acquire(0);
    work(0);
    EXPECT_TRUE(pool().release(region, 0));
    return region;
  }

  std::unique_ptr<Device> device = open_host_device();
};

constexpr std::size_t kWholeSegment = std::size_t{32} << 20;
constexpr PoolPolicy kNothingAllowed{false, false, false, 0};

TEST_F(Pool, TheSameStreamReusesAtOnce) {
  begin(kNothingAllowed);
  const Region region = freed();
  EXPECT_EQ(acquire(0).base, region.base);
}

TEST_F(Pool, AnotherStreamDoesNotWhereNothingIsAllowed) {
  begin(kNothingAllowed);
  const Region region = freed();
  ASSERT_TRUE(device->wait(1, 0));
  EXPECT_NE(acquire(1).base, region.base);
}

TEST_F(Pool, AnotherStreamReusesWhatTheHostHasWaitedFor) {
  begin(kNothingAllowed);
  const Region region = freed();
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(acquire(1).base, region.base);
}

TEST_F(Pool, EventsAreFollowedAlsoThroughAThirdStream) {
  begin({true, false, false, 0});
  const Region region = freed();
  ASSERT_TRUE(device->wait(2, 0));
  ASSERT_TRUE(device->wait(1, 2));
  EXPECT_EQ(acquire(1).base, region.base);
}

TEST_F(Pool, AnEventBeforeTheFreeOrdersNothing) {
  begin({true, false, false, 0});
  const Region region = acquire(0);
  ASSERT_TRUE(device->wait(1, 0));
  work(0);
  ASSERT_TRUE(pool().release(region, 0));
  EXPECT_NE(acquire(1).base, region.base);
}

TEST_F(Pool, OpportunismNeedsTheFreeToHavePassed) {
  // The seed determines how much has run by the time of the request.
  bool reused = false, not_reused = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    begin({false, true, false, 0}, seed);
    std::vector<int> ran(1);
    const Region region = acquire(0);
    ASSERT_TRUE(launch(*device, 0, "store", store, {}, ran.data(), 1));
    ASSERT_TRUE(pool().release(region, 0));
    const bool same = acquire(1).base == region.base;
    EXPECT_EQ(same, ran[0] == 1) << seed;
    (same ? reused : not_reused) = true;
    ASSERT_TRUE(device->synchronize());
  }
  EXPECT_TRUE(reused && not_reused);
}

TEST_F(Pool, AnInternalDependencyMakesTheStreamWait) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    begin({false, false, true, 0}, seed);
    const Region region = acquire(0, kWholeSegment);
    auto* value = reinterpret_cast<int*>(region.base);
    ASSERT_TRUE(launch(*device, 0, "store", store, {}, value, 1));
    ASSERT_TRUE(pool().release(region, 0));
    ASSERT_EQ(acquire(1, kWholeSegment).base, region.base) << "rather than let the pool grow";
    ASSERT_TRUE(launch(*device, 1, "store", store, {}, value, 2));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(*value, 2) << "seed " << seed << ": the second owner was overtaken";
  }
}

TEST_F(Pool, AMergedBlockIsReusedBehindAllItsFrees) {
  for (const bool both : {false, true}) {
    begin({true, false, false, 0});
    const Region a = acquire(0), b = acquire(1);
    ASSERT_EQ(a.base + a.bytes, b.base);
    work(0);
    work(1);
    ASSERT_TRUE(pool().release(a, 0));
    ASSERT_TRUE(pool().release(b, 1));
    ASSERT_TRUE(device->wait(2, 0));
    if (both) {
      ASSERT_TRUE(device->wait(2, 1));
    }
    EXPECT_EQ(acquire(2, 8192).base == a.base, both);
    ASSERT_TRUE(device->synchronize());
  }
}

TEST_F(Pool, ATrialStartsAnewAndMapsNothing) {
  begin({});
  const Region region = freed();
  acquire(1);
  const auto calls = pool().mapping_calls();
  for (int i = 0; i < 3; ++i) {
    begin({});
    EXPECT_EQ(acquire(2).base, region.base);
  }
  EXPECT_EQ(pool().mapping_calls(), calls);
}

}  // namespace
}  // namespace redzone::device
