// Stores of older and newer versions, with versions that the test adds to the real ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "store/database.h"
#include "store/night.h"
#include "store/older.h"
#include "store/sample.h"
#include "store/store.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

using Steps = std::vector<std::string_view>;

// The released steps, followed by more.
Steps with(Steps more) {
  Steps steps(migrations().begin(), migrations().end());
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

constexpr std::string_view kRating =
    "ALTER TABLE findings ADD COLUMN rating INTEGER NOT NULL DEFAULT 5;"
    "UPDATE findings SET rating = 7 WHERE state = 'flaky';";
constexpr std::string_view kNotes = "CREATE TABLE notes (finding_id INTEGER, text TEXT);";

auto open_with(const std::filesystem::path& path, OpenMode mode, const Steps& steps) {
  return Database::open(path, mode, {}, steps);
}

std::int64_t number(Database& db, const std::string& query) {
  return db.sql().execAndGet(query).getInt64();
}

TEST(Migration, AStoreOfVersionOneMovesUpWithItsRows) {
  TempDir dir;
  { must(open_rw(dir / "s.db").record(sample_finding())); }
  const auto first = static_cast<std::int64_t>(migrations().size());
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({kRating, kNotes}));
    ASSERT_TRUE(db) << db.error().message;
    EXPECT_EQ(number(**db, "PRAGMA user_version"), first + 2);
    EXPECT_EQ(number(**db, "SELECT rating FROM findings"), 7);
    EXPECT_EQ(number(**db, "SELECT count(*) FROM notes"), 0);
  }
  // The store is now newer than this build can read.
  EXPECT_EQ(open_error(dir / "s.db").kind, ErrorKind::usage);
}

// Earlier stores kept occurrences as one number and had no names of campaigns.
TEST(Migration, StoresFromBeforeTheLedgerCountByCampaign) {
  TempDir dir;
  constexpr std::size_t kBefore = 5;
  const Steps old(migrations().begin(), migrations().begin() + kBefore);
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, old);
    ASSERT_TRUE(db) << db.error().message;
    (*db)->sql().exec(R"sql(
      INSERT INTO campaigns VALUES (7, -1, 'host', 'redzone run', '2025-01-31T12:00:00Z', '', 1,
                                    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
      INSERT INTO environments VALUES (1, 'host', '', 0, '', '', '', '', '0.1.0');
      INSERT INTO plans VALUES (1, 'h', 'text');
    )sql");
    for (const char* campaign : {"7", "NULL"})
      (*db)->sql().exec(fmt::format(
          "INSERT INTO findings (signature_hash, kind, target, location, buffer, side, access, "
          "state, oracle, reason, plan_id, original_id, minimal, needs_history, failed_runs, runs, "
          "fault_detail, environment_id, campaign_id, plans_to_first, seconds_to_first, "
          "sightings, "
          "first_seen, last_seen) VALUES ('{0}', 'hang', 't', '', '', '', '', 'confirmed', '', '', "
          "1, 1, 1, 0, 1, 1, '', 1, {0}, 0, 0, 42, '', '')",
          campaign));
  }
  auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({}));
  ASSERT_TRUE(db) << db.error().message;
  const std::string uid = (*db)->sql().execAndGet("SELECT uid FROM campaigns").getString();
  EXPECT_EQ(uid, "7-2025-01-31T12:00:00Z-ffffffffffffffff");
  EXPECT_EQ(number(**db, "SELECT plans FROM occurrences WHERE campaign = '" + uid + "'"), 42);
  EXPECT_EQ(number(**db, "SELECT plans FROM occurrences WHERE campaign = ''"), 42);
  EXPECT_EQ(number(**db, "SELECT count(*) FROM ledger"), 0);
}

