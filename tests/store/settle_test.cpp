// How triage settles a suspect.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "store/sample.h"
#include "store/store.h"

namespace redzone::store {
namespace {

using namespace testing;

// The finding `n`, recorded in this state with a plan of `calls` calls.
Finding recorded(Store& store, int n, FindingState state, std::int64_t calls,
                 bool minimal = false) {
  Finding f = sample_finding(n);
  f.state = state;
  f.plan = plan_of(calls);
  f.minimal = minimal;
  f.id = must(store.record(f)).id;
  return f;
}

TEST(StoreSettle, ASuspectBecomesWhatTriageSays) {
  for (FindingState state : {FindingState::confirmed, FindingState::flaky,
                             FindingState::unconfirmed, FindingState::suspect}) {
    TempDir dir;
    Store store = open_rw(dir / "s.db");
    Finding f = recorded(store, 1, FindingState::suspect, 3);
    f.state = state;
    f.plan = plan_of(4);  // reducing the history may have added calls
    f.reliability = {2, 9};
    const Recorded r = must(store.settle(f));
    EXPECT_EQ(r.id, f.id);
    EXPECT_TRUE(r.is_new);
    EXPECT_EQ(r.state, state);
    EXPECT_TRUE(equal(must(store.finding(f.id)), f)) << name_of(state);
  }
}

TEST(StoreSettle, AFindingGivesWayOnlyToABetterOne) {
  struct Case {
    FindingState state;
    std::int64_t calls;
    bool minimal;
    bool replaced;
  };
  for (const Case& c :
       {Case{FindingState::confirmed, 2, true, true}, Case{FindingState::confirmed, 3, true, true},
        Case{FindingState::confirmed, 4, true, false},
        Case{FindingState::confirmed, 2, false, false}, Case{FindingState::flaky, 1, true, false},
        Case{FindingState::unconfirmed, 1, true, false}}) {
    TempDir dir;
    Store store = open_rw(dir / "s.db");
    const Finding known = recorded(store, 1, FindingState::confirmed, 3, true);
    Finding seen = known;
    seen.state = c.state;
    seen.plan = plan_of(c.calls);
    seen.minimal = c.minimal;
    seen.reason = "said later";
    const Recorded r = must(store.settle(seen));
    EXPECT_FALSE(r.is_new);
    EXPECT_EQ(r.replaced, c.replaced) << c.calls << name_of(c.state);
    EXPECT_TRUE(equal(must(store.finding(known.id)), c.replaced ? seen : known));
  }
}

// It failed in both runs that confirmed it, and in two of three of its reduced plan.
TEST(StoreSettle, WhatMoreRunsShowToBeFlakyIsReduced) {
  for (const std::int64_t runs : {64, 2}) {
    TempDir dir;
    Store store = open_rw(dir / "s.db");
    Finding known = recorded(store, 1, FindingState::confirmed, 3, false);
    known.reliability = {2, 2};
    must(store.update(known));
    Finding measured = known;
    measured.state = FindingState::flaky;
    measured.plan = plan_of(1);
    measured.minimal = true;
    measured.reliability = {runs * 2 / 3, runs};
    EXPECT_EQ(must(store.settle(measured)).replaced, runs == 64);
    EXPECT_TRUE(equal(must(store.finding(known.id)), runs == 64 ? measured : known));
  }
}

TEST(StoreSettle, ANewSignatureKeepsTheNumber) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = recorded(store, 1, FindingState::suspect, 3);
  f.signature = sample_finding(2).signature;
  f.state = FindingState::confirmed;
  const Recorded r = must(store.settle(f));
  EXPECT_EQ(r.id, f.id);
  EXPECT_TRUE(r.is_new);
  EXPECT_TRUE(equal(must(store.finding(f.id)), f));
  EXPECT_FALSE(must(store.find(sample_finding(1).signature)).has_value());
  EXPECT_EQ(must(store.find(f.signature)).value().id, f.id);
}

TEST(StoreSettle, TwoOfTheSameSignatureBecomeOne) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const Finding known = recorded(store, 1, FindingState::confirmed, 2, true);
  Finding suspect = recorded(store, 2, FindingState::suspect, 3);
  must(store.sighted(suspect.id, 4));
  must(store.add_trial(known.id, "confirm", known.plan, {}, {}, {}));
  for (std::size_t i = 0; i < Store::kTrialsPerFinding; ++i)
    must(store.add_trial(suspect.id, "screen", suspect.plan, {}, {}, {}));
  must(store.add_artifact(known.id, "log", "worker", "known"));
  must(store.add_artifact(suspect.id, "log", "worker", "suspect"));
  must(store.add_artifact(suspect.id, "log", "driver", "suspect"));

