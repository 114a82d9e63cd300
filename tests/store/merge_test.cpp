// Invariants of merging stores: nothing is lost, the order does not matter, and merging twice
// changes nothing.
#include "store/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "core/plan_text.h"
#include "store/few_runs.h"
#include "store/night.h"
#include "store/sample.h"

namespace redzone::store {
namespace {

using namespace testing;

// All data of a finding except the ids that the store assigns.
std::string told(Store& store, const Finding& f) {
  std::string out =
      fmt::format("{} {} {} {} {} {}/{} {} {} {} {} {}\n{}\n{}\n", f.signature.text(),
                  name_of(f.state), f.oracle, f.reason, f.minimal, f.reliability.k, f.reliability.n,
                  f.fault_detail, f.occurrences, f.first_seen, f.last_seen, f.plans_to_first,
                  print_plan(f.plan), print_plan(f.original));
  for (const auto& row : f.attribution)
    out += fmt::format("{} {} {}\n", row.axis, row.value, row.failed.k);
  out += fmt::format("{} {} {} {}\n", name_of(f.ledger.standing), f.ledger.link, f.ledger.note,
                     f.ledger.since);
  for (const auto& e : must(store.entries(f.id)))
    out += fmt::format("{} {} {} {}\n", e.at, name_of(e.event), e.link, e.note);
  return out;
}

std::map<std::string, std::string> told(const std::filesystem::path& path) {
  Store store = open_ro(path);
  std::map<std::string, std::string> out;
  for (const auto& f : must(store.findings())) out[f.signature.hash()] = told(store, f);
  return out;
}

// Every row of every table.
std::string dump(const std::filesystem::path& path) {
  SQLite::Database sql(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement tables(sql, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1");
  std::string out;
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    out += table + "\n";
    SQLite::Statement rows(sql, "SELECT * FROM " + table);
    while (rows.executeStep()) {
      for (int i = 0; i < rows.getColumnCount(); ++i) out += rows.getColumn(i).getString() + "|";
      out += "\n";
    }
  }
  return out;
}

void merge_files(const std::vector<std::filesystem::path>& from,
                 const std::filesystem::path& into) {
  Store target = open_rw(into);
  for (const auto& path : from) {
    Store source = open_ro(path);
    must(merge(source, target));
  }
}

// A store of a few campaigns over few signatures, so that stores share them.
void fill_chosen(const std::filesystem::path& path, const std::vector<int>& choices) {
  Store store = open_rw(path);
  NightBook book(store);
  must(store.begin_campaign(sample_campaign()));
  for (const int choice : choices) {
    Finding f = sample_finding(choice % 3);
    f.state = static_cast<FindingState>(choice / 3 % 4);
    f.plan = plan_of(1 + choice / 12 % 3);
    f.minimal = choice / 36 % 2 == 0;
    f.reliability = {choice / 72 % 4, 4};
    f.reason = std::to_string(choice % 7);
    f.first_seen = fmt::format("2025-01-{}T00:00:00Z", 10 + choice % 5);
    const auto id = must(store.record(f)).id;
    f.id = id;
    const auto day = [&](int n) { return fmt::format("2025-01-{}T00:00:00.000000Z", 10 + n % 20); };
    switch (choice / 5 % 6) {
      case 0:
        must(store.enter(id, {day(choice), LedgerEvent::passed, "", ""}));
        break;
      case 1:
        must(store.enter(id, {day(choice), LedgerEvent::failed, "", ""}));
        break;
      case 2:
        must(store.enter(id, {day(choice), LedgerEvent::known, "https://x/1", ""}));
        break;
      case 3:
        must(store.begin_campaign(sample_campaign()));
        must(store.sighted(id, choice));
        break;
      case 4:
        must(store.add_trial(id, "confirm", f.plan, {}, {}, {}));
        break;
      default:
        must(store.add_artifact(id, "log", "confirm", f.reason));
    }
  }
}

rc::Gen<std::vector<int>> merge_choices() {
  return rc::gen::resize(12, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000)));
}

using Merge = FewRuns;

TEST_F(Merge, TwiceIsOnce) {
  EXPECT_TRUE(rc::check("merging again changes nothing", [] {
    TempDir dir;
    fill_chosen(dir / "a.db", *merge_choices());
    fill_chosen(dir / "b.db", *merge_choices());
    merge_files({dir / "a.db", dir / "b.db"}, dir / "c.db");
    const std::string before = dump(dir / "c.db");
    merge_files({dir / "b.db", dir / "a.db", dir / "b.db"}, dir / "c.db");
    RC_ASSERT(dump(dir / "c.db") == before);
  }));
}

TEST_F(Merge, TheOrderDoesNotMatter) {
  EXPECT_TRUE(rc::check("any order gives the same findings and standings", [] {
    TempDir dir;
    for (const char* name : {"a.db", "b.db", "c.db"}) fill_chosen(dir / name, *merge_choices());
    merge_files({dir / "a.db", dir / "b.db", dir / "c.db"}, dir / "abc.db");
    merge_files({dir / "c.db", dir / "a.db", dir / "b.db"}, dir / "cab.db");
    RC_ASSERT(told(dir / "abc.db") == told(dir / "cab.db"));
    merge_files({dir / "b.db", dir / "c.db"}, dir / "bc.db");
    merge_files({dir / "bc.db"}, dir / "a.db");
    RC_ASSERT(told(dir / "a.db") == told(dir / "abc.db"));
  }));
}

TEST_F(Merge, EveryFindingAndEveryEntryIsThere) {
  EXPECT_TRUE(rc::check("nothing is lost", [] {
    TempDir dir;
    fill_chosen(dir / "a.db", *merge_choices());
    fill_chosen(dir / "b.db", *merge_choices());
    merge_files({dir / "a.db", dir / "b.db"}, dir / "c.db");
    Store merged = open_ro(dir / "c.db");
    std::size_t campaigns = 0;
    for (const char* name : {"a.db", "b.db"}) {
      Store source = open_ro(dir / name);
      campaigns += must(source.campaigns()).size();
      for (const auto& f : must(source.findings())) {
        const auto found = must(merged.find(f.signature));
        RC_ASSERT(found.has_value());
        RC_ASSERT(found->occurrences >= f.occurrences);
        RC_ASSERT(found->first_seen <= f.first_seen);
        const auto entries = must(merged.entries(found->id));
        for (const auto& e : must(source.entries(f.id)))
          RC_ASSERT(std::find(entries.begin(), entries.end(), e) != entries.end());
      }
    }
    RC_ASSERT(must(merged.campaigns()).size() == campaigns);
  }));
}

TEST_F(Merge, TheSmallerAndMoreReliableReproStaysWithTheEvidenceOfAll) {
  TempDir dir;
  const auto make = [&](const char* name, FindingState state, std::int64_t calls, std::int64_t k) {
    Store store = open_rw(dir / name);
    Finding f = sample_finding();
    f.state = state;
    f.plan = plan_of(calls);
    f.reliability = {k, 10};
    f.id = must(store.record(f)).id;
    must(store.add_trial(f.id, name, f.plan, {}, {}, {}));
    must(store.add_artifact(f.id, "log", "confirm", name));
  };
  make("large.db", FindingState::confirmed, 5, 10);
  make("small.db", FindingState::confirmed, 2, 10);
  make("rare.db", FindingState::flaky, 1, 3);
  merge_files({dir / "large.db", dir / "rare.db", dir / "small.db"}, dir / "all.db");
  Store all = open_ro(dir / "all.db");
  const Finding f = must(all.findings()).at(0);
  EXPECT_EQ(call_count(f.plan), 2);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.occurrences, 1) << "imported without a campaign: how often is not known";
  std::map<std::string, std::int64_t> calls;
  for (const auto& trial : must(all.trials(f.id))) calls[trial.purpose] = call_count(trial.plan);
  EXPECT_EQ(calls, (std::map<std::string, std::int64_t>{
                       {"large.db", 5}, {"rare.db", 1}, {"small.db", 2}}));
  std::map<std::string, std::string> logs;
  for (const auto& a : must(all.artifacts(f.id))) logs[a.kind] = a.bytes;
  const auto of_plan = [](std::int64_t n) {
    return "log of plan " + plan_hash(plan_of(n)).substr(0, 12);
  };
  EXPECT_EQ(logs, (std::map<std::string, std::string>{
                      {"log", "small.db"}, {of_plan(5), "large.db"}, {of_plan(1), "rare.db"}}));
}