// Earlier stores did not count the calls that were compared with the reference.
TEST(Migration, StoresFromBeforeTheCountOfComparedCallsSayNothingOfIt) {
  TempDir dir;
  constexpr std::size_t kBefore = 8;
  const Steps old(migrations().begin(), migrations().begin() + kBefore);
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, old);
    ASSERT_TRUE(db) << db.error().message;
    (*db)->sql().exec(R"sql(
      INSERT INTO campaigns VALUES (7, -1, 'host', 'redzone nightly', '2025-01-31T12:00:00Z', '', 1,
                                    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 'u');
      INSERT INTO nights VALUES (7, '2025-01-31T12:00:00.000000Z', 1, 1, 1, '', '0.1.0', '', '', '',
                                 60, 1, 1, 1, 6, 0, '', -1, 't', '');
      INSERT INTO night_targets VALUES (7, 't', 2, 3, 5, 6, 7, 8, 9, 1, 1, '');
    )sql");
    EXPECT_EQ(number(**db, "PRAGMA user_version"), static_cast<std::int64_t>(kBefore));
  }
  Store store = open_rw(dir / "s.db");
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
  const auto campaigns = must(store.campaigns());
  ASSERT_EQ(campaigns.size(), 1u);
  EXPECT_EQ(campaigns[0].stats.plans, 2u);
  EXPECT_EQ(campaigns[0].stats.reference, ReferenceCount{});
  const auto targets = must(NightBook(store).targets(7));
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].plans, 2u);
  EXPECT_EQ(targets[0].reference, ReferenceCount{});
  EXPECT_EQ(targets[0].not_compared, "");
  EXPECT_EQ(targets[0].outputs, OutputCount{});
  EXPECT_EQ(targets[0].not_judged + targets[0].spec_error, "");
}

// A pass that no reference had seen says nothing of what a finding needs.
TEST(Migration, PassesThatWereNotComparedAreForgotten) {
  TempDir dir;
  constexpr std::size_t kBefore = 21;
  const Steps old(migrations().begin(), migrations().begin() + kBefore);
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, old);
    ASSERT_TRUE(db) << db.error().message;
    auto& sql = (*db)->sql();
    sql.exec("INSERT INTO environments VALUES (1, 'host', '', 0, '', '', '', '', '0.1.0')");
    sql.exec("INSERT INTO plans VALUES (1, 'h', 'text')");
    const auto add = [&](int id, std::string_view kind, int failed, int passed) {
      sql.exec(fmt::format(
          "INSERT INTO findings (id, signature_hash, kind, target, location, buffer, side, access, "
          "state, oracle, reason, plan_id, original_id, minimal, needs_history, failed_runs, runs, "
          "fault_detail, environment_id, plans_to_first, seconds_to_first, occurrences, "
          "first_seen, last_seen) "
          "VALUES ({0}, 'h{0}', '{1}', 't', '', 'y', '', '', 'confirmed', 'o', '', 1, 1, 1, 0, 1, "
          "1, '', 1, 0, 0, 1, '', '')",
          id, kind));
      sql.exec(fmt::format("INSERT INTO probes VALUES ({}, 1, 'host', 'c', {}, 0, {}, 0, '', '')",
                           id, failed, passed));
      sql.exec(fmt::format("INSERT INTO attributions VALUES ({}, 0, 'poison', '0x0', {}, {})", id,
                           failed, failed + passed));
    };
    add(1, "nondeterministic", 0, 6);
    add(2, "illegal-access", 6, 0);
    add(3, "reference", 0, 6);
  }
  auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({}));
  ASSERT_TRUE(db) << db.error().message;
  for (const auto* table : {"probes", "attributions"}) {
    const auto left = [&](int id) {
      return number(**db, fmt::format("SELECT count(*) FROM {} WHERE finding_id = {}", table, id));
    };
    EXPECT_EQ(left(1), 0) << table;
    EXPECT_EQ(left(2), 1) << table;
    EXPECT_EQ(left(3), 1) << table << ": its oracle is the reference";
  }
}

