// Rows that Redzone cannot have written: every reader refuses them, `check` reports them, and no
// copy or merge accepts them.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "core/campaign_record.h"
#include "store/merge.h"
#include "store/night.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

Observation fault_observation() {
  Observation o;
  o.end = End::fault;
  o.fault = Fault{"SIGSEGV", 0, "scan", "k", Side::after, Access::read, 4, "thread 3"};
  o.calls.resize(1);
  o.calls[0].call = 0;
  o.calls[0].buffers = {{"k", Role::in, false, true, 7, 64, 1, 2, 3, 4, -8}};
  return o;
}

// A row in every table.
void fill_every_table(const std::filesystem::path& path) {
  Store store = open_rw(path);
  NightRun run;
  run.campaign = must(store.begin_campaign(sample_campaign()));
  NightBook book(store);
  must(book.begin(run));
  Finding f = sample_finding();
  f.campaign = run.campaign;
  f.id = must(store.record(f)).id;
  must(store.add_trial(f.id, "confirm", f.plan, {{}, {0}, false, false}, fault_observation(), {}));
  must(store.add_artifact(f.id, "log", "worker", "last words"));
  must(store.add_probe({f.id, "host", "c0de"}, f.plan, {"", 3, 0, 1, 0, ""}));
  must(store.mark(f.id, {"", LedgerEvent::known, "https://x/1", ""}));
  must(book.replayed(run.campaign,
                     {f.signature.hash(), f.id, "t", "", ReplayOutcome::passes, {1, 5}, "", 0}));
  must(store.update_campaign(run.campaign, {.reference = {3, 5, 1}}));
  must(book.target(run.campaign, {{1, 1, 1, 0, 0, 0, 0, 1, {3, 5}, "too large"}, "t", 1, ""}));
}

// Reads everything that a command could read; false after an error.
bool reads_all(Store& store) {
  NightBook book(store);
  const auto campaigns = store.campaigns();
  const auto findings = store.findings();
  const auto runs = book.runs();
  bool good = campaigns && findings && runs && store.quarantined() && store.all_entries() &&
              book.last_replayed() && contents(store);
  if (campaigns)
    for (const auto& c : *campaigns)
      good = book.replays(c.id) && book.targets(c.id) && book.occurrences(c.id) &&
             book.device_seconds(c.id) && good;
  if (findings)
    for (const auto& f : *findings)
      good = store.finding(f.id) && store.trials(f.id) && store.artifacts(f.id) &&
             store.entries(f.id) && store.probes({f.id, "host", "c0de"}) && good;
  return good;
}

class UnsoundRow : public ::testing::Test {
 protected:
  void SetUp() override { fill_every_table(dir_ / "good.db"); }

  std::filesystem::path changed(const std::string& statement) {
    const auto path = dir_ / "bad.db";
    std::filesystem::copy_file(dir_ / "good.db", path,
                               std::filesystem::copy_options::overwrite_existing);
    SQLite::Database sql(path.string(), SQLite::OPEN_READWRITE);
    sql.exec("PRAGMA foreign_keys = OFF");
    sql.exec("PRAGMA ignore_check_constraints = ON");
    sql.exec(statement);
    return path;
  }

  TempDir dir_;
};

TEST_F(UnsoundRow, TheSampleIsSound) {
  Store store = open_ro(changed("UPDATE findings SET state = state"));
  EXPECT_TRUE(reads_all(store));
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
}

