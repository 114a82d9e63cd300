// What the first minute reports of a campaign.
#include "bench/minute.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redzone::bench {
namespace {

using Names = std::vector<std::string>;

campaign::Progress progress_at(double seconds,
                               const std::vector<std::pair<std::string, std::uint64_t>>& plans) {
  campaign::Progress p;
  p.stats.seconds = seconds;
  for (const auto& [target, count] : plans) {
    p.targets.emplace_back();
    p.targets.back().target = target;
    p.targets.back().plans = count;
  }
  return p;
}

Finding finding_of(const std::string& target, FailKind kind, FindingState state, bool minimal) {
  Finding f;
  f.signature.target = target;
  f.signature.kind = kind;
  f.state = state;
  f.minimal = minimal;
  return f;
}

TEST(MinuteWatch, CountsPlansAndThePartsOfTheTimeThatHaveSome) {
  MinuteWatch watch({"b", "a"}, std::chrono::seconds(60));
  watch.progress(progress_at(1, {{"a", 5}, {"b", 0}, {"kernel", 9}}));
  watch.progress(progress_at(9, {{"a", 6}, {"b", 0}, {"kernel", 9}}));
  watch.progress(progress_at(31, {{"a", 6}, {"b", 1}, {"kernel", 9}}));
  watch.progress(progress_at(59, {{"a", 7}, {"b", 1}, {"kernel", 9}}));
  // After the limit: still the last part.
  watch.progress(progress_at(61, {{"a", 8}, {"b", 1}, {"kernel", 9}}));
  ASSERT_EQ(watch.puzzles().size(), 2u);
  EXPECT_EQ(watch.puzzles()[0].puzzle, "a");
  EXPECT_EQ(watch.puzzles()[0].plans, 8u);
  EXPECT_EQ(watch.puzzles()[0].parts, 2u);
  EXPECT_EQ(watch.puzzles()[1].plans, 1u);
  EXPECT_EQ(watch.puzzles()[1].parts, 1u);
}

TEST(MinuteWatch, KeepsTheFirstConfirmationAndTheFirstMinimum) {
  using enum FindingState;
  MinuteWatch watch({"a", "b"}, std::chrono::seconds(60));
  watch.found(finding_of("a", FailKind::redzone, confirmed, false), 2);
  watch.found(finding_of("a", FailKind::redzone, flaky, false), 3);
  watch.found(finding_of("a", FailKind::redzone, confirmed, true), 5);
  watch.found(finding_of("a", FailKind::redzone, confirmed, true), 8);
  watch.found(finding_of("kernel", FailKind::redzone, confirmed, true), 1);
  EXPECT_EQ(watch.puzzles()[0].confirmed_s, 2);
  EXPECT_EQ(watch.puzzles()[0].minimal_s, 5);
  EXPECT_EQ(watch.puzzles()[1].confirmed_s, std::nullopt);
}

TEST(Minute, SumsUpItsPuzzles) {
  const Minute m{.puzzles = {{"a", 5, 1, 3.0, {}}, {"b", 2, 2, 1.5, 4.0}, {"c", 9, 6, {}, {}}}};
  EXPECT_EQ(m.confirmed(), 2u);
  EXPECT_EQ(m.minimal(), 1u);
  EXPECT_EQ(m.first_confirmed_s(), 1.5);
  EXPECT_EQ(m.fewest_plans()->puzzle, "b");
  EXPECT_EQ(Minute{}.first_confirmed_s(), std::nullopt);
  EXPECT_EQ(Minute{}.fewest_plans(), nullptr);
}

TEST(Minute, TheShareOfTheKernelsNeedsBothRates) {
  // What one kernel gains says nothing of the others.
  EXPECT_EQ((KernelShare{{"a", "b"}, {{"x", 200, 150}, {"y", 1, 100}, {"z", 2, 1}}, ""}.share()),
            0.75);
  EXPECT_EQ((KernelShare{{"a"}, {}, "1 puzzle"}.share()), std::nullopt);
}

TEST(Minute, TwoTargetsThatFaultRunBesideTheKernels) {
  using enum FindingState;
  EXPECT_EQ(faulting_targets({finding_of("wrong", FailKind::redzone, confirmed, true),
                              finding_of("hangs", FailKind::hang, confirmed, true),
                              finding_of("first", FailKind::illegal_access, confirmed, true),
                              finding_of("first", FailKind::fault, confirmed, true),
                              finding_of("once", FailKind::fault, unconfirmed, true),
                              finding_of("second", FailKind::fault, flaky, false),
                              finding_of("third", FailKind::fault, confirmed, true)}),
            (Names{"first", "second"}));
  EXPECT_EQ(faulting_targets({}), Names{});
}

TEST(Minute, IsInBothFormats) {
  Report report;
  report.minute = Minute{.startup_s = 1,
                         .seconds = 60,
                         .plans = 12,
                         .puzzles = {{"puzzle.a", 5, 1, 3.0, {}}},
                         .share = {{"x", "y"}, {{"k", 200, 150}}, ""}};
  const auto json = nlohmann::json::parse(report_json(report))["minute"];
  EXPECT_EQ(json["confirmed"], 1);
  EXPECT_EQ(json["puzzles"][0]["confirmed_s"], 3);
  EXPECT_TRUE(json["puzzles"][0]["minimal_s"].is_null());
  EXPECT_EQ(json["kernels"]["share"], 0.75);
  const std::string text = report_text(report);
  for (const char* part :
       {"1 of 1 puzzles confirmed, 0 minimal, the first confirmed after 3.0 s",
        "judged plans/s alone, and beside x and y; the median keeps 0.75", "200.0    150.0"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace redzone::bench
