#include "device/host/order.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace redzone::device {
namespace {

std::vector<std::uint64_t> visited(Walk walk) {
  std::vector<std::uint64_t> all;
  while (!walk.done()) all.push_back(walk.next());
  return all;
}

TEST(Walk, VisitsEachOnceForEverySizeAndSeed) {
  for (std::uint64_t n : {0, 1, 2, 3, 7, 31, 32, 64, 1000, 1024, 1031, 2062, 5000})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng rng(seed);
      const auto all = visited(Walk(n, rng));
      EXPECT_EQ(all.size(), n);
      EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), n) << n << " " << seed;
      for (std::uint64_t i : all) EXPECT_LT(i, n);
    }
}

TEST(Walk, SeedZeroIsTheNaturalOrder) {
  Rng rng(0);
  EXPECT_EQ(visited(Walk(5, rng)), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Walk, SeedsGiveNaturalReversedAndScatteredOrders) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    Rng rng(seed);
    orders.insert(visited(Walk(64, rng)));
  }
  std::vector<std::uint64_t> natural, reversed;
  for (std::uint64_t i = 0; i < 64; ++i) {
    natural.push_back(i);
    reversed.push_back(63 - i);
  }
  EXPECT_TRUE(orders.contains(natural));
  EXPECT_TRUE(orders.contains(reversed));
  EXPECT_GT(orders.size(), 10u);
}

TEST(StartOrder, StartsEachBlockOnceAndOvertakesOnlyWithinAWindow) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    StartOrder order(1000, 64, rng);
    std::set<std::uint64_t> seen;
    while (!order.done()) {
      const std::uint64_t block = order.next(rng);
      EXPECT_LT(block, 1000u);
      EXPECT_EQ(block / 64, seen.size() / 64);
      seen.insert(block);
    }
    EXPECT_EQ(seen.size(), 1000u);
  }
}

TEST(Walk, DoesNotOverflowForTheLargestGrid) {
  const std::uint64_t n = std::uint64_t{2147483647} * 65535 * 65535;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Walk walk(n, rng);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t at = walk.next();
      EXPECT_LT(at, n);
      seen.insert(at);
    }
    EXPECT_EQ(seen.size(), 1000u);
  }
}

}  // namespace
}  // namespace redzone::device
