// What the checks of kernels keep of what they see.
#include "device/host/sighting_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace redzone::device {
namespace {

struct Seen : SightingCheck {
  void at(std::size_t line, bool warning) {
    Sighting sighting = here(warning ? "absent-lane" : "unnamed-lane");
    sighting.warning = warning;
    sighting.location = "k.cu:" + std::to_string(line);
    see(std::move(sighting));
  }
};

TEST(SightingCheck, CountsWhatIsSeenAgain) {
  Seen seen;
  for (int i = 0; i < 3; ++i) seen.at(7, false);
  const auto taken = seen.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].count, 3u);
  EXPECT_TRUE(seen.take().empty());
}

TEST(SightingCheck, WarningsKeepNoFailureFromBeingReported) {
  Seen seen;
  for (std::size_t i = 0; i < 2 * SightingCheck::kMost; ++i) seen.at(i, true);
  seen.at(7, false);
  const auto taken = seen.take();
  EXPECT_EQ(taken.size(), SightingCheck::kMost + 1);
  EXPECT_FALSE(taken.back().warning);
}

}  // namespace
}  // namespace redzone::device
