#include "bisect/smallest_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace redzone::bisect {
namespace {

bool contains(const Subset& set, const Subset& part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

// Some of {0 .. n-1}, at least one.
rc::Gen<Subset> part_of(std::size_t n) {
  return rc::gen::map(rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << n),
                      [n](std::uint64_t mask) {
                        Subset set;
                        for (std::size_t i = 0; i < n; ++i)
                          if ((mask >> i & 1) != 0) set.push_back(i);
                        return set;
                      });
}

TEST(SmallestSet, IsExactlyWhatIsNeeded) {
  EXPECT_TRUE(rc::check("of a conjunction all of its parts", [] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 30);
    const Subset needed = *part_of(n);
    RC_ASSERT(smallest_set(n, [&](const Subset& set) { return contains(set, needed); }) == needed);
  }));
}

TEST(SmallestSet, LosesNothingWithoutLosingAll) {
  EXPECT_TRUE(rc::check("1-minimal for any monotone rule", [] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 16);
    const auto either = *rc::gen::container<std::vector<Subset>>(3, part_of(n));
    const auto holds = [&](const Subset& set) {
      return std::any_of(either.begin(), either.end(),
                         [&](const Subset& part) { return contains(set, part); });
    };
    const Subset found = smallest_set(n, holds);
    RC_ASSERT(holds(found));
    for (std::size_t i = 0; i < found.size() && found.size() > 1; ++i) {
      Subset less = found;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      RC_ASSERT(!holds(less));
    }
  }));
}

TEST(SmallestSet, HasAComplement) {
  EXPECT_EQ(complement(5, {1, 3}), (Subset{0, 2, 4}));
  EXPECT_EQ(complement(2, {0, 1}), Subset{});
}

}  // namespace
}  // namespace redzone::bisect
