// Reports of nights from stores.
#include "nightly/describe.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/campaign_record.h"
#include "report/night_formats.h"
#include "store/database.h"
#include "store/merge.h"
#include "store/sample.h"

namespace redzone::nightly {
namespace {

using namespace store::testing;
using report::Night;
using report::NightFinding;
using store::NightBook;
using store::NightRun;
using store::Store;

// "2025-01-DAYTHOUR:MINUTE:00.000000Z"
std::string at(int day, int hour, int minute = 0) {
  return fmt::format("2025-01-{:02}T{:02}:{:02}:00.000000Z", day, hour, minute);
}
std::string to_the_second(const std::string& time) {
  return time.substr(0, 19) + "Z";
}

class NightReport : public ::testing::Test {
 protected:
  // A night from 02:00 to 03:00 of this day.
  std::int64_t night(Store& store, int day, NightRun run = {}, int exit_code = 1) {
    CampaignRecord campaign = sample_campaign();
    campaign.started = to_the_second(at(day, 2));
    run.campaign = must(store.begin_campaign(campaign));
    run.began = at(day, 2);
    run.exit_code = exit_code;
    must(NightBook(store).begin(run));
    if (exit_code == NightRun::kUnfinished) return run.campaign;
    must(store.database().write(store::Durability::full, [&] {
      SQLite::Statement end(store.database().sql(), "UPDATE campaigns SET ended = ? WHERE id = ?");
      end.bind(1, to_the_second(at(day, 3)));
      end.bind(2, run.campaign);
      end.exec();
    }));
    return run.campaign;
  }

  // Seen at `when` and confirmed, by the latest campaign unless `campaign` is given.
  std::int64_t found(Store& store, int n, const std::string& when, std::int64_t campaign = 0) {
    Finding f = sample_finding(n);
    f.state = FindingState::confirmed;
    f.first_seen = f.last_seen = to_the_second(when);
    f.campaign = campaign;
    const auto id = must(store.record(f)).id;
    must(store.enter(id, {when, LedgerEvent::failed, "", ""}));
    return id;
  }
  void mark_known(Store& store, std::int64_t id, const std::string& when) {
    must(store.mark(id, {when, LedgerEvent::known, "https://example.com/1", ""}));
  }
  static Night told(Store& store, std::int64_t night) {
    return must(describe_night(store, night, {}));
  }
  static const NightFinding* finding(const Night& night, std::int64_t id) {
    for (const auto& f : night.findings)
      if (f.id == id) return &f;
    return nullptr;
  }
  static std::string gap(const Night& night, const std::string& what) {
    for (const auto& g : night.not_judged)
      if (g.what == what) return g.why;
    return "";
  }

  TempDir dir_;
};

TEST_F(NightReport, WhatCameLaterDoesNotChangeWhatTheNightFound) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  const auto one = found(store, 1, at(20, 2), id), two = found(store, 2, at(20, 2), id);
  mark_known(store, one, at(20, 9));
  must(store.begin_campaign(sample_campaign()));  // redzone run
  found(store, 2, at(20, 10));
  const auto later = found(store, 3, at(20, 10));

  const Night n = told(store, id);
  ASSERT_NE(finding(n, one), nullptr);
  EXPECT_EQ(finding(n, one)->outcome, ReplayOutcome::found);
  EXPECT_EQ(finding(n, one)->ledger.standing, Standing::known) << "the latest night, as of now";
  EXPECT_EQ(finding(n, one)->occurrences, 1);
  EXPECT_EQ(finding(n, two)->outcome, ReplayOutcome::found);
  EXPECT_TRUE(is_alarm(*finding(n, two)));
  EXPECT_EQ(finding(n, two)->occurrences, 1) << "of this night alone";
  EXPECT_EQ(finding(n, later), nullptr);
  EXPECT_TRUE(n.not_judged.empty());
  EXPECT_EQ(n.exit_code, 1);
  mark_known(store, two, at(20, 11));
  const std::string text = report::night_text(told(store, id));
  EXPECT_TRUE(text.ends_with("\nwhat was new or regressed has been marked since\n")) << text;
}

// A night runs no programs; what was found under the guard is in the report all the same, beside
// the findings of its targets, and is nobody's gap.
TEST_F(NightReport, HasTheFindingsOfPrograms) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 1, {}, 0);
  must(store.begin_campaign(sample_campaign()));
  const auto program = must(store.settle(sample_program_finding(), false)).id;
  const Night told_night = told(store, id);
  const NightFinding* const shown = finding(told_night, program);
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->program, "./train --name 'it'\\''s \"this\"' $'a\\012b' ''");
  EXPECT_EQ(shown->plan, "");
  EXPECT_EQ(shown->outcome, ReplayOutcome::not_run);
  EXPECT_EQ(shown->outcome_reason, "a night runs no programs");
  EXPECT_FALSE(is_alarm(*shown));
  EXPECT_TRUE(told_night.not_judged.empty());
  for (const auto& target : told_night.targets)
    EXPECT_FALSE(target.name.starts_with("program.")) << target.name;
  for (const auto& format : report::night_formats())
    EXPECT_NE(format.write(told_night).find(shown->target), std::string::npos) << format.name;
}

