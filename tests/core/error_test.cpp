// Propagation of errors.
#include "core/error.h"

#include <gtest/gtest.h>

#include <memory>

namespace redzone {
namespace {

Result<std::unique_ptr<int>> made(bool fails) {
  if (fails) return usage_error("no");
  return std::make_unique<int>(7);
}

TEST(Try, GivesTheValueOrLeavesWithTheError) {
  int reached = 0;
  const auto twice = [&](bool fails) -> Result<int> {
    RZ_TRY(made(fails));
    ++reached;
    RZ_TRY_ASSIGN(const std::unique_ptr<int> seven, made(fails));
    return 2 * *seven;
  };
  EXPECT_EQ(twice(false).value(), 14);
  EXPECT_EQ(reached, 1);
  const auto failed = twice(true);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::usage);
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(reached, 1);
}

TEST(Try, TakesOtherErrorsThanThatOfTheHarness) {
  const auto handed_on = []() -> tl::expected<void, int> {
    RZ_TRY((tl::expected<int, int>(tl::unexpected(3))));
    return {};
  };
  EXPECT_EQ(handed_on().error(), 3);
}

TEST(Try, StandsBehindAnIf) {
  const auto maybe = [](bool asked) -> Result<void> {
    if (asked)
      RZ_TRY(made(true));
    else
      RZ_TRY(made(false));
    return {};
  };
  EXPECT_FALSE(maybe(true));
  EXPECT_TRUE(maybe(false));
}

}  // namespace
}  // namespace redzone
