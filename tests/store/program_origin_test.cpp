// Findings of programs in a store: nothing that any command does to a store loses where they come
// from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/database.h"
#include "store/merge.h"
#include "store/older.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

std::int64_t stored(const std::filesystem::path& path, const Finding& finding) {
  Store store = open_rw(path);
  Finding f = finding;
  f.campaign = must(store.begin_campaign(sample_campaign()));
  return must(store.settle(f)).id;
}

TEST(ProgramFindings, AreReadAsTheyWereStored) {
  TempDir dir;
  const auto id = stored(dir / "s.db", sample_program_finding());
  Store store = open_ro(dir / "s.db");
  Finding expected = sample_program_finding();
  Finding read = must(store.finding(id));
  expected.campaign = read.campaign;
  EXPECT_TRUE(equal(read, expected));
  EXPECT_EQ(must(store.findings()).at(0).program, sample_origin());
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
}

TEST(ProgramFindings, TheLatestRunIsTheOneToRepeat) {
  TempDir dir;
  const auto id = stored(dir / "s.db", sample_program_finding());
  Finding later = sample_program_finding();
  later.program->folder = "/elsewhere";
  EXPECT_EQ(stored(dir / "s.db", later), id);
  const Finding read = must(open_ro(dir / "s.db").finding(id));
  EXPECT_EQ(read.program->folder, "/elsewhere");
  EXPECT_EQ(read.occurrences, 2);
}

TEST(ProgramFindings, AMarkKeepsThem) {
  TempDir dir;
  const auto id = stored(dir / "s.db", sample_program_finding());
  Store store = open_rw(dir / "s.db");
  EXPECT_FALSE(store.mark(id, {"", LedgerEvent::known, "", "no link"}));
  must(store.mark(id, {"", LedgerEvent::known, "https://example.org/1", "rounding"}));
  const Finding read = must(store.finding(id));
  EXPECT_EQ(read.ledger.standing, Standing::known);
  EXPECT_EQ(read.program, sample_origin());
}

TEST(ProgramFindings, AreMergedCopiedAndNotPruned) {
  TempDir dir;
  stored(dir / "a.db", sample_program_finding(1));
  stored(dir / "a.db", sample_finding(1));
  stored(dir / "b.db", sample_program_finding(2));
  {
    Store from = open_ro(dir / "a.db"), into = open_rw(dir / "b.db");
    must(merge(from, into));
    EXPECT_EQ(must(into.findings()).size(), 3u);
    const auto again = must(merge(from, into));
    EXPECT_EQ(again.findings + again.improved, 0);
    must(prune(into, 0));
    EXPECT_EQ(must(check(into)), std::vector<std::string>{});
  }
  EXPECT_EQ(must(copy_store(dir / "b.db", dir / "c.db")), std::vector<std::string>{});
  std::size_t programs = 0;
  for (const auto& f : must(open_ro(dir / "c.db").findings()))
    if (f.program == sample_origin()) ++programs;
  EXPECT_EQ(programs, 2u);
}

// What it says to run was written elsewhere, until the program is run here.
TEST(ProgramFindings, OfAnotherStoreAreKnownUntilTheyAreSeenHere) {
  TempDir dir;
  stored(dir / "a.db", sample_program_finding());
  stored(dir / "a.db", sample_finding());
  {
    Store from = open_ro(dir / "a.db"), into = open_rw(dir / "b.db");
    EXPECT_FALSE(must(from.findings()).at(0).origin_merged);
    must(merge(from, into));
    must(merge(from, into));
    EXPECT_TRUE(must(into.findings()).at(0).origin_merged);
    EXPECT_FALSE(must(into.findings()).at(1).origin_merged) << "of a target";
  }
  must(copy_store(dir / "b.db", dir / "c.db"));
  EXPECT_TRUE(must(open_ro(dir / "c.db").findings()).at(0).origin_merged);
  {
    Store from = open_ro(dir / "b.db"), into = open_rw(dir / "a.db");
    EXPECT_EQ(must(merge(from, into)).improved, 0);
    EXPECT_FALSE(must(into.findings()).at(0).origin_merged) << "it comes back";
  }
  stored(dir / "b.db", sample_program_finding());
  EXPECT_FALSE(must(open_ro(dir / "b.db").findings()).at(0).origin_merged);
}