TEST_F(NightReport, AnOldNightIsToldAsItWas) {
  Store store = open_rw(dir_ / "s.db");
  const auto first = night(store, 20);
  const auto one = found(store, 1, at(20, 2), first);
  mark_known(store, one, at(20, 9));
  const auto second = night(store, 21);
  must(store.enter(one, {at(21, 2, 30), LedgerEvent::passed, "", ""}));
  must(NightBook(store).replayed(second, {sample_finding(1).signature.hash(),
                                          one,
                                          "sample",
                                          "",
                                          ReplayOutcome::passes,
                                          {0, 5},
                                          "",
                                          1}));
  const auto two = found(store, 2, at(21, 2), second), three = found(store, 3, at(21, 2), second);

  const Night old = told(store, first);
  ASSERT_EQ(old.findings.size(), 1u);
  EXPECT_EQ(old.findings[0].outcome, ReplayOutcome::found);
  EXPECT_EQ(old.findings[0].ledger.standing, Standing::fresh) << "it was marked in the morning";
  EXPECT_TRUE(is_alarm(old.findings[0]));
  EXPECT_TRUE(old.not_judged.empty());
  ASSERT_EQ(old.trend.size(), 1u);
  EXPECT_EQ(old.trend[0].findings, (report::StandingCounts{{Standing::fresh, 1}}));
  EXPECT_EQ(old.targets.at(0).findings, (report::StandingCounts{{Standing::fresh, 1}}));

  const Night now = told(store, second);
  EXPECT_EQ(finding(now, one)->outcome, ReplayOutcome::passes);
  EXPECT_EQ(finding(now, one)->before, Standing::known);
  EXPECT_EQ(finding(now, one)->ledger.standing, Standing::fixed);
  EXPECT_EQ(finding(now, two)->outcome, ReplayOutcome::found);
  EXPECT_EQ(finding(now, three)->before, std::nullopt);
  ASSERT_EQ(now.trend.size(), 2u);
  EXPECT_EQ(now.trend[0].findings, old.trend[0].findings);
  EXPECT_EQ(now.trend[1].findings,
            (report::StandingCounts{{Standing::fresh, 2}, {Standing::fixed, 1}}));
  EXPECT_EQ(now.trend[1].device_seconds.at("sample"), 1);
  EXPECT_EQ(must(latest_night(store)), second);
}

TEST_F(NightReport, ANightThatWasCutOffHoldsNothingOfTheNext) {
  Store store = open_rw(dir_ / "s.db");
  const auto cut = night(store, 20, {}, NightRun::kUnfinished);
  const auto one = found(store, 1, at(20, 2), cut);
  const auto next = night(store, 21);
  found(store, 2, at(21, 2), next);
  const Night n = told(store, cut);
  ASSERT_EQ(n.findings.size(), 1u);
  EXPECT_EQ(n.findings[0].id, one);
  EXPECT_EQ(n.exit_code, 130);
  // In the process that resumes it, all findings count.
  EXPECT_EQ(must(describe_night(store, cut, {.running = true})).findings.size(), 2u);
}

