#include "bisect/choices.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

namespace redzone::bisect {
namespace {

const std::vector<Choice> kChoices{
    {"side", "after", {"before"}}, {"poison", "1", {"0", "none"}}, {"align", "16", {"512"}}};

// Fails unless a changed setting is among `needed`.
RunChanged fails_without(std::vector<std::size_t> needed) {
  return [needed = std::move(needed)](std::span<const Changed> changes, std::int64_t times) {
    const bool passes = std::any_of(changes.begin(), changes.end(), [&](const Changed& c) {
      return std::find(needed.begin(), needed.end(), c.choice) != needed.end();
    });
    Counts out;
    (passes ? out.passed : out.same) = times;
    return out;
  };
}

TEST(BisectedChoices, SayWhichSettingMatters) {
  const auto result = bisect_choices(kChoices, fails_without({0}), {});
  EXPECT_EQ(result.base.answer, Answer::fails);
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(result.rows[0].relevance(), Relevance::necessary);
  EXPECT_EQ(result.rows[1].relevance(), Relevance::irrelevant);
  EXPECT_EQ(result.rows[1].tried.size(), 2u);
  EXPECT_EQ(result.rows[2].relevance(), Relevance::irrelevant);
  ASSERT_TRUE(result.together);
  EXPECT_EQ(result.together->answer, Answer::fails);
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.runs, 6);
}

// Each of two settings is enough for the failure.
TEST(BisectedChoices, ChangeWhatDoesNotMatterAloneTogether) {
  const RunChanged run = [](std::span<const Changed> changes, std::int64_t times) {
    Counts out;
    (changes.size() > 1 ? out.passed : out.same) = times;
    return out;
  };
  const auto result = bisect_choices(kChoices, run, {});
  for (const auto& row : result.rows) EXPECT_EQ(row.relevance(), Relevance::irrelevant);
  EXPECT_EQ(result.together->answer, Answer::passes);
}

TEST(BisectedChoices, AFailureThatIsGoneIsNotBisected) {
  const RunChanged passes = [](std::span<const Changed>, std::int64_t times) {
    Counts out;
    out.passed = times;
    return out;
  };
  const auto result = bisect_choices(kChoices, passes, {});
  EXPECT_EQ(result.base.answer, Answer::passes);
  EXPECT_TRUE(result.rows.empty());
}

TEST(BisectedChoices, WhatCannotBeJudgedIsUnknown) {
  const RunChanged run = [](std::span<const Changed> changes, std::int64_t times) {
    Counts out;
    (changes.empty() ? out.same : out.unjudged) = times;
    return out;
  };
  const auto result = bisect_choices(kChoices, run, {});
  for (const auto& row : result.rows) EXPECT_EQ(row.relevance(), Relevance::unknown);
  EXPECT_FALSE(result.together);
}

TEST(BisectedChoices, EndWithTheBudget) {
  ProbeBudget budget;
  budget.runs = 9;
  const auto result = bisect_choices(kChoices, fails_without({0}), budget);
  EXPECT_LE(result.runs, 9);
  EXPECT_FALSE(result.complete);
}

Counts counts_of(bool fails, std::int64_t times) {
  Counts out;
  (fails ? out.same : out.passed) = times;
  return out;
}

Counts always_fails() {
  return counts_of(true, 6);
}

RC_GTEST_PROP(NarrowedRange, IsTheNumberThatIsEnough, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 5000);
  const auto culprit = *rc::gen::inRange<std::uint64_t>(1, n + 1);
  const auto range = narrowed(n, always_fails(),
                              [&](std::uint64_t first, std::uint64_t last, std::int64_t times) {
                                RC_ASSERT(1 <= first && first <= last && last <= n);
                                return counts_of(first <= culprit && culprit <= last, times);
                              },
                              {});
  RC_ASSERT(range.first == culprit && range.last == culprit && range.decided);
}

TEST(NarrowedRange, StopsWhereBothHalvesAreNeeded) {
  const auto range = narrowed(16, always_fails(),
                              [](std::uint64_t first, std::uint64_t last, std::int64_t times) {
                                return counts_of(first <= 5 && last >= 8, times);
                              },
                              {});
  EXPECT_EQ(range.first, 5u);
  EXPECT_EQ(range.last, 8u);
  EXPECT_TRUE(range.decided);
}

// A failure that shows in half of the runs is not lost by one run that passes.
TEST(NarrowedRange, AsksOftenEnoughOfARareFailure) {
  std::int64_t made = 0;
  Counts base = counts_of(true, 10);
  base.passed = 10;
  const auto range =
      narrowed(64, base,
               [&](std::uint64_t first, std::uint64_t last, std::int64_t times) {
                 Counts out;
                 for (std::int64_t i = 0; i < times; ++i)
                   out.add(counts_of(first <= 37 && 37 <= last && ++made % 2 == 0, 1));
                 return out;
               },
               {});
  EXPECT_EQ(range.first, 37u);
  EXPECT_EQ(range.last, 37u);
  EXPECT_TRUE(range.decided);
}

TEST(NarrowedRange, IsNotDecidedWithoutRunsThatSaySomething) {
  const RunRange unjudged = [](std::uint64_t, std::uint64_t, std::int64_t times) {
    Counts out;
    out.unjudged = times;
    return out;
  };
  EXPECT_FALSE(narrowed(16, always_fails(), unjudged, {}).decided);
  ProbeBudget over;
  over.stop = [] { return true; };
  const auto range = narrowed(16, always_fails(), unjudged, over);
  EXPECT_EQ(range.last, 16u);
  EXPECT_FALSE(range.decided);
}

}  // namespace
}  // namespace redzone::bisect