TEST_F(UnsoundRow, IsRefusedByReadersAndByTheCheckAlike) {
  for (const char* statement : {
           "UPDATE findings SET failed_runs = 11",
           "UPDATE findings SET failed_runs = -1",
           "UPDATE findings SET failed_runs = -2, runs = -1",
           "UPDATE findings SET runs = 9000000000000000000",
           "UPDATE findings SET runs = 'many'",
           "UPDATE findings SET minimal = 2",
           "UPDATE findings SET kind = x'00'",
           "UPDATE findings SET seconds_to_first = 9e999",
           "UPDATE findings SET seconds_to_first = 'soon'",
           "UPDATE findings SET target = '../../outside/x'",
           "UPDATE findings SET reason = printf('%.*c', 1048577, 'x')",
           "UPDATE ledger SET note = printf('%.*c', 1048577, 'x')",
           "UPDATE night_replays SET reason = printf('%.*c', 1048577, 'x')",
           "UPDATE probes SET said = printf('%.*c', 1048577, 'x')",
           "UPDATE campaigns SET command = printf('%.*c', 1048577, 'x')",
           "UPDATE findings SET plan_id = 4711",
           "UPDATE findings SET environment_id = 4711",
           "UPDATE plans SET text = replace(text, '\"sample\"', '\"../../outside/x\"')",
           "UPDATE plans SET text = x'ff00'",
           "UPDATE environments SET compute_capability = 5000000000",
           "UPDATE attributions SET failed_runs = 6",
           "UPDATE culprits SET call = 2147483647",
           "UPDATE culprits SET call = -2",
           "UPDATE trials SET observation = replace(observation, '\"call\":0', '\"call\":1')",
           "UPDATE trials SET observation = replace(observation, '\"call\":0', '\"call\":-5')",
           "UPDATE trials SET observation = replace(observation, '\"call\":0', '\"call\":1e99')",
           "UPDATE trials SET observation = replace(observation, '\"call\":0', "
           "'\"call\":4294967296')",
           "UPDATE trials SET call_order = '1'",
           "UPDATE trials SET call_order = 'x'",
           "UPDATE trials SET plan_id = 4711",
           "UPDATE trials SET reference = -1",
           "UPDATE trials SET poison = -1",
           "UPDATE artifacts SET bytes = 'text'",
           "UPDATE probes SET passed = -1",
           "UPDATE probes SET passed = 'x'",
           "UPDATE campaigns SET plans = -1",
           "UPDATE campaigns SET seconds = -1",
           "UPDATE campaigns SET reference_compared = 6",
           "UPDATE campaigns SET reference_compared = -1",
           "UPDATE campaigns SET reference_compared = -2, reference_calls = -1",
           "UPDATE campaigns SET reference_calls = 'many'",
           "UPDATE campaigns SET reference_sampled = 4",
           "UPDATE campaigns SET reference_sampled = -1",
           "UPDATE night_targets SET reference_compared = 6",
           "UPDATE night_targets SET reference_sampled = 4",
           "UPDATE night_targets SET reference_calls = 9000000000000000000",
           "UPDATE night_targets SET not_compared = x'00'",
           "UPDATE night_targets SET outputs_by_digests = -1",
           "UPDATE night_targets SET outputs_by_nothing = 'many'",
           "UPDATE night_targets SET spec_error = x'00'",
           "UPDATE nights SET shard = 2",
           "UPDATE nights SET exit_code = -3",
           "UPDATE nights SET budget_seconds = -1",
           "UPDATE night_targets SET fail = -1",
           "UPDATE night_replays SET failed_runs = 6",
           "UPDATE night_replays SET tonight = 'rains'",
           "UPDATE ledger SET event = 'eclipse'",
       }) {
    const auto path = changed(statement);
    Store store = open_ro(path);
    EXPECT_FALSE(reads_all(store)) << statement;
    const auto wrong = must(check(store));
    EXPECT_FALSE(wrong.empty()) << statement;
    Store into = open_rw(dir_ / "into.db");
    EXPECT_EQ(merge(store, into).error().kind, ErrorKind::unsound) << statement;
    EXPECT_TRUE(must(into.findings()).empty()) << statement;
    EXPECT_FALSE(must(copy_store(path, dir_ / "copy.db")).empty()) << statement;
  }
}