TEST(Migration, StoresInOlderWordsAreReadInThoseOfToday) {
  TempDir dir;
  constexpr std::size_t kBefore = 11;
  const Steps old(migrations().begin(), migrations().begin() + kBefore);
  Plan plan = redzone::testing::sample_plan();
  plan.mode.placement = Placement::guard_before;
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, old);
    ASSERT_TRUE(db) << db.error().message;
    auto& sql = (*db)->sql();
    sql.exec("INSERT INTO environments VALUES (1, 'none', '', 0, '', '', '', '', '0.1.0')");
    SQLite::Statement plans(sql, "INSERT INTO plans VALUES (1, ?, ?)");
    plans.bind(1, plan_hash(plan));
    plans.bind(2, text_to_hash(plan));  // the words of that version
    plans.exec();
    sql.exec(fmt::format(
        "INSERT INTO findings (id, signature_hash, kind, target, location, buffer, side, access, "
        "state, oracle, reason, plan_id, original_id, minimal, needs_history, failed_runs, runs, "
        "fault_detail, environment_id, plans_to_first, seconds_to_first, sightings, first_seen, "
        "last_seen) VALUES (1, '{}', 'launch-config', '{}', '', '', '', '', 'confirmed', "
        "'launches', '', 1, 1, 1, 0, 1, 1, '', 1, 0, 0, 42, '2025-01-31T12:00:00Z', "
        "'2025-01-31T12:00:00Z')",
        Signature{FailKind::launch_config, plan.target, "", "", "", ""}.hash(), plan.target));
    sql.exec("INSERT INTO sightings VALUES (1, '', 42)");
    sql.exec(
        "INSERT INTO findings SELECT 2, 'h', 'redzone', target, '', 'y', 'after', 'write', state, "
        "'redzone', reason, plan_id, original_id, minimal, needs_history, failed_runs, runs, "
        "fault_detail, environment_id, campaign_id, plans_to_first, seconds_to_first, sightings, "
        "first_seen, last_seen, reduction_end, reduction_plans, reduction_trials, "
        "reduction_seconds FROM findings");
    for (const int id : {1, 2})
      sql.exec(
          fmt::format("INSERT INTO probes VALUES ({}, 1, 'host', 'c', 9, 0, 0, 0, '', '')", id));
    sql.exec("INSERT INTO attributions VALUES (1, 0, 'placement', 'head', 3, 3)");
    sql.exec("INSERT INTO attributions VALUES (1, 1, 'placement', 'tail', 3, 3)");
  }
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({}));
    ASSERT_TRUE(db) << db.error().message;
    EXPECT_EQ(number(**db, "SELECT finding_id FROM probes"), 1)
        << "runs that could not see the write are made again";
    EXPECT_EQ(number(**db, "SELECT count(*) FROM probes"), 1);
    (*db)->sql().exec("DELETE FROM findings WHERE id = 2");
  }
  Store store = open_rw(dir / "s.db");
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
  const Finding finding = must(store.finding(1));
  EXPECT_EQ(finding.oracle, "launch-mismatch");
  EXPECT_EQ(finding.environment.device, "dry-run");
  EXPECT_EQ(finding.occurrences, 42);
  EXPECT_EQ(finding.plan, plan);
  ASSERT_EQ(finding.attribution.size(), 2u);
  EXPECT_EQ(finding.attribution[0].value, "guard_before");
  EXPECT_EQ(finding.attribution[1].value, "guard_after");
  // The plan is still the same one.
  EXPECT_EQ(must(store.record(finding)).id, 1);
}

// Earlier trials had no alignment (tensors were aligned as promised) and no callers (one thread
// made all calls).
void expect_default_without(const std::vector<std::string>& columns, std::size_t version,
                            const char* before = kToVersion18) {
  TempDir dir;
  const Plan plan = redzone::testing::sample_plan();
  {
    Store store = open_rw(dir / "s.db");
    const std::int64_t id = must(store.record(sample_finding())).id;
    must(store.add_trial(id, "replay", plan, {.mode = plan.mode}, {}, {}));
  }
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({}));
    ASSERT_TRUE(db) << db.error().message;
    (*db)->sql().exec(before);
    for (const auto& column : columns)
      (*db)->sql().exec(fmt::format("ALTER TABLE trials DROP COLUMN {}", column));
    (*db)->sql().exec(fmt::format("PRAGMA user_version = {}", version));
  }
  Store store = open_rw(dir / "s.db");
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
  const auto trials = must(store.trials(1));
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].spec.mode, plan.mode);
}

TEST(Migration, TrialsFromBeforeAlignmentsHaveTheDefault) {
  expect_default_without({"alignment", "callers"}, 16);
}

TEST(Migration, TrialsFromBeforeCallersHaveTheDefault) {
  expect_default_without({"callers"}, 17);
}

// Earlier trials had no addresses: those of all calls were distinct.
TEST(Migration, TrialsFromBeforeAddressesHaveTheDefault) {
  expect_default_without({}, 18);
  expect_default_without({"addresses", "stack"}, 20, "");
}