  suspect.signature = known.signature;
  suspect.state = FindingState::confirmed;
  suspect.last_seen = "2099-01-01T00:00:00Z";
  const Recorded r = must(store.settle(suspect));
  EXPECT_EQ(r.id, known.id);
  EXPECT_FALSE(r.is_new);
  EXPECT_FALSE(r.replaced);

  Finding stored = must(store.finding(known.id));
  EXPECT_EQ(stored.occurrences, 6);
  EXPECT_GT(stored.last_seen, known.last_seen);
  stored.occurrences = known.occurrences;
  stored.last_seen = known.last_seen;
  EXPECT_TRUE(equal(stored, known));
  EXPECT_EQ(must(store.findings()).size(), 1u);
  EXPECT_EQ(must(store.trials(known.id)).size(), Store::kTrialsPerFinding);
  const auto artifacts = must(store.artifacts(known.id));
  ASSERT_EQ(artifacts.size(), 2u);
  EXPECT_EQ(artifacts[0].name, "driver");
  EXPECT_EQ(artifacts[1].bytes, "known");
  EXPECT_FALSE(store.finding(suspect.id));
  SQLite::Database db((dir / "s.db").string());
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt64(), 0);
}

TEST(StoreSettle, ABetterOneTakesOverTheOtherNumber) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const Finding known = recorded(store, 1, FindingState::unconfirmed, 2);
  Finding suspect = recorded(store, 2, FindingState::suspect, 3);
  suspect.signature = known.signature;
  suspect.state = FindingState::confirmed;
  const Recorded r = must(store.settle(suspect));
  EXPECT_EQ(r.id, known.id);
  EXPECT_TRUE(r.is_new) << "nobody knew that it is one";
  Finding want = suspect;
  want.occurrences = 2;
  EXPECT_TRUE(equal(must(store.finding(known.id)), want));
}

TEST(StoreSettle, ARowThatAnotherProcessMergedAwayIsMadeAnew) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.id = 5;
  f.campaign = 0;
  f.state = FindingState::confirmed;
  const Recorded r = must(store.settle(f));
  EXPECT_TRUE(r.is_new);
  EXPECT_EQ(must(store.finding(r.id)).signature, f.signature);
  EXPECT_TRUE(store.sighted(77, 1)) << "a number that is gone is passed over";
}

TEST(StoreSettle, ARowThatIsNotItsOwnKeepsItsSignature) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding known = sample_finding();
  known.campaign = 0;
  known.state = FindingState::confirmed;
  known.id = must(store.record(known)).id;
  Finding found = known;
  found.signature.kind = FailKind::history;
  const Recorded r = must(store.settle(found, false));
  EXPECT_TRUE(r.is_new);
  EXPECT_NE(r.id, known.id);
  EXPECT_EQ(must(store.finding(known.id)).signature, known.signature);
  EXPECT_EQ(must(store.finding(known.id)).state, FindingState::confirmed);
  // The second time it already has a row, which gains an occurrence.
  EXPECT_EQ(must(store.settle(found, false)).id, r.id);
  EXPECT_EQ(must(store.findings()).size(), 2u);
}

}  // namespace
}  // namespace redzone::store
