// kill -9 at random moments of every command that writes to a store: everything reported before is
// in the store afterwards, whether the process printed it or another command showed it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "e2e/nights.h"

namespace redzone::e2e {
namespace {

// The contents of a store by name, each with a number that can only grow.
using Things = std::map<std::string, std::int64_t>;

constexpr const char* kThings = R"sql(
WITH found AS (SELECT id, signature_hash h FROM findings WHERE state IN ('confirmed', 'flaky'))
SELECT 'finding ' || h, 1 FROM found
UNION ALL SELECT 'trials of ' || h, (SELECT count(*) FROM trials WHERE finding_id = id) FROM found
UNION ALL SELECT 'artifacts of ' || h, (SELECT count(*) FROM artifacts WHERE finding_id = id)
  FROM found
UNION ALL SELECT 'occurrences of ' || h || ' in ' || campaign, plans
  FROM occurrences s JOIN found ON found.id = s.finding_id
UNION ALL SELECT 'entry of ' || h || ' ' || at || ' ' || event, 1
  FROM ledger l JOIN found ON found.id = l.finding_id
UNION ALL SELECT 'probe of ' || h || ' ' || p.hash || ' ' || device || ' ' || code_hash,
  failed_runs + otherwise + passed + unjudged
  FROM probes r JOIN found ON found.id = r.finding_id JOIN plans p ON p.id = r.plan_id
UNION ALL SELECT 'plans of ' || uid, plans FROM campaigns
UNION ALL SELECT 'calls of ' || uid, calls FROM campaigns
UNION ALL SELECT 'trials of ' || uid, trials FROM campaigns
UNION ALL SELECT 'verdicts of ' || uid, pass + fail + inconclusive + not_applicable FROM campaigns
UNION ALL SELECT 'suspects of ' || uid, suspects FROM campaigns
UNION ALL SELECT 'parts of ' || uid, resumed FROM nights JOIN campaigns ON id = campaign_id
UNION ALL SELECT 'fuzzing of ' || target || ' in ' || uid, t.plans
  FROM night_targets t JOIN campaigns ON id = campaign_id
UNION ALL SELECT 'replay of ' || subject || ' in ' || uid || ': ' || tonight || ' ' ||
  failed_runs || '/' || runs, 1 FROM night_replays JOIN campaigns ON id = campaign_id
)sql";

class Killed : public NightsTest {
 protected:
  void SetUp() override {
    install(kBuggyBuild);
    // A finding to bisect, so the store has probes.
    ASSERT_EQ(redzone(folder_, night({"--plans", "30", "--seed", "1"})).exit, 1);
  }

  // The contents of a copy of the store. The copy must be accepted in place of the previous one.
  Things things() {
    const Ran copied = redzone(folder_, {"db", "copy", "--db", "x.db", "--to", "seen.db"});
    EXPECT_EQ(copied.exit, 0) << copied;
    SQLite::Database sql(folder_ / "seen.db", SQLite::OPEN_READWRITE);
    SQLite::Statement query(sql, kThings);
    Things things;
    while (query.executeStep())
      things[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
    return things;
  }
  void expect_kept(const Things& seen, const Things& kept) {
    for (const auto& [name, number] : seen) {
      const auto still = kept.find(name);
      if (still == kept.end())
        ADD_FAILURE() << name << " is gone";
      else
        EXPECT_GE(still->second, number) << name;
    }
  }
  std::int64_t number(const std::string& query) {
    SQLite::Database sql(folder_ / "seen.db", SQLite::OPEN_READWRITE);
    return sql.execAndGet(query).getInt64();
  }
  std::int64_t latest_campaign() { return number("SELECT max(id) FROM campaigns"); }

  // The progress lines of a running campaign or night.
  void expect_progress_kept(const std::string& err) {
    static const std::regex kLine(
        "progress seconds=\\S+ plans=(\\d+) \\S+ calls=(\\d+) \\S+ "
        "suspects=(\\d+) new_findings=(\\d+) known_findings=(\\d+)");
    for (std::sregex_iterator line(err.begin(), err.end(), kLine), end; line != end; ++line) {
      int group = 0;
      for (const char* column : {"plans", "calls", "suspects", "new_findings", "known_findings"})
        EXPECT_GE(number(std::string("SELECT ") + column + " FROM campaigns ORDER BY id DESC"),
                  std::stoll((*line)[++group].str()))
            << line->str();
      ++progress_lines_;
    }
  }
  void expect_findings_kept(const Json& printed) {
    const Json listed = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    std::set<std::string> stored;
    for (const auto& f : listed["findings"]) stored.insert(f["signature"]["text"]);
    for (const auto& f : printed)
      EXPECT_TRUE(stored.contains(f["signature"]["text"])) << f["signature"]["text"];
  }
  void expect_campaign_kept(const Json& printed) {
    const std::string from = " FROM campaigns WHERE id = " + printed["campaign"]["id"].dump();
    for (const char* column : {"plans", "calls", "trials"})
      EXPECT_EQ(number(std::string("SELECT ") + column + from), printed["campaign"][column]);
    for (const char* column : {"pass", "fail", "inconclusive", "not_applicable"})
      EXPECT_EQ(number(std::string("SELECT ") + column + from), printed["verdicts"][column]);
    expect_findings_kept(printed["findings"]);
  }
  void expect_night_kept(const Json& printed) {
    const std::string id = printed["campaign"].dump();
    const Json stored =
        redzone(folder_, {"report", "--night", id, "--format", "json", "--db", "x.db"})
            .json()["night"];
    for (const char* figure : {"plans", "calls", "resumed", "planted_bugs_caught"})
      EXPECT_EQ(stored[figure], printed[figure]) << figure;
    std::map<std::string, Json> tonight;
    for (const auto& f : stored["findings"]) tonight[f["signature"]["text"]] = f["tonight"];
    for (const auto& f : printed["findings"])
      EXPECT_EQ(tonight[f["signature"]["text"]], f["tonight"]) << f;
  }
  void expect_bisection_kept(const Json& printed) {
    EXPECT_GE(number("SELECT sum(failed_runs + otherwise + passed + unjudged) FROM probes "
                     "WHERE finding_id = " +
                     printed["finding"].dump()),
              printed["runs_made"].get<std::int64_t>());
  }
  // stdout is written in one piece, so it is complete or empty.
  void expect_printed_kept(const Ran& ran) {
    expect_progress_kept(ran.err);
    const Json printed = ran.json();
    if (!printed.is_object()) return;
    ++results_;
    if (printed.contains("night")) expect_night_kept(printed["night"]);
    if (printed.contains("verdicts")) expect_campaign_kept(printed);
    if (printed.contains("runs_made")) expect_bisection_kept(printed);
  }

  int progress_lines_ = 0, results_ = 0;
};

bool has_ended(const Process& process) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOHANG | WNOWAIT) ==
             0 &&
         info.si_pid != 0;
}