TEST_F(NightReport, WhatWasSeenAndNotConfirmedIsAnAlarm) {
  Store store = open_rw(dir_ / "s.db");
  const auto before = night(store, 19);
  const auto one = found(store, 1, at(19, 2), before);
  const auto id = night(store, 20);
  must(store.sighted(one, 3));
  const Night n = told(store, id);
  EXPECT_EQ(finding(n, one)->outcome, ReplayOutcome::seen);
  EXPECT_TRUE(is_alarm(*finding(n, one)));
  EXPECT_EQ(gap(n, fmt::format("finding {}", one)),
            "not confirmed: no time was left for enough runs");
  mark_known(store, one, at(20, 9));
  EXPECT_FALSE(is_alarm(*finding(told(store, id), one)));
}

TEST_F(NightReport, WhatDidNotRecurIsNoAlarm) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  Finding f = sample_finding(1);
  f.state = FindingState::unconfirmed;
  f.first_seen = to_the_second(at(20, 2));
  f.campaign = id;
  const auto one = must(store.record(f)).id;
  const Night n = told(store, id);
  EXPECT_EQ(finding(n, one)->outcome, ReplayOutcome::gone);
  EXPECT_FALSE(is_alarm(*finding(n, one)));
  EXPECT_EQ(gap(n, fmt::format("finding {}", one)), "");
}

// The replay passed before the fuzzing of the same night found the failure.
TEST_F(NightReport, WhatWasSeenAfterItPassedIsAnAlarm) {
  Store store = open_rw(dir_ / "s.db");
  const auto before = night(store, 19);
  const auto one = found(store, 1, at(19, 2), before);
  const auto id = night(store, 20);
  must(NightBook(store).replayed(id, {sample_finding(1).signature.hash(),
                                      one,
                                      "sample",
                                      "",
                                      ReplayOutcome::passes,
                                      {0, 9},
                                      "",
                                      1}));
  must(store.enter(one, {at(20, 2, 10), LedgerEvent::passed, "", ""}));
  EXPECT_EQ(finding(told(store, id), one)->outcome, ReplayOutcome::passes);
  must(store.sighted(one, 3));
  const Night n = told(store, id);
  EXPECT_EQ(finding(n, one)->outcome, ReplayOutcome::seen);
  EXPECT_EQ(finding(n, one)->ledger.standing, Standing::fixed);
  EXPECT_TRUE(is_alarm(*finding(n, one)));
}

TEST_F(NightReport, ARowOfTheCorpusKnowsWhetherItsFindingIsWaived) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  const auto one = found(store, 1, at(20, 2), id);
  must(NightBook(store).replayed(
      id, {"corpus/a.toml", one, "sample", "", ReplayOutcome::fails, {1, 1}, "", 1}));
  EXPECT_TRUE(is_alarm(told(store, id).corpus.at(0)));
  mark_known(store, one, at(20, 9));
  EXPECT_FALSE(is_alarm(told(store, id).corpus.at(0)));
}

