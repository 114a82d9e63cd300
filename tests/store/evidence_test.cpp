#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "core/sample_observation.h"
#include "store/sample.h"
#include "store/store.h"

namespace redzone::store {
namespace {

using namespace testing;
using redzone::testing::sample_observation;

// Every call index of an observation is valid in its plan.
Plan plan_with_calls(std::size_t calls) {
  Plan plan = redzone::testing::sample_plan();
  plan.steps.assign(calls, plan.steps.front());
  return plan;
}

TEST(Evidence, ATrialComesBackAsItWas) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::int64_t id = must(store.record(sample_finding())).id;
  const Plan plan = plan_with_calls(6);
  TrialSpec spec{plan.mode, {2, 0, 1}, true};
  spec.mode.allocator = Allocator::pool;
  spec.mode.pool = {true, false, true, 1 << 20};
  Verdict verdict{Outcome::fail, "fault", "it faults", sample_finding().signature, 3};
  must(store.add_trial(id, "confirm", plan, spec, sample_observation(), verdict));
  must(store.add_trial(id, "replay", plan_of(1), {}, Observation{}, Verdict::pass("history")));
  const TrialSpec plain{.mode = {.alignment = Alignment::mixed,
                                 .callers = Callers::each,
                                 .addresses = Addresses::reused,
                                 .stack = Stack::filled_finite},
                        .order = {},
                        .plain_graphs = true};
  must(store.add_trial(id, "replay", plan_of(1), plain, Observation{}, Verdict::pass("graph")));
  const auto trials = must(open_ro(dir / "s.db").trials(id));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[2].spec, plain);
  EXPECT_EQ(trials[0].purpose, "confirm");
  EXPECT_EQ(trials[0].recorded.size(), 20u);
  EXPECT_EQ(trials[0].plan, plan);
  EXPECT_EQ(trials[0].spec, spec);
  EXPECT_EQ(trials[0].observation, sample_observation());
  EXPECT_EQ(trials[0].verdict.outcome, Outcome::fail);
  EXPECT_EQ(trials[0].verdict.oracle, "fault");
  EXPECT_EQ(trials[0].verdict.reason, "it faults");
  EXPECT_EQ(trials[0].verdict.signature, verdict.signature);
  EXPECT_EQ(trials[0].verdict.call, 3);
  EXPECT_EQ(trials[1].spec, TrialSpec{});
  EXPECT_EQ(trials[1].verdict.outcome, Outcome::pass);
}

TEST(Evidence, TheLatestTrialsOfEachFindingAreKept) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::int64_t a = must(store.record(sample_finding(1))).id;
  const std::int64_t b = must(store.record(sample_finding(2))).id;
  must(store.add_trial(b, "screen", plan_of(1), {}, {}, {}));
  for (std::size_t i = 0; i < Store::kTrialsPerFinding + 6; ++i)
    must(store.add_trial(a, std::to_string(i), plan_of(1, i), {}, {}, {}));
  const auto kept = must(store.trials(a));
  ASSERT_EQ(kept.size(), Store::kTrialsPerFinding);
  EXPECT_EQ(kept.front().purpose, "6");
  EXPECT_EQ(kept.back().purpose, std::to_string(Store::kTrialsPerFinding + 5));
  EXPECT_EQ(must(store.trials(b)).size(), 1u);
}

TEST(Evidence, PlansThatNothingPointsToAreDropped) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.id = must(store.record(f)).id;
  for (std::size_t i = 0; i < Store::kTrialsPerFinding + 6; ++i)
    must(store.add_trial(f.id, "screen", plan_of(1, i), {}, {}, {}));
  f.plan = plan_of(1, 5);  // also the plan of a trial that was removed
  must(store.update(f));
  SQLite::Database db((dir / "s.db").string());
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM plans").getInt64(),
            static_cast<std::int64_t>(Store::kTrialsPerFinding) + 2);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM environments").getInt64(), 1);
  EXPECT_EQ(must(store.finding(f.id)).plan, f.plan);
}

TEST(Evidence, OfALongPlanTheCallsAroundTheFailureAreKept) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::int64_t id = must(store.record(sample_finding())).id;
  Observation o;
  for (std::int32_t i = 0; i < 1000; ++i)
    o.calls.push_back({.call = i, .buffers = {}, .references = {}, .launches = {}});
  for (const std::int32_t call : {500, 0, 999, -1}) {
    Verdict verdict;
    verdict.call = call;
    must(store.add_trial(id, "screen", plan_with_calls(1000), {}, o, verdict));
  }
  const auto trials = must(store.trials(id));
  const auto limit = static_cast<std::int32_t>(Store::kCallsPerTrial);
  const std::int32_t first[] = {500 - limit / 2, 0, 1000 - limit, 1000 - limit};
  ASSERT_EQ(trials.size(), 4u);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ASSERT_EQ(trials[i].observation.calls.size(), Store::kCallsPerTrial);
    EXPECT_EQ(trials[i].observation.calls.front().call, first[i]);
    EXPECT_EQ(trials[i].observation.calls.back().call, first[i] + limit - 1);
  }
}

TEST(Evidence, ArtifactsAreReplacedByName) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::int64_t id = must(store.record(sample_finding())).id;
  const std::string binary("\0\1\xff\n", 4);
  must(store.add_artifact(id, "log", "worker", "first"));
  must(store.add_artifact(id, "log", "worker", binary));
  must(store.add_artifact(id, "cubin", "k", ""));
  const auto artifacts = must(store.artifacts(id));
  ASSERT_EQ(artifacts.size(), 2u);
  EXPECT_EQ(artifacts[0].kind, "cubin");
  EXPECT_EQ(artifacts[0].bytes, "");
  EXPECT_EQ(artifacts[1].name, "worker");
  EXPECT_EQ(artifacts[1].bytes, binary);
  EXPECT_EQ(store.add_artifact(9, "log", "x", "y").error().kind, ErrorKind::usage);
  EXPECT_EQ(store.add_trial(9, "screen", plan_of(1), {}, {}, {}).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace redzone::store
