#include "guard/program_runs.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <set>

#include "guard/sample.h"

namespace redzone::guard {
namespace {

using namespace testing;

TEST(JoinedRuns, CountTheRunsThatShowAFinding) {
  Finding repeated = sample_finding();
  repeated.times = 5;
  const std::vector<ProgramRun> runs{run_with({}), run_with({sample_finding(), repeated}),
                                     run_with({sample_before(), sample_finding()}, 9)};
  const auto findings = joined_findings(runs);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].run, 1u);
  EXPECT_EQ(findings[0].seen_in, 2u);
  EXPECT_EQ(findings[0].distinct.times, 7u);
  EXPECT_EQ(findings[1].run, 2u);
  EXPECT_EQ(findings[1].seen_in, 1u);
  const ProgramRun all = joined(runs);
  EXPECT_EQ(all.processes.size(), 3u);
  EXPECT_EQ(all.ended.exit_code, 9);
  EXPECT_EQ(all.findings().size(), 2u);
}

TEST(RunsOfASeries, VaryWhatTheyAreAskedTo) {
  interpose::Settings given;
  given.align_bytes = 64;
  EXPECT_EQ(settings_of_run(given, {true, true, true}, 7, 0), given);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(settings_of_run(given, {}, 7, i), given);
    const auto settings = settings_of_run(given, {true, true, true}, 7, i);
    EXPECT_EQ(settings.align_bytes, 64u);
    seen.insert(varied_text(settings));
  }
  EXPECT_GT(seen.size(), 8u) << "of two sides, four poisons and two ways to retire";
}

// A seed is that of one schedule, so a series with one seed would try the same again and again.
TEST(RunsOfASeries, HoldOtherStreamsEachTime) {
  interpose::Settings given;
  given.launch = interpose::LaunchMode::held;
  given.seed = 7;
  std::set<std::uint64_t> seeds;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto settings = settings_of_run(given, {}, 7, i);
    seeds.insert(settings.seed);
    char text[interpose::kSettingsTextBytes];
    interpose::format_settings(settings, text);
    interpose::Settings read;
    EXPECT_TRUE(interpose::parse_settings(text, read)) << text;
    EXPECT_EQ(read.seed, settings.seed);
  }
  EXPECT_EQ(seeds.size(), 20u);
}

RC_GTEST_PROP(RunsOfASeries, AreTheSameAgain, (std::uint64_t seed, std::uint8_t number)) {
  const interpose::Settings given;
  const Varied all{true, true, true};
  RC_ASSERT(settings_of_run(given, all, seed, number) == settings_of_run(given, all, seed, number));
}

TEST(SuppressedFindings, AreNoneForTheExitCode) {
  const ProgramRun run = run_with({sample_finding(), sample_before()}, 4);
  const auto findings = run.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(run.exit_code(1, {findings[0].key}), 1);
  EXPECT_EQ(run.exit_code(1, {findings[0].key, findings[1].key}), 4);
}

TEST(ARunThatTookTooLong, HasACodeOfItsOwn) {
  ProgramRun run = run_with({}, 0);
  run.ended.over_time = true;
  EXPECT_EQ(run.exit_code(1), kOverTime) << "it may leave with 0 when it is asked to end";
  EXPECT_TRUE(joined(std::vector{run_with({}), run}).ended.over_time);
  run = run_with({sample_finding()}, 0);
  run.ended.over_time = true;
  EXPECT_EQ(run.exit_code(1), 1);
}

// Its record had no room for some, and they may be of any kind.
TEST(SuppressedFindings, DoNotHideThoseThatWereDropped) {
  ProgramRun run = run_with({sample_finding()}, 4);
  const std::set<std::string> all{run.findings().at(0).key};
  EXPECT_EQ(run.exit_code(1, all), 4);
  run.processes[0].counters[static_cast<std::size_t>(Counter::findings_dropped)] = 1;
  EXPECT_EQ(run.exit_code(1, all), 1);
}

// Both call one function that allocates: a mark on the finding of one says nothing of the other's.
TEST(SuppressedFindings, OfOneProgramAreNotThoseOfAnother) {
  ProgramRun run = run_with({sample_finding()});
  run.processes.push_back(run.processes[0]);
  run.processes[1].started.argv = {"./infer"};
  const auto findings = run.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(run.exit_code(1, {findings[0].key}), 1);
  EXPECT_EQ(joined_findings(std::span(&run, 1)).size(), 2u);
}

}  // namespace
}  // namespace redzone::guard