// SQLite finds nothing wrong with such a file.
TEST_F(UnsoundRow, AnotherDefinitionIsRefusedBeforeAnythingIsRead) {
  for (const auto& [statement, says] :
       {std::pair{"UPDATE sqlite_master SET sql = replace(sql, 'REFERENCES findings', 'REFERENCES "
                  "fundings') WHERE name = 'probes'",
                  "table probes is not defined as in a store"},
        {"UPDATE sqlite_master SET sql = replace(sql, 'sightings', 'x') || ' ' WHERE name = "
         "'findings'; PRAGMA user_version = 16",
         "table findings is not defined as in a store"},
        {"ALTER TABLE nights RENAME COLUMN driver TO drive", "table nights has no column 'driver'"},
        {"ALTER TABLE nights ADD COLUMN \"a\nb\"",
         "table nights has a column 'a\\nb', which no store has"},
        {"DROP INDEX campaigns_uid", "index campaigns_uid is missing"},
        {"DROP TABLE artifacts", "table artifacts is missing"},
        {"DROP INDEX campaigns_uid; CREATE UNIQUE INDEX campaigns_uid ON campaigns (device)",
         "index campaigns_uid is not defined as in a store"},
        {"CREATE UNIQUE INDEX more ON ledger (at)", "it holds index 'more', which no store has"},
        {"CREATE INDEX more ON findings (hex(reason)) WHERE reason LIKE 'x'",
         "it holds index 'more', which no store has"},
        {"CREATE TABLE \"x\ny\" (x CHECK (instr(zeroblob(60000000), zeroblob(30000000) || 'b')))",
         "it holds table 'x\\ny', which no store has"}}) {
    const auto path = changed(fmt::format("PRAGMA writable_schema = ON; {}", statement));
    const auto wrong = must(check(path));
    ASSERT_EQ(wrong.size(), 1u) << statement;
    EXPECT_NE(wrong[0].find(says), std::string::npos) << wrong[0];
    const auto store = Store::open(path, OpenMode::read_write_create);
    ASSERT_FALSE(store) << statement;
    EXPECT_EQ(store.error().kind, ErrorKind::unsound) << statement;
    std::filesystem::remove(path);
  }
}

// quick_check evaluates it, and each evaluation takes minutes.
TEST_F(UnsoundRow, AConstraintOfOthersIsNotEvaluated) {
  const auto path = changed(
      "CREATE TABLE more (x CHECK (instr(zeroblob(60000000), CAST(zeroblob(30000000) || 'b' AS "
      "BLOB)) <> x))");
  {
    SQLite::Database sql(path.string(), SQLite::OPEN_READWRITE);
    sql.exec("PRAGMA ignore_check_constraints = ON; INSERT INTO more VALUES (7)");
  }
  EXPECT_EQ(open_error(path).kind, ErrorKind::unsound);
}