// A folder of attached processes has its name in each store.
TEST(ProgramFindings, ACampaignThatIsJoinedCountsOn) {
  TempDir dir;
  CampaignRecord folder = sample_campaign();
  folder.uid = "0123456789abcdef0123456789abcdef";
  std::int64_t campaign = 0;
  for (const std::int64_t before : {0, 1}) {
    Store store = open_rw(dir / "s.db");
    campaign = must(store.join_campaign(folder)).id;
    EXPECT_EQ(campaign, 1);
    Finding f = sample_program_finding();
    f.campaign = campaign;
    EXPECT_EQ(must(store.occurrences(1)), before);
    const auto id = must(store.settle(f, false)).id;
    EXPECT_EQ(must(store.occurrences(id)), before + 1);
  }
  Store other = open_rw(dir / "other.db");
  EXPECT_EQ(must(other.join_campaign(folder)).uid, folder.uid);
  must(other.begin_campaign(sample_campaign()));
  EXPECT_EQ(must(other.campaigns()).size(), 2u);
}

// One that lacks the document of a finding does not replace the store that has it.
TEST(ProgramFindings, ACopyIsComparedByWhereTheyComeFrom) {
  TempDir dir;
  Finding other = sample_program_finding();
  other.program->argv.emplace_back("--other");
  stored(dir / "a.db", sample_program_finding());
  stored(dir / "b.db", other);
  EXPECT_FALSE(must(copy_store(dir / "a.db", dir / "b.db")).empty());
  EXPECT_EQ(must(open_ro(dir / "b.db").findings()).at(0).program, other.program);
}

TEST(ProgramFindings, AnOriginThatIsNoneIsUnsound) {
  for (const char* change :
       {"origin = 'target'", "origin = 'python'", "origin_document = ''", "origin_document = '{}'",
        "origin_document = replace(origin_document, ':1}', ':2}')"}) {
    TempDir dir;
    const auto id = stored(dir / "s.db", sample_program_finding());
    {
      SQLite::Database sql((dir / "s.db").string(), SQLite::OPEN_READWRITE);
      sql.exec(fmt::format("UPDATE findings SET {}", change));
    }
    Store store = open_ro(dir / "s.db");
    EXPECT_FALSE(must(check(store)).empty()) << change;
    EXPECT_EQ(store.finding(id).error().kind, ErrorKind::unsound) << change;
  }
}

TEST(ProgramFindings, OneThatCannotBeReadIsNotStored) {
  TempDir dir;
  Finding finding = sample_program_finding();
  finding.program->argv[1] = std::string(kMostOriginBytes, 'x');
  Store store = open_rw(dir / "s.db");
  EXPECT_FALSE(store.settle(finding));
  EXPECT_TRUE(must(store.findings()).empty());
}

// Version 12 had findings of targets alone.
TEST(ProgramFindings, FindingsOfOlderStoresAreOfTargets) {
  TempDir dir;
  must(open_rw(dir / "s.db").record(sample_finding()));
  {
    SQLite::Database sql((dir / "s.db").string(), SQLite::OPEN_READWRITE);
    sql.exec(kToVersion18);
    sql.exec("ALTER TABLE findings DROP COLUMN origin");
    sql.exec("ALTER TABLE findings DROP COLUMN origin_document");
    sql.exec("ALTER TABLE findings DROP COLUMN origin_merged");
    sql.exec("ALTER TABLE campaigns DROP COLUMN reference_sampled");
    sql.exec("ALTER TABLE night_targets DROP COLUMN reference_sampled");
    sql.exec("ALTER TABLE trials DROP COLUMN alignment");
    sql.exec("ALTER TABLE trials DROP COLUMN callers");
    sql.exec("PRAGMA user_version = 12");
  }
  {
    const Finding read = must(open_ro(dir / "s.db").finding(1));
    EXPECT_FALSE(read.program);
    EXPECT_EQ(read.plan, sample_finding().plan);
  }
  Store store = open_rw(dir / "s.db");
  EXPECT_EQ(must(check(store)), std::vector<std::string>{});
  EXPECT_TRUE(must(store.settle(sample_program_finding())).id > 1);
}

}  // namespace
}  // namespace redzone::store