// Three shards with stores of their own, then with their merged store.
TEST_F(NightReport, ShardsAreOneNightWhenTheirStoresAre) {
  const auto part = [&](int shard) {
    Store store = open_rw(dir_ / fmt::format("{}.db", shard).c_str());
    NightRun run;
    run.base_seed = 9;
    run.shard = shard;
    run.shards = 3;
    run.budget_seconds = 3600;
    run.planted_bugs_caught = 18;
    run.asked_targets = "sample";
    const auto id = night(store, 20, run, shard == 2 ? 0 : 1);
    must(store.update_campaign(id, {.reference = {shard == 3 ? 6 : 0, 10}}));
    must(NightBook(store).target(
        id, {{10, 100, 9, 1, 0, 0, 0, 2.5, {shard == 3 ? 6 : 0, 10}, "call 1 is too large for it"},
             "sample",
             1.0,
             shard == 2 ? "no GPU" : ""}));
    if (shard != 2) found(store, shard, at(20, 2), id);
    found(store, 7, at(20, 2), id);
    return id;
  };
  for (const int shard : {1, 2, 3}) part(shard);
  Store all = open_rw(dir_ / "all.db");
  for (const char* name : {"1.db", "3.db"}) {
    Store from = open_ro(dir_ / name);
    must(store::merge(from, all));
  }
  const Night partial = told(all, 1);
  EXPECT_EQ(gap(partial, "shard 2 of 3"), "its night is not in this store");
  Store last = open_ro(dir_ / "2.db");
  must(store::merge(last, all));

  const Night n = told(all, must(latest_night(all)));
  EXPECT_EQ(n.parts.size(), 3u);
  EXPECT_EQ(n.shard, 0);
  EXPECT_EQ(n.seed, 9u);
  EXPECT_EQ(n.planted_bugs_caught, 18u);
  EXPECT_EQ(n.budget_seconds, 3 * 3600);
  EXPECT_EQ(n.exit_code, 1);
  ASSERT_EQ(n.findings.size(), 3u);
  for (const auto& f : n.findings) {
    EXPECT_EQ(f.outcome, ReplayOutcome::found) << f.signature;
    EXPECT_EQ(f.occurrences, f.where == "kernel_7" ? 3 : 1);
  }
  ASSERT_EQ(n.targets.size(), 1u);
  EXPECT_EQ(n.targets[0].plans, 30u);
  EXPECT_EQ(n.targets[0].share, 1.0);
  EXPECT_EQ(n.targets[0].not_fuzzed, "") << "by one of them";
  EXPECT_EQ(n.targets[0].reference, (ReferenceCount{6, 30}));
  EXPECT_EQ(n.reference, (ReferenceCount{6, 30}));
  EXPECT_TRUE(n.not_judged.empty());
  ASSERT_EQ(n.trend.size(), 1u);
  EXPECT_EQ(n.trend[0].findings, (report::StandingCounts{{Standing::fresh, 3}}));
  EXPECT_EQ(n.trend[0].device_seconds.at("sample"), 7.5);
  EXPECT_EQ(told(all, 2).campaign, n.campaign) << "by the number of any of them";
  EXPECT_NE(report::night_text(n).find(", shards 1, 2, 3 of 3\n"), std::string::npos);
}

TEST_F(NightReport, ATargetOfWhichNothingWasComparedIsNotJudgedByReference) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  const auto target = [&](const char* name, ReferenceCount reference, const char* why) {
    must(NightBook(store).target(id, {{2, 9, 2, 0, 0, 0, 0, 1, reference, why}, name, 1, ""}));
  };
  target("some", {1, 37}, "call 2 is too large for it");
  target("none", {0, 1037}, "call 1 is too large for it");
  target("without", {}, "");
  const Night n = told(store, id);
  EXPECT_EQ(
      gap(n, "target none"),
      "not judged by reference: none of 1,037 calls was compared: call 1 is too large for it");
  EXPECT_EQ(n.not_judged.size(), 1u);
}

// A missing part could have found anything, so only what was found counts for the whole night.
TEST_F(NightReport, AShardThatIsMissingOrCutOffKeepsANightFromBeingAllRight) {
  std::string fleet;
  const auto code = [&](const char* db, std::initializer_list<std::pair<int, int>> shards) {
    Store store = open_rw(dir_ / db);
    std::int64_t id = 0;
    for (const auto& [shard, ended] : shards) {
      NightRun run;
      run.shard = shard;
      run.shards = 3;
      run.fleet = fleet;
      id = night(store, 20, run, ended);
    }
    return told(store, id).exit_code;
  };
  constexpr int kCut = NightRun::kUnfinished;
  EXPECT_EQ(code("all.db", {{1, 0}, {2, 0}, {3, 0}}), 0);
  EXPECT_EQ(code("missing.db", {{1, 0}, {3, 0}}), 130);
  EXPECT_EQ(code("cut.db", {{1, 0}, {2, kCut}, {3, 0}}), 130);
  EXPECT_EQ(code("found.db", {{1, 0}, {3, 1}}), 1);
  EXPECT_EQ(code("found_and_cut.db", {{1, kCut}, {2, 1}, {3, 0}}), 1);
  EXPECT_EQ(code("harness.db", {{1, 3}, {2, 0}, {3, 0}}), 3);
  EXPECT_EQ(code("found_by_another.db", {{1, 3}, {2, 1}, {3, kCut}}), 1) << "a failure outranks it";
  EXPECT_EQ(code("one.db", {{2, 0}}), 0) << "it speaks for itself";
  fleet = "f1";
  EXPECT_EQ(code("one_of_fleet.db", {{2, 0}}), 130) << "the others' nights are expected here";
  EXPECT_EQ(code("again.db", {{1, 0}, {2, kCut}, {2, 0}, {3, 0}}), 0) << "shard 2 began again";
  EXPECT_EQ(code("elsewhere.db", {{1, 0}, {2, 3}, {2, 0}, {3, 0}}), 0) << "its GPU had died";
}

