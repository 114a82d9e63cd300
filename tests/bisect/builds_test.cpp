#include "bisect/builds.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <set>

namespace redzone::bisect {
namespace {

const statistics::Rates kRates = statistics::rates_for(10, 10, 0.001, 1e-4);

// Builds from `first_bad` on fail; those of `skipped` do not load, those of `differing` fail
// otherwise.
class Builds {
 public:
  Builds(std::size_t first_bad, std::set<std::size_t> skipped, std::set<std::size_t> differing = {})
      : first_bad_(first_bad), skipped_(std::move(skipped)), differing_(std::move(differing)) {}
  BuildProbe operator()(std::size_t build) {
    ++tried;
    if (skipped_.contains(build)) return {{}, "does not load"};
    Probe probe;
    if (differing_.contains(build)) return {{Answer::differs, {.other = 9}}, ""};
    const bool bad = build >= first_bad_;
    probe.answer = bad ? Answer::fails : Answer::passes;
    (bad ? probe.counts.same : probe.counts.passed) = bad ? 1 : 9;
    return {probe, ""};
  }
  std::size_t tried = 0;

 private:
  std::size_t first_bad_;
  std::set<std::size_t> skipped_, differing_;
};

FirstBad search(std::size_t n, Builds& builds) {
  return find_first_bad(
      n, [&](std::size_t i) { return builds(i); }, [] { return kRates; });
}

TEST(FirstBad, IsFoundInLogarithmicallyManySteps) {
  EXPECT_TRUE(rc::check("for any list", [] {
    const auto n = *rc::gen::inRange<std::size_t>(2, 200);
    const auto first = *rc::gen::inRange<std::size_t>(1, n);
    Builds builds(first, {});
    const auto found = search(n, builds);
    RC_ASSERT(found.first_bad == first);
    RC_ASSERT(found.last_good == first - 1);
    RC_ASSERT(found.confidence > 0.9);
    RC_ASSERT(builds.tried <= 3 + static_cast<std::size_t>(std::ceil(std::log2(n))));
  }));
}

TEST(FirstBad, LeavesOutWhatDoesNotLoadAndSaysSo) {
  EXPECT_TRUE(rc::check("the first bad one, or what lies before it", [] {
    const auto n = *rc::gen::inRange<std::size_t>(3, 40);
    const auto first = *rc::gen::inRange<std::size_t>(1, n);
    auto skipped = *rc::gen::container<std::set<std::size_t>>(*rc::gen::inRange<std::size_t>(0, 3),
                                                              rc::gen::inRange<std::size_t>(1, n));
    skipped.erase(n - 1);
    Builds builds(first, skipped);
    const auto found = search(n, builds);
    RC_ASSERT(found.first_bad && found.last_good);
    RC_ASSERT(*found.last_good < first && *found.first_bad >= first);
    for (auto i = *found.last_good + 1; i < *found.first_bad; ++i) RC_ASSERT(skipped.contains(i));
    RC_ASSERT(found.between.size() == *found.first_bad - *found.last_good - 1);
    RC_ASSERT(found.confidence > 0.9);
  }));
}

TEST(FirstBad, NeedsABadEndAndAGoodBeginning) {
  Builds good(9, {});
  EXPECT_FALSE(search(5, good).first_bad);
  EXPECT_EQ(good.tried, 1u);
  Builds bad(0, {});
  const auto all = search(5, bad);
  EXPECT_EQ(all.first_bad, 0u);
  EXPECT_FALSE(all.last_good);
  Builds none(0, {0, 1, 2});
  EXPECT_FALSE(search(3, none).first_bad);
}

// Wrong outputs without the recorded overrun are no sign of a good build, nor of a bad one.
TEST(FirstBad, ABuildThatFailsOtherwiseDecidesNothing) {
  Builds all(4, {}, {2, 3, 4});
  const auto none = search(5, all);
  EXPECT_FALSE(none.first_bad);
  ASSERT_NE(none.differing(), nullptr);
  EXPECT_EQ(none.differing()->build, 4u);
  Builds some(3, {}, {2});
  const auto found = search(4, some);
  EXPECT_EQ(found.last_good, 1u);
  EXPECT_EQ(found.first_bad, 3u);
  EXPECT_EQ(found.between, std::vector<std::size_t>{2});
  const auto& differing = *found.differing();
  EXPECT_EQ(differing.build, 2u);
  for (std::size_t i = 1; i < found.path.size(); ++i)
    if (found.path[i].build == 2) {
      EXPECT_EQ(found.path[i].confidence, found.path[i - 1].confidence);
    }
}

TEST(FirstBad, GainsConfidenceAlongThePath) {
  Builds builds(5, {});
  const auto found = search(16, builds);
  ASSERT_GT(found.path.size(), 3u);
  EXPECT_LT(found.path[1].confidence, 0.5);
  EXPECT_EQ(found.path.back().likely, 5u);
  EXPECT_NEAR(found.path.back().confidence, found.confidence, 1e-9);
}

}  // namespace
}  // namespace redzone::bisect