// REDZONE_KILLS=200 in the environment makes more kills.
TEST_F(Killed, NothingThatWasReportedIsMissing) {
  const char* asked = std::getenv("REDZONE_KILLS");
  const int kills = asked == nullptr ? 9 : std::atoi(asked);
  ASSERT_GE(kills, 9);
  const std::vector<Arguments> commands{
      night({"puzzle.last_tile", "puzzle.far_write", "--time", "2s", "--seed", "3", "--json"}),
      {"run", "gains.doubled", "puzzle.last_tile", "--plugin", "./gains.so", "--plans", "20",
       "--device", "host", "--workers", "2", "--db", "x.db", "--json"},
      {"bisect", "1", "--plugin", "./gains.so", "--time", "2s", "--device", "host", "--workers",
       "2", "--db", "x.db", "--json"}};
  const Arguments long_run{"run",  "puzzle.last_tile", "--time", "1h",   "--device",
                           "host", "--workers",        "2",      "--db", "x.db"};
  std::mt19937 random(7);
  int cut_off = 0;
  for (int i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    // The log has a progress line every ten seconds; these runs are killed at the first one.
    const bool progress = i % 20 == 8;
    Things seen;
    Ran ran;
    {
      Process process(folder_, progress ? long_run : commands[static_cast<std::size_t>(i) % 3]);
      if (progress) {
        while (process.err().find("progress ") == std::string::npos && !has_ended(process))
          std::this_thread::sleep_for(std::chrono::microseconds(200));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 2000));
        seen = things();
        // Some are killed at their end.
        for (int wait = 0; i % 2 == 1 && wait < 5000 && !has_ended(process); ++wait) {
          if (!process.out().empty()) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }
      process.signal(SIGKILL);
      ran = process.wait();
    }
    if (ran.exit == 128 + SIGKILL) ++cut_off;
    const Things kept = things();
    expect_kept(seen, kept);
    expect_printed_kept(ran);
    if (HasFailure()) break;
  }
  EXPECT_GT(cut_off, 0);
  EXPECT_GT(progress_lines_, 0) << "no line of progress was printed before a kill";
  EXPECT_GT(results_, 0) << "nothing was printed before a kill";
  EXPECT_GT(number("SELECT count(*) FROM probes"), 0);
  EXPECT_GT(number("SELECT count(*) FROM night_replays"), 0);
  const Ran sound = redzone(folder_, {"db", "check", "--db", "x.db"});
  EXPECT_EQ(sound.exit, 0) << sound;
  std::printf("%d kills, %d cut off, %d lines of progress and %d results were printed before\n",
              kills, cut_off, progress_lines_, results_);
}

}  // namespace
}  // namespace redzone::e2e