// Earlier trials ran on the stack as it was.
TEST(Migration, TrialsFromBeforeStacksHaveTheDefault) {
  expect_default_without({"stack"}, 22, "");
}

TEST(Migration, ANewStoreRunsAllSteps) {
  TempDir dir;
  auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({kRating}));
  ASSERT_TRUE(db) << db.error().message;
  EXPECT_EQ(number(**db, "PRAGMA user_version"),
            static_cast<std::int64_t>(migrations().size()) + 1);
  EXPECT_EQ(number(**db, "PRAGMA application_id"), kApplicationId);
}

TEST(Migration, AReaderOfAnOlderStoreLeavesTheFileAlone) {
  TempDir dir;
  { must(open_rw(dir / "s.db").record(sample_finding())); }
  const std::string before = bytes_of(dir / "s.db");
  auto db = open_with(dir / "s.db", OpenMode::read_only, with({kRating}));
  ASSERT_TRUE(db) << db.error().message;
  EXPECT_EQ(number(**db, "SELECT rating FROM findings"), 7);
  EXPECT_EQ(bytes_of(dir / "s.db"), before);
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(Migration, AStepThatFailsUndoesThoseBeforeIt) {
  TempDir dir;
  { must(open_rw(dir / "s.db").record(sample_finding())); }
  {
    auto db = open_with(dir / "s.db", OpenMode::read_write_create,
                        with({kRating, "CREATE TABLE findings (id INTEGER);"}));
    ASSERT_FALSE(db);
    EXPECT_EQ(db.error().kind, ErrorKind::unsound);
    EXPECT_NE(db.error().message.find("already exists"), std::string::npos);
  }
  Store store = open_rw(dir / "s.db");
  EXPECT_TRUE(equal(must(store.finding(1)), sample_finding()));
}

TEST(Migration, TheReleasedStepsAreValid) {
  ASSERT_FALSE(migrations().empty());
  TempDir dir;
  auto db = open_with(dir / "s.db", OpenMode::read_write_create, with({}));
  ASSERT_TRUE(db) << db.error().message;
  EXPECT_EQ((*db)->sql().execAndGet("PRAGMA integrity_check").getString(), "ok");
  for (const char* table :
       {"campaigns", "findings", "plans", "trials", "environments", "artifacts", "attributions",
        "culprits", "probes", "occurrences", "ledger", "nights", "night_targets", "night_replays",
        "writers", "former_names", "merged_copies"})
    EXPECT_TRUE((*db)->sql().tableExists(table)) << table;
}

// Version 14 had the file of a plugin, or the folder of a package, as the end of the toolkit.
TEST(Migration, FilesOfPluginsAndFoldersOfPackagesLeaveTheToolkit) {
  TempDir dir;
  const std::pair<const char*, TargetOrigin> rows[] = {
      {"g++ 12.2.0", {}},
      {"g++ 12.3.0, plugin /my \"own\", plugin.so",
       {TargetSource::plugin, "/my \"own\", plugin.so"}},
      {"Triton 3.6.0, package /p/it's", {TargetSource::package, "/p/it's"}}};
  const char* toolkits[] = {"g++ 12.2.0", "g++ 12.3.0", "Triton 3.6.0"};
  std::vector<std::int64_t> ids;
  {
    Store store = open_rw(dir / "s.db");
    for (int i = 0; i < 3; ++i) {
      Finding f = sample_finding(i);
      f.environment.toolkit = rows[i].first;
      f.environment.origin = {};
      ids.push_back(must(store.settle(f)).id);
    }
  }
  SQLite::Database((dir / "s.db").string(), SQLite::OPEN_READWRITE)
      .exec(std::string(kToVersion18) +
            "; ALTER TABLE findings DROP COLUMN origin_merged; ALTER TABLE trials DROP COLUMN "
            "alignment; ALTER TABLE trials DROP COLUMN callers; PRAGMA user_version = 14");
  Store store = open_rw(dir / "s.db");
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Environment read = must(store.finding(ids[i])).environment;
    EXPECT_EQ(read.origin, rows[i].second);
    EXPECT_EQ(read.toolkit, toolkits[i]);
  }
}

}  // namespace
}  // namespace redzone::store