TEST_F(NightReport, WhatOneShardReplayedIsReplayed) {
  Store store = open_rw(dir_ / "s.db");
  const auto before = night(store, 19);
  const auto one = found(store, 1, at(19, 2), before), two = found(store, 2, at(19, 2), before);
  NightRun run;
  run.shards = 2;
  run.shard = 1;
  const auto first = night(store, 20, run, 0);
  run.shard = 2;
  const auto second = night(store, 20, run, 0);
  for (const auto& [id, n] : {std::pair{one, 1}, std::pair{two, 2}})
    must(NightBook(store).replayed(n == 1 ? first : second, {sample_finding(n).signature.hash(),
                                                             id,
                                                             "sample",
                                                             "",
                                                             ReplayOutcome::fails,
                                                             {5, 5},
                                                             "",
                                                             1}));
  const Night n = told(store, first);
  EXPECT_EQ(finding(n, one)->outcome, ReplayOutcome::fails);
  EXPECT_EQ(finding(n, two)->outcome, ReplayOutcome::fails);
  EXPECT_EQ(n.trend.size(), 2u);
}

TEST_F(NightReport, ALineOfTheCorpusIsQuotedAndBringsItsTargetAlong) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  Finding f = sample_finding(1);
  f.environment.origin = {TargetSource::plugin, "/my plugins/gains.so"};
  f.first_seen = to_the_second(at(20, 2));
  f.campaign = id;
  must(store.record(f));
  const auto replayed = [&](const char* file, const char* target) {
    must(NightBook(store).replayed(id,
                                   {file, {}, target, "", ReplayOutcome::passes, {0, 5}, "", 1}));
  };
  replayed("my plans; echo pwned/it's/a.toml", "sample");
  replayed("plain/b.toml", "other");
  const Night n = told(store, id);
  ASSERT_EQ(n.corpus.size(), 2u);
  EXPECT_EQ(
      n.corpus[0].replay,
      "redzone replay 'my plans; echo pwned/it'\\''s/a.toml' --plugin '/my plugins/gains.so'");
  EXPECT_EQ(n.corpus[1].replay, "redzone replay plain/b.toml");
}

TEST_F(NightReport, TargetsThatNothingWasTriedOfAreNotJudged) {
  Store store = open_rw(dir_ / "s.db");
  NightRun run;
  run.asked_targets = "a b c";
  const auto id = night(store, 20, run, 4);
  must(NightBook(store).target(id, {{}, "b", 0.5, ""}));
  must(NightBook(store).target(id, {{9, 9, 0, 0, 9}, "c", 0.5, ""}));
  const Night n = told(store, id);
  ASSERT_EQ(n.targets.size(), 3u);
  EXPECT_EQ(gap(n, "target a"), "no time was left to fuzz it");
  EXPECT_EQ(gap(n, "target b"), "no time was left for a plan");
  EXPECT_EQ(gap(n, "target c"), "none of its plans could be judged");
  EXPECT_TRUE(
      report::night_text(n).ends_with("\nnothing could be judged, or a requested target or plan "
                                      "was not: this night is not a pass\n"));
}

TEST_F(NightReport, ANightWithoutItsCampaignIsAnError) {
  Store store = open_rw(dir_ / "s.db");
  const auto id = night(store, 20);
  must(store.database().outside([&] {
    store.database().sql().exec("PRAGMA foreign_keys = OFF");
    store.database().sql().exec("DELETE FROM campaigns");
  }));
  const auto night = describe_night(store, id, {});
  ASSERT_FALSE(night);
  EXPECT_EQ(night.error().kind, ErrorKind::unsound);
}

}  // namespace
}  // namespace redzone::nightly
