// The oracles that run under a tool of compute-sanitizer.
#include <gtest/gtest.h>

#include "oracles/catalog.h"
#include "oracles/observations.h"
#include "oracles/sanitizer.h"

namespace redzone::oracles {
namespace {

using testing::completed;
using testing::ended;
using testing::plan_of_calls;

SanitizerRecord record_of(std::string kind, bool warning = false) {
  SanitizerRecord r;
  r.kind = std::move(kind);
  r.warning = warning;
  r.kernel = "scan";
  r.call = 1;
  return r;
}

Observation under(SanitizerTool tool, std::vector<SanitizerRecord> records) {
  Observation o = completed({1, 2});
  o.sanitizer = SanitizerReport{tool, std::move(records), 0, ""};
  return o;
}

Verdict judged_by_tool(SanitizerTool tool, const Observation& seen) {
  return SanitizerOracle(tool).judge(plan_of_calls({4, 8}), {}, std::span(&seen, 1));
}

TEST(SanitizerOracle, AsksForOneTrialUnderItsTool) {
  Plan plan = plan_of_calls({4});
  plan.mode.launch = Launch::gated;
  const auto trial = [&](SanitizerTool tool) {
    const auto trials = SanitizerOracle(tool).expand(plan, {});
    EXPECT_EQ(trials.size(), 1u);
    EXPECT_EQ(trials[0].mode.sanitizer, tool);
    return trials[0].mode;
  };
  EXPECT_EQ(trial(SanitizerTool::memcheck).launch, Launch::gated);
  EXPECT_EQ(trial(SanitizerTool::racecheck).launch, Launch::async) << "a held launch could hang it";
  EXPECT_EQ(trial(SanitizerTool::racecheck).allocator, plan.mode.allocator);
  EXPECT_EQ(trial(SanitizerTool::initcheck).allocator, Allocator::plain);
}

TEST(SanitizerOracle, ARaceIsTheSameBugWhicheverAccessComesFirst) {
  SanitizerRecord race = record_of("race-raw");
  race.access = Access::read;
  race.location = "p.cu:8";
  race.other = "write at p.cu:6 by thread (0,0,0) of block (0,0,0)";
  const auto v = judged_by_tool(SanitizerTool::races, under(SanitizerTool::races, {race}));
  EXPECT_EQ(v.signature.kind, FailKind::race);
  EXPECT_EQ(v.signature.access, "");
  EXPECT_EQ(v.oracle, "races");
  EXPECT_NE(v.reason.find("race: read"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find("at p.cu:8"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find(", in no order with the write at p.cu:6 by thread (0,0,0)"),
            std::string::npos)
      << v.reason;
}

TEST(SanitizerOracle, NamesTheBugByItsRecord) {
  const std::pair<const char*, FailKind> kinds[] = {{"invalid-read", FailKind::illegal_access},
                                                    {"misaligned-write", FailKind::misaligned},
                                                    {"use-after-free", FailKind::use_after_free},
                                                    {"race-waw", FailKind::race},
                                                    {"uninitialized-read", FailKind::uninitialized},
                                                    {"barrier-divergence", FailKind::barrier},
                                                    {"other", FailKind::fault}};
  for (const auto& [kind, want] : kinds) {
    const auto v =
        judged_by_tool(SanitizerTool::memcheck, under(SanitizerTool::memcheck, {record_of(kind)}));
    ASSERT_TRUE(v.failed()) << kind;
    EXPECT_EQ(v.signature.kind, want) << kind;
    EXPECT_EQ(v.signature.where, want == FailKind::fault ? "other" : "scan");
    EXPECT_EQ(v.oracle, "memcheck");
    EXPECT_EQ(v.call, 1);
  }
}

TEST(SanitizerOracle, WarningsAreNoFailures) {
  EXPECT_EQ(judged_by_tool(SanitizerTool::racecheck,
                           under(SanitizerTool::racecheck, {record_of("race-raw", true)}))
                .outcome,
            Outcome::pass);
}

TEST(SanitizerOracle, WhatDidNotRunUnderTheToolIsNoPass) {
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, completed({1, 2})).outcome,
            Outcome::harness_error);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, under(SanitizerTool::racecheck, {})).outcome,
            Outcome::harness_error);
  Observation broken = under(SanitizerTool::memcheck, {});
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, broken).outcome, Outcome::pass);
  broken.sanitizer->problem = "the log is gone";
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, broken).outcome, Outcome::harness_error);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::hang)).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::exited)).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::worker_error)).outcome,
            Outcome::harness_error);
}

// A record of the tool counts, however the trial ended.
TEST(SanitizerOracle, ARecordIsNotTakenBackByAFault) {
  Observation o = under(SanitizerTool::memcheck, {record_of("invalid-read")});
  o.end = End::fault;
  o.fault = Fault{"CUDA_ERROR_LAUNCH_FAILED"};
  EXPECT_TRUE(judged_by_tool(SanitizerTool::memcheck, o).failed());
  o.sanitizer->records.clear();
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, o).outcome, Outcome::inconclusive);
}

TEST(SanitizedScreen, IsTheScreenAndOneTrialMore) {
  const Catalog native, catalog({}, SanitizerTool::racecheck);
  const Plan plan = plan_of_calls({4, 8});
  TargetSpec spec;
  spec.name = "t";
  auto trials = catalog.screen().expand(plan, spec);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[2].mode.sanitizer, SanitizerTool::racecheck);
  trials.pop_back();
  EXPECT_EQ(trials, native.screen().expand(plan, spec));
  EXPECT_EQ(native.find("racecheck")->name(), "racecheck") << "to replay what was found with it";

  std::vector<Observation> seen{completed({1, 2}), completed({1, 2}),
                                under(SanitizerTool::racecheck, {})};
  const auto judge = [&] { return catalog.screen().judge(plan, spec, seen); };
  EXPECT_EQ(judge().outcome, Outcome::pass);
  seen[2] = under(SanitizerTool::racecheck, {record_of("race-raw")});
  EXPECT_EQ(judge().signature.kind, FailKind::race);
  seen[0] = ended(End::worker_error);
  EXPECT_EQ(judge().signature.kind, FailKind::race);
  seen[2] = under(SanitizerTool::racecheck, {});
  EXPECT_EQ(judge().outcome, Outcome::harness_error);
  seen[0] = completed({3, 2});
  EXPECT_EQ(judge().signature.kind, FailKind::divergence);
}

}  // namespace
}  // namespace redzone::oracles
