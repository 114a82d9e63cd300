// 300 damaged stores, each given to every command that opens one: every command ends with a
// documented exit code in bounded time and leaves no process behind. A store that `db check`
// reports as sound can be read.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "e2e/cli.h"
#include "e2e/damage.h"

namespace redzone::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kStores = 300, kShards = 6;
// For one command; even on a busy machine only a command that never ends takes longer.
constexpr std::chrono::minutes kMost{5};

constexpr const char* kPlan = R"(redzone_plan = 1
target = "puzzle.stale_grid"

[mode]
launch = "blocking"
allocator = "guard"
placement = "guard_after"
poison = "0xffffffff"
schedule_seed = 0

[expect]
oracle = "uninitialized"
kind = "uninitialized"
buffer = "y"

[[step]]
do = "call"
dims = { N = 1 }
seed = 1

[[step]]
do = "call"
dims = { N = 65 }
seed = 1
)";

// Commands that only read. "@" is the damaged store.
const std::vector<Arguments> kReading{
    {"findings", "--db", "@"},
    {"findings", "--json", "--db", "@"},
    {"show", "1", "--db", "@"},
    {"show", "2", "--json", "--db", "@"},
    {"show", "1", "--tensors", "--db", "@"},
    {"report", "--db", "@"},
    {"report", "--format", "html", "--db", "@"},
    {"export", "1", "2", "--to", "out", "--db", "@"},
    {"db", "stats", "--db", "@"},
    {"db", "copy", "--db", "@", "--to", "copy.db"},
    {"merge", "@", "--into", "merged.db"},
};

// Commands that write to the store or run its plans; one of them for each store.
const std::vector<Arguments> kRunning{
    {"replay", "1", "--runs", "2", "--device", "host", "--db", "@"},
    {"reduce", "2", "--evaluations", "20", "--device", "host", "--db", "@"},
    {"bisect", "1", "--time", "2s", "--device", "host", "--db", "@"},
    {"bisect", "1", "--dim", "N", "--time", "2s", "--device", "host", "--db", "@"},
    {"run", "twin.last_tile", "--plans", "3", "--time", "5s", "--device", "host", "--db", "@"},
    {"run", "puzzle.stale_grid", "--plans", "3", "--time", "5s", "--seed", "1", "--device", "host",
     "--db", "@"},
    {"nightly", "twin.last_tile", "--plans", "3", "--device", "host", "--db", "@"},
    {"import", "plan.toml", "--db", "@"},
    {"merge", "good.db", "--into", "@"},
    {"mark", "1", "known", "--link", "https://example.com/1", "--db", "@"},
    {"db", "prune", "--keep-days", "1", "--db", "@"},
    {"db", "copy", "--db", "good.db", "--to", "@"},
};

class DamagedStores : public testing::TestWithParam<std::uint32_t> {
 protected:
  // Findings with evidence, probes and marks; a campaign; an unfinished night with replays.
  void SetUp() override {
    folder_.write("plan.toml", kPlan);
    for (const Arguments& arguments :
         {Arguments{"import", "plan.toml", "--db", "good.db"},
          {"reduce", "1", "--evaluations", "5", "--device", "host", "--db", "good.db"},
          {"bisect", "1", "--time", "2s", "--device", "host", "--db", "good.db"},
          {"run", "puzzle.last_tile", "--plans", "10", "--seed", "1", "--device", "host", "--db",
           "good.db"},
          {"mark", "2", "known", "--link", "https://example.com/2", "--db", "good.db"},
          {"nightly", "twin.last_tile", "--plans", "3", "--device", "host", "--db", "good.db"}}) {
      const Ran ran = redzone(folder_, arguments);
      ASSERT_LE(ran.exit, 1) << ran;
    }
    SQLite::Database sql(folder_ / "good.db", SQLite::OPEN_READWRITE);
    for (const char* table :
         {"findings", "plans", "trials", "probes", "culprits", "attributions", "occurrences",
          "ledger", "campaigns", "nights", "night_targets", "night_replays"})
      EXPECT_GT(sql.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt(), 0) << table;
    sql.exec("UPDATE nights SET exit_code = -1");
    sql.exec("UPDATE campaigns SET ended = '' WHERE id IN (SELECT campaign_id FROM nights)");
    sql.exec(
        "INSERT INTO artifacts (finding_id, kind, name, added, bytes) VALUES (1, 'log', "
        "'worker', '2025-01-31T12:34:56Z', x'00ff')");
    sql.exec("PRAGMA journal_mode = DELETE");
    const Ran check = redzone(folder_, {"db", "check", "--db", "good.db"});
    ASSERT_EQ(check.exit, 0) << check;
  }

  Ran run(const Arguments& arguments) {
    Arguments words = arguments;
    std::replace(words.begin(), words.end(), std::string("@"), std::string("bad.db"));
    for (const char* made : {"copy.db", "merged.db", "merged.db-wal", "merged.db-shm"})
      fs::remove(folder_ / made);
    const auto began = std::chrono::steady_clock::now();
    Ran ran = redzone(folder_, words);
    EXPECT_LT(std::chrono::steady_clock::now() - began, kMost) << words.front();
    EXPECT_TRUE(ran.exit >= 0 && ran.exit <= 5) << words.front() << " " << ran;
    EXPECT_EQ(ran.err.find("internal check"), std::string::npos) << ran;
    for (const char steering : {'\x1b', '\x07', '\xff'})
      EXPECT_EQ((ran.out + ran.err).find(steering), std::string::npos) << words.front() << ran;
    return ran;
  }

  const TempFolder folder_;
};

TEST_P(DamagedStores, EndEachCommandWithADocumentedCode) {
  int unsound = 0;
  for (std::uint32_t number = GetParam(); number < kStores; number += kShards) {
    fs::copy_file(folder_ / "good.db", folder_ / "bad.db", fs::copy_options::overwrite_existing);
    for (const char* log : {"bad.db-wal", "bad.db-shm"}) fs::remove(folder_ / log);
    const std::string how = damage(folder_ / "bad.db", number);
    SCOPED_TRACE("store " + std::to_string(number) + ": " + how);
    const bool sound = run({"db", "check", "--db", "@"}).exit == 0;
    if (!sound) ++unsound;
    for (const Arguments& arguments : kReading) {
      const Ran ran = run(arguments);
      // A finding or a night may be missing: that alone is no damage.
      EXPECT_NE(ran.exit, 3) << arguments.front() << ran;
      if (sound) {
        EXPECT_NE(ran.exit, 5) << arguments.front() << ran;
      }
    }
    // Chosen at random, independently of the kind of damage.
    run(kRunning[std::mt19937(number)() % kRunning.size()]);
  }
  EXPECT_GT(unsound, 0);
  EXPECT_TRUE(left_behind(folder_).empty());
  EXPECT_FALSE(fs::exists(folder_.path().parent_path() / "outside"));
}

INSTANTIATE_TEST_SUITE_P(Shard, DamagedStores, testing::Range(0u, kShards));

}  // namespace
}  // namespace redzone::e2e