// Two runners that reduced to the same plan: the last output of their workers may differ.
TEST_F(Merge, ArtifactsOfOnePlanThatHaveOneNameAreAllKept) {
  TempDir dir;
  for (const char* name : {"a.db", "b.db"}) {
    Store store = open_rw(dir / name);
    const auto id = must(store.record(sample_finding())).id;
    must(store.add_artifact(id, "log", "confirm", name));
    must(store.add_artifact(id, "log", "replay", "the same"));
  }
  merge_files({dir / "a.db", dir / "b.db", dir / "b.db"}, dir / "all.db");
  merge_files({dir / "all.db"}, dir / "b.db");
  merge_files({dir / "b.db"}, dir / "all.db");
  for (const char* name : {"all.db", "b.db"}) {
    Store store = open_ro(dir / name);
    std::multiset<std::string> bytes;
    for (const auto& a : must(store.artifacts(1))) bytes.insert(a.bytes);
    EXPECT_EQ(bytes, (std::multiset<std::string>{"a.db", "b.db", "the same"})) << name;
  }
}

TEST_F(Merge, TheNightsOfShardsComeTogetherAndALaterCopyOfANightWins) {
  TempDir dir;
  const auto begin = [](Store& store, int shard) {
    NightRun run;
    run.campaign = must(store.begin_campaign(sample_campaign()));
    run.began = must(store.moment());
    run.shard = shard;
    run.shards = 2;
    must(NightBook(store).begin(run));
    return run;
  };
  {
    Store a = open_rw(dir / "a.db"), b = open_rw(dir / "b.db");
    NightRun run = begin(a, 1);
    const auto id = must(a.record(sample_finding())).id;
    must(NightBook(a).replayed(1, {"x", id, "sample", "", ReplayOutcome::fails, {5, 5}, "", 1}));
    merge_files({dir / "a.db"}, dir / "all.db");
    must(NightBook(a).replayed(1, {"y", {}, "sample", "", ReplayOutcome::passes, {0, 5}, "", 1}));
    must(a.end_campaign(1, {.reference = {3, 5, 2}}));
    must(NightBook(a).target(1, {{1, 1, 1, 0, 0, 0, 0, 1, {3, 5}, "too large"}, "t", 1, ""}));
    run.exit_code = 1;
    must(NightBook(a).update(run));
    begin(b, 2);
  }
  merge_files({dir / "b.db", dir / "a.db", dir / "b.db"}, dir / "all.db");
  Store all = open_ro(dir / "all.db");
  NightBook book(all);
  const auto runs = must(book.runs());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].shard, 1);
  EXPECT_EQ(runs[0].exit_code, 1);
  EXPECT_EQ(runs[1].shard, 2);
  EXPECT_EQ(runs[1].exit_code, NightRun::kElsewhere) << "b goes on with it, and not all";
  const auto replays = must(book.replays(1));
  ASSERT_EQ(replays.size(), 2u);
  EXPECT_EQ(replays[0].finding, 1);
  EXPECT_FALSE(replays[1].finding);
  EXPECT_EQ(must(all.campaigns()).at(0).stats.reference, (ReferenceCount{3, 5, 2}));
  const auto targets = must(book.targets(1));
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].reference, (ReferenceCount{3, 5}));
  EXPECT_EQ(targets[0].not_compared, "too large");
}

}  // namespace
}  // namespace redzone::store