TEST_F(UnsoundRow, NumbersThatAreUsedUpAreDamage) {
  for (const char* statement :
       {"UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'findings'",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'campaigns'"}) {
    const auto wrong = must(check(changed(statement)));
    ASSERT_EQ(wrong.size(), 1u) << statement;
    EXPECT_NE(wrong[0].find("are used up"), std::string::npos) << wrong[0];
  }
}

TEST_F(UnsoundRow, TablesOfAnalyzeAreNoDamage) {
  const auto path = changed("ANALYZE");
  EXPECT_EQ(must(check(path)), std::vector<std::string>{});
}

TEST_F(UnsoundRow, AVersionBelowTheFirstIsDamage) {
  for (const int version : {-1, 0}) {
    const auto path = changed(fmt::format("PRAGMA user_version = {}", version));
    const auto wrong = must(check(path));
    ASSERT_EQ(wrong.size(), 1u);
    EXPECT_NE(wrong[0].find(fmt::format("has schema version {}, which no store has", version)),
              std::string::npos)
        << wrong[0];
  }
}

// Not even SQLite can read it.
TEST_F(UnsoundRow, AnEndlessValueIsRefusedByAll) {
  for (const char* statement : {"UPDATE findings SET reason = printf('%.*c', 70000000, 'x')",
                                "UPDATE plans SET text = text || printf('%.*c', 70000000, 'x')",
                                "UPDATE artifacts SET bytes = zeroblob(70000000)"}) {
    const auto path = changed(statement);
    const auto wrong = must(check(path));
    ASSERT_EQ(wrong.size(), 1u) << statement;
    EXPECT_NE(wrong[0].find("more than 67108864 bytes"), std::string::npos) << wrong[0];
    const auto store = Store::open(path, OpenMode::read_write_create);
    if (!store) {
      EXPECT_EQ(store.error().kind, ErrorKind::unsound) << statement;
    }
  }
}

TEST_F(UnsoundRow, OfTheWritersIsRefusedByCopies) {
  for (const char* statement :
       {"UPDATE writers SET writes = -1", "UPDATE writers SET writes = 'x'",
        "UPDATE writers SET pruned = x'00'", "UPDATE writers SET name = x'00'",
        "ALTER TABLE writers DROP COLUMN pruned", "DROP TABLE writers"}) {
    const auto path = changed(statement);
    EXPECT_FALSE(must(check(path)).empty()) << statement;
    EXPECT_FALSE(must(copy_store(path, dir_ / "copy.db")).empty()) << statement;
    const std::string before = bytes_of(path);
    EXPECT_FALSE(copy_store(dir_ / "good.db", path)) << statement;
    EXPECT_EQ(bytes_of(path), before) << statement;
  }
}

// SQLite would run them, for any length of time.
TEST_F(UnsoundRow, StatementsOfOthersAreRefusedBeforeAnythingIsRead) {
  for (const auto& [statement, says] :
       {std::pair{"CREATE TRIGGER t AFTER INSERT ON campaigns BEGIN DELETE FROM findings; END",
                  "it holds trigger 't', which no store has"},
        {"CREATE VIEW v AS SELECT 1", "it holds view 'v', which no store has"},
        {"CREATE VIRTUAL TABLE v USING fts5(x)", "it holds table 'v', which no store has"},
        {"ALTER TABLE findings ADD COLUMN g AS (hex(zeroblob(9)))",
         "table findings has a column 'g', which no store has"}}) {
    const auto path = changed(statement);
    for (const auto mode : {OpenMode::read_only, OpenMode::read_write_create}) {
      const auto store = Store::open(path, mode);
      ASSERT_FALSE(store) << statement;
      EXPECT_EQ(store.error().kind, ErrorKind::unsound) << store.error().message;
      EXPECT_NE(store.error().message.find(says), std::string::npos) << store.error().message;
    }
    auto examined = Store::examine(path);
    ASSERT_TRUE(examined) << examined.error().message;
    EXPECT_TRUE(std::holds_alternative<std::string>(*examined)) << statement;
    std::filesystem::remove(path);
  }
}

TEST_F(UnsoundRow, ADeepObservationIsRefused) {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "{\"calls\":[";
  const auto path = changed(fmt::format("UPDATE trials SET observation = '{}'", deep));
  Store store = open_ro(path);
  EXPECT_FALSE(reads_all(store));
  const auto wrong = must(check(store));
  ASSERT_FALSE(wrong.empty());
  EXPECT_LT(wrong.front().size(), 1000u);
}

TEST_F(UnsoundRow, ADeepPlanIsRefused) {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "a.";
  Store store = open_ro(changed(fmt::format("UPDATE plans SET text = '{}a = 1'", deep)));
  EXPECT_FALSE(reads_all(store));
  EXPECT_FALSE(must(check(store)).empty());
}

// Wrong counts of a program are an error when they are stored, and nothing is stored.
TEST_F(UnsoundRow, IsNotWritten) {
  Store store = open_rw(dir_ / "new.db");
  Finding f = sample_finding();
  f.reliability = {3, 2};
  EXPECT_FALSE(store.record(f));
  f.reliability = {2, 3};
  f.signature.target = f.plan.target = "../x";
  EXPECT_FALSE(store.record(f));
  EXPECT_TRUE(must(store.findings()).empty());
  const auto id = must(store.begin_campaign(sample_campaign()));
  EXPECT_FALSE(store.update_campaign(id, {.reference = {2, 1}}));
  EXPECT_EQ(must(store.campaigns()).at(0).stats, CampaignStats{});
}

// Any value in any column: readers return an error or the readable part and never end the process;
// a store that the check reports as sound can be read.
TEST_F(UnsoundRow, AnyValueInAnyColumnIsReadOrRefused) {
  std::vector<std::pair<std::string, std::string>> columns;
  {
    SQLite::Database sql((dir_ / "good.db").string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(sql,
                            "SELECT m.name, c.name FROM sqlite_master m JOIN "
                            "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT "
                            "LIKE 'sqlite_%'");
    while (query.executeStep())
      columns.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
  }
  ASSERT_GT(columns.size(), 100u);
  int refused = 0;
  for (const auto& [table, column] : columns)
    for (const char* value : {"-1", "1e300", "'\x1b[2J'", "x'c328ff00'"}) {
      std::filesystem::path path;
      try {
        path = changed(fmt::format("UPDATE {} SET {} = {}", table, column, value));
      } catch (const SQLite::Exception&) {
        continue;  // SQLite itself rejects it
      }
      Store store = open_ro(path);
      const bool good = reads_all(store);
      if (!good) ++refused;
      const auto wrong = check(store);
      ASSERT_TRUE(wrong) << wrong.error().message;
      if (wrong->empty()) {
        EXPECT_TRUE(good) << table << "." << column << " = " << value;
      }
    }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace redzone::store
