#include "generators/internal/space.h"

#include <gtest/gtest.h>

#include "core/validate.h"
#include "generators/internal/draw.h"
#include "generators/internal/stages.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::chain_spec;

bool structurally_valid(const Space& space, const Point& p) {
  for (std::size_t d = 0; d < p.size(); ++d)
    if (!allows(space.dim(d), p[d])) return false;
  const Dims dims = space.dims(p);
  for (const auto& c : space.spec().constraints) {
    const auto a = get(dims, c.a), b = get(dims, c.b);
    if (c.kind == Constraint::Kind::divides ? a == 0 || b % a != 0 : a > b) return false;
  }
  return true;
}

TEST(Space, AllowedValuesOfARangeWithAMultiple) {
  const DimSpec dim{.name = "N", .min = 5, .max = 30, .multiple_of = 4};
  EXPECT_EQ(smallest(dim), 8);
  EXPECT_EQ(largest(dim), 28);
  EXPECT_EQ(allowed_at_most(dim, 27), 24);
  EXPECT_EQ(allowed_at_most(dim, 7), std::nullopt);
  EXPECT_EQ(allowed_at_least(dim, -3), 8);
  EXPECT_EQ(allowed_at_least(dim, 29), std::nullopt);
  EXPECT_EQ(rank_of(dim, 16), 2);
}

TEST(Space, AllowedValuesOfAList) {
  const DimSpec dim{.name = "C", .values = {16, 32, 64}};
  EXPECT_EQ(allowed_at_most(dim, 63), 32);
  EXPECT_EQ(allowed_at_most(dim, 15), std::nullopt);
  EXPECT_EQ(allowed_at_least(dim, 33), 64);
  EXPECT_EQ(rank_of(dim, 64), 2);
}

TEST(Space, DimsAndPointsAreInverse) {
  TargetSpec spec;
  spec.dims = {{.name = "z"}, {.name = "a"}, {.name = "m"}};
  const Space space(spec);
  const Point p = {3, 1, 2};
  EXPECT_EQ(get(space.dims(p), "z"), 3);
  EXPECT_EQ(space.point(space.dims(p)), p);
}

// Compared with all values of the dim, one by one.
TEST(Space, FittingValueIsTheNearestThatSuitsTheOtherDims) {
  const TargetSpec spec = chain_spec();
  const Space space(spec);
  Draw draw{rc::Random(11)};
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    Point p = space.smallest_point();
    for (std::size_t d = 0; d < p.size(); ++d)
      p[d] = *allowed_at_most(space.dim(d),
                              draw.in_range(smallest(space.dim(d)), largest(space.dim(d))));
    ASSERT_TRUE(space.repair(p, 0));
    const std::size_t dim = draw.index(p.size());
    const auto want = draw.in_range(-5, 600);
    std::optional<std::int64_t> below, above, zero;
    for (auto v = smallest(space.dim(dim)); v <= largest(space.dim(dim)); ++v) {
      Point q = p;
      q[dim] = v;
      if (!structurally_valid(space, q)) continue;
      if (v == 0 && want != 0)
        zero = v;
      else if (v <= want)
        below = v;
      else if (!above)
        above = v;
    }
    const auto expected = below ? below : above ? above : zero;
    EXPECT_EQ(space.fitting_value(p, dim, want), expected);
    found += expected.has_value();
  }
  EXPECT_GT(found, 1000);
}

TEST(Space, RepairGivesValidPointsAndKeepsWhatIsPinned) {
  const TargetSpec spec = chain_spec();
  const Space space(spec);
  Draw draw{rc::Random(12)};
  int repaired = 0;
  for (int i = 0; i < 2000; ++i) {
    Point p = space.smallest_point();
    for (std::size_t d = 0; d < p.size(); ++d)
      p[d] = *allowed_at_most(space.dim(d),
                              draw.in_range(smallest(space.dim(d)), largest(space.dim(d))));
    const std::size_t dim = draw.index(p.size());
    const auto value = p[dim];
    if (!space.repair(p, dim_bit(dim))) continue;
    ++repaired;
    EXPECT_EQ(p[dim], value);
    EXPECT_TRUE(structurally_valid(space, p));
  }
  EXPECT_GT(repaired, 1500);
}

TEST(DescendingChoices, StartAtTheFloorAndEndJustBelow) {
  for (std::int64_t value : {1, 2, 3, 64, 65, 100, 4095, 4096}) {
    const auto choices = descending_choices(value, 0, 0);
    ASSERT_FALSE(choices.empty());
    EXPECT_EQ(choices.front(), 0);
    EXPECT_NE(std::find(choices.begin(), choices.end(), value - 1), choices.end());
    for (auto c : choices) EXPECT_LT(c, value);
  }
  EXPECT_TRUE(descending_choices(7, 7, 0).empty());
  EXPECT_EQ(descending_choices(100, 60, 0),
            (std::vector<std::int64_t>{60, 64, 65, 63, 95, 99, 75, 80, 90}));
}

// The failure shows for multiples of `factor` above `above`.
TEST(DescendingChoices, KeepAFactor) {
  for (const auto& [start, factor, above] :
       {std::tuple{6576, 48, 500}, std::tuple{7 * 1000, 7, 20}, std::tuple{96 * 40, 96, 95}}) {
    std::int64_t value = start;
    for (bool again = true; again;) {
      again = false;
      for (auto c : descending_choices(value, 1, 0)) {
        if (c % factor != 0 || c <= above) continue;
        value = c;
        again = true;
        break;
      }
    }
    EXPECT_EQ(value, (above / factor + 1) * factor) << start;
  }
}

// Cost of finding a threshold for a caller that caches results: one number per octave to find its
// magnitude, at most two per bit after that.
TEST(DescendingChoices, FindAThresholdInLogarithmicallyManySteps) {
  for (std::int64_t threshold : {5, 66, 100, 4000, 1 << 30}) {
    std::set<std::int64_t> tried;
    std::int64_t value = (std::int64_t{1} << 31) - 12345;
    for (bool again = true; again;) {
      again = false;
      for (auto c : descending_choices(value, 0, 0)) {
        tried.insert(c);
        if (c < threshold) continue;
        value = c;
        again = true;
        break;
      }
    }
    EXPECT_EQ(value, threshold);
    EXPECT_LE(tried.size(), 2 * 31 + 2 * 31u);
  }
}

}  // namespace
}  // namespace redzone::generators
