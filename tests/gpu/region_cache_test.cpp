// The cache of regions over a source that only counts.
#include "device/cuda/region_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace redzone::device::cuda {
namespace {

constexpr std::size_t kUnit = 4096;

// Regions at addresses that are never used twice.
class CountingSource final : public RegionSource {
 public:
  explicit CountingSource(std::map<std::byte*, std::size_t>& live) : live_(live) {}
  std::size_t rounded(std::size_t bytes) const override {
    return (bytes + kUnit - 1) / kUnit * kUnit;
  }
  Status<Region> create(std::size_t bytes) override {
    const Region region{next_, bytes};
    next_ += bytes + kUnit;
    live_[region.base] = bytes;
    return region;
  }
  void destroy(Region region) override {
    EXPECT_EQ(live_.at(region.base), region.bytes);
    live_.erase(region.base);
  }

 private:
  std::map<std::byte*, std::size_t>& live_;
  std::byte* next_ = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
};

class Cache : public ::testing::Test {
 protected:
  static constexpr std::size_t kIdleBytes = 64 * kUnit;

  RegionCache make(std::size_t most_times = 2) {
    return {
        [this](std::uint64_t&) { return std::make_unique<CountingSource>(live); },
        []() -> Status<void> { return {}; },
        {.region_bytes = std::size_t{1} << 30, .idle_bytes = kIdleBytes, .most_times = most_times}};
  }
  std::map<std::byte*, std::size_t> live;  // regions of the source, in use or idle
};

TEST_F(Cache, GivesTheSmallestIdleRegionThatFits) {
  RegionCache cache = make();
  const Region ten = *cache.acquire(10 * kUnit), six = *cache.acquire(6 * kUnit);
  cache.release(ten);
  cache.release(six);
  EXPECT_EQ(cache.acquire(5 * kUnit + 1)->base, six.base);
  EXPECT_EQ(cache.acquire(5 * kUnit)->base, ten.base);
  EXPECT_EQ(live.size(), 2u);
}

TEST_F(Cache, GivesNoneOfMoreThanTwiceTheSize) {
  RegionCache cache = make();
  const Region nine = *cache.acquire(9 * kUnit);
  cache.release(nine);
  const Region four = *cache.acquire(4 * kUnit);
  EXPECT_EQ(four.bytes, 4 * kUnit);
  EXPECT_NE(four.base, nine.base);
}

TEST_F(Cache, GivesTheExactSizeWhereThatIsAskedFor) {
  RegionCache cache = make(1);
  cache.release(*cache.acquire(5 * kUnit));
  EXPECT_EQ(cache.acquire(4 * kUnit)->bytes, 4 * kUnit);
  EXPECT_EQ(cache.acquire(5 * kUnit)->bytes, 5 * kUnit);
  EXPECT_EQ(live.size(), 2u);
}

TEST_F(Cache, KeepsTheSmallRegionsWhenItShrinks) {
  RegionCache cache = make();
  std::vector<Region> held;
  for (int i = 0; i < 30; ++i) held.push_back(*cache.acquire(kUnit));
  held.push_back(*cache.acquire(100 * kUnit));
  held.push_back(*cache.acquire(40 * kUnit));
  for (const Region& region : held) cache.release(region);
  cache.shrink();
  EXPECT_EQ(live.size(), 30u);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(cache.acquire(kUnit).has_value());
  EXPECT_EQ(live.size(), 30u);
}

TEST_F(Cache, NeverGivesARegionTwiceOrOneThatIsTooSmall) {
  rc::check([this](const std::vector<std::uint8_t>& steps) {
    {
      RegionCache cache = make();
      std::map<std::byte*, Region> held;
      for (const auto step : steps) {
        if (step % 3 == 0 && !held.empty()) {
          cache.release(held.begin()->second);
          held.erase(held.begin());
        } else if (step % 7 == 0) {
          cache.shrink();
          std::size_t idle = 0;
          for (const auto& [base, bytes] : live) idle += held.contains(base) ? 0 : bytes;
          RC_ASSERT(idle <= kIdleBytes);
        } else {
          const std::size_t bytes = std::size_t{step} * 1000 + 1;
          const auto region = cache.acquire(bytes);
          RC_ASSERT(region.has_value());
          RC_ASSERT(region->bytes >= bytes);
          RC_ASSERT(region->bytes <= 2 * (bytes + kUnit));
          RC_ASSERT(live.at(region->base) == region->bytes);
          RC_ASSERT(held.emplace(region->base, *region).second);
        }
      }
      for (const auto& [base, region] : held) cache.release(region);
    }
    RC_ASSERT(live.empty());
  });
}

}  // namespace
}  // namespace redzone::device::cuda
