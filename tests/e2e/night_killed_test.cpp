// kill -9 at random moments of a night: no finding that was there is lost, and the next goes on.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "e2e/nights.h"

namespace redzone::e2e {
namespace {

using Seen = std::map<std::string, std::string>;  // signatures that were confirmed, standings

class KilledNight : public NightsTest {
 protected:
  Arguments puzzles() const {
    return night({"puzzle.last_tile", "puzzle.far_write", "--time", "2s", "--seed", "3"});
  }
  Seen confirmed() {
    const Json json = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    Seen seen;
    if (json.is_object())
      for (const auto& f : json["findings"])
        if (f["state"] == "confirmed") seen[f["signature"]["text"]] = f["ledger"]["standing"];
    return seen;
  }
};

// More of them with REDZONE_KILLS=200 in the environment.
TEST_F(KilledNight, LosesNoFindingAndIsContinued) {
  install(kBuggyBuild);
  const char* asked = std::getenv("REDZONE_KILLS");
  const int kills = asked == nullptr ? 10 : std::atoi(asked);
  ASSERT_GE(kills, 1);
  std::mt19937 random(7);
  Seen seen;
  for (int i = 0; i < kills; ++i) {
    {
      Process process(folder_, puzzles());
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
      for (const auto& [signature, standing] : confirmed()) seen[signature] = standing;
      process.signal(SIGKILL);
      process.wait();
    }
    const Seen kept = confirmed();
    for (const auto& [signature, standing] : seen) {
      ASSERT_TRUE(kept.contains(signature)) << signature << " is gone after kill " << i;
      EXPECT_EQ(kept.at(signature), standing) << signature;
    }
  }
  EXPECT_FALSE(seen.empty()) << "nothing was found before a kill";

  const Ran last = redzone(folder_, puzzles());
  EXPECT_EQ(last.exit, 1) << last;
  const Json night = report();
  for (const auto& [signature, standing] : seen) {
    bool listed = false;
    for (const auto& f : night["findings"]) listed = listed || f["signature"]["text"] == signature;
    EXPECT_TRUE(listed) << signature;
  }
  const int resumed = night["resumed"];
  const Json stats = redzone(folder_, {"db", "stats", "--db", "x.db", "--json"}).json();
  EXPECT_GT(resumed + stats["rows"]["nights"].get<int>(), 1)
      << "one night that went on, or several";
  const Ran sound = redzone(folder_, {"db", "check", "--db", "x.db"});
  EXPECT_EQ(sound.exit, 0) << sound;
}

TEST_F(KilledNight, GoesOnWhereItWas) {
  install(kBuggyBuild);
  ASSERT_EQ(redzone(folder_, night({"--plans", "60", "--seed", "1"})).exit, 1);
  {
    Process process(folder_, night({"--time", "1h", "--seed", "1"}));
    // It fuzzes: its replay is in the book.
    const auto fuzzes = [&] {
      const Json rows = redzone(folder_, {"db", "stats", "--db", "x.db", "--json"}).json()["rows"];
      return rows["night_replays"] == 1 && rows["night_targets"] == 2;
    };
    while (!fuzzes()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    process.signal(SIGKILL);
    process.wait();
  }
  // What is fixed meanwhile is not replayed again: that was done in this night.
  install(kCleanBuild);
  const Ran ran = redzone(folder_, night({"--plans", "10"}));
  const Json resumed = report();
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(resumed["resumed"], 1);
  EXPECT_EQ(resumed["campaign"], 2);
  EXPECT_EQ(resumed["findings"][0]["tonight"], "still fails");
  EXPECT_GT(resumed["plans"], 10) << "those of the first part count";
  const Ran next = redzone(folder_, night({"--plans", "10"}));
  EXPECT_EQ(next.exit, 0) << next;
  EXPECT_EQ(report()["campaign"], 3);
  EXPECT_EQ(report()["findings"][0]["tonight"], "passes");
}

TEST_F(KilledNight, CtrlCLeavesAReportAndTheRestForLater) {
  install(kBuggyBuild);
  {
    Process process(folder_, night({"--time", "1h", "--seed", "1"}));
    while (confirmed().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    process.signal_group(SIGINT);
    const Ran ran = process.wait();
    EXPECT_EQ(ran.exit, 130) << ran;
  }
  EXPECT_EQ(report()["exit_code"], 130);
  EXPECT_EQ(report()["findings"].size(), 1u);
  EXPECT_EQ(redzone(folder_, night({"--plans", "1"})).exit, 1);
  EXPECT_EQ(report()["resumed"], 1);
}

}  // namespace
}  // namespace redzone::e2e
