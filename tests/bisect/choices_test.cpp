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

RC_GTEST_PROP(NarrowedRange, IsTheNumberThatIsEnough, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 5000);
  const auto culprit = *rc::gen::inRange<std::uint64_t>(1, n + 1);
  int asked = 0;
  const auto range = narrowed(n, [&](std::uint64_t first, std::uint64_t last) {
    ++asked;
    RC_ASSERT(1 <= first && first <= last && last <= n);
    return first <= culprit && culprit <= last;
  });
  RC_ASSERT(range == std::pair(culprit, culprit));
  RC_ASSERT(asked <= 2 * 13);
}

TEST(NarrowedRange, StopsWhereBothHalvesAreNeeded) {
  const auto range =
      narrowed(16, [](std::uint64_t first, std::uint64_t last) { return first <= 5 && last >= 8; });
  EXPECT_EQ(range, (std::pair<std::uint64_t, std::uint64_t>(5, 8)));
}

}  // namespace
}  // namespace redzone::bisect
