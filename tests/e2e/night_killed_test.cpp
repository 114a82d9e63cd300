// kill -9 at random moments of a night: no stored finding is lost, and the next night continues.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "e2e/nights.h"

namespace redzone::e2e {
namespace {

using Seen =
    std::map<std::string, std::string>;  // confirmed signatures, with their status in the ledger

class KilledNight : public NightsTest {
 protected:
  Arguments puzzles(const std::string& time = "2s") const {
    return night({"puzzle.last_tile", "puzzle.far_write", "--time", time, "--seed", "3"});
  }
  Seen confirmed() {
    const Json json = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    Seen seen;
    if (json.is_object())
      for (const auto& f : json["findings"])
        if (f["state"] == "confirmed") seen[f["signature"]["text"]] = f["ledger"]["standing"];
    return seen;
  }
  // The latest night as far as it is stored; null if there is none.
  Json stored() {
    const Json json = redzone(folder_, {"report", "--format", "json", "--db", "x.db"}).json();
    return json.is_object() ? json["night"] : Json();
  }
};

// REDZONE_KILLS=200 in the environment makes more kills.
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
    // It is fuzzing: its replay is stored.
    const auto fuzzes = [&] {
      const Json rows = redzone(folder_, {"db", "stats", "--db", "x.db", "--json"}).json()["rows"];
      return rows["night_replays"] == 1 && rows["night_targets"] == 2;
    };
    while (!fuzzes()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    process.signal(SIGKILL);
    process.wait();
  }
  const std::uint64_t before = stored()["plans"];
  // A finding that is fixed meanwhile is not replayed again, since this night has already replayed
  // it.
  install(kCleanBuild);
  const Ran ran = redzone(folder_, night({"--plans", "10"}));
  const Json resumed = report();
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(resumed["resumed"], 1);
  EXPECT_EQ(resumed["campaign"], 2);
  EXPECT_EQ(resumed["findings"][0]["tonight"], "still fails");
  EXPECT_EQ(resumed["plans"], std::max<std::uint64_t>(before, 10)) << "of all parts together";
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

// A night with other options is a night of its own and leaves the interrupted one for a command
// with the same options. The duration is not among these options.
TEST_F(KilledNight, GoesOnOnlyWithWhatAsksForTheSame) {
  install(kCleanBuild);
  std::filesystem::create_directory(folder_.path() / "corpus");
  folder_.write("corpus/plan.toml",
                "redzone_plan = 1\ntarget = \"gains.doubled\"\n[[step]]\ndo = \"call\"\n"
                "dims = { N = 5 }\n");
  {
    Process process(folder_, night({"--time", "1h", "--seed", "1", "--commit", "a"}));
    const auto fuzzes = [&] {
      const Json night = stored();
      return night.is_object() && night["plans"] > 0;
    };
    while (!fuzzes()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    process.signal(SIGKILL);
    process.wait();
  }
  const auto another = [&](const Arguments& more, const std::string& says) {
    Arguments all = night({"--plans", "1"});
    all.insert(all.end(), more.begin(), more.end());
    const Ran ran = redzone(folder_, all);
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_NE(ran.err.find("nightly: night 1 was cut off and is not resumed: it " + says),
              std::string::npos)
        << ran;
    EXPECT_EQ(report()["resumed"], 0) << says;
    EXPECT_GT(report()["campaign"], 1) << says;
  };
  another({"--commit", "a", "twin.last_tile"}, "had other targets");
  another({"--commit", "a", "--corpus", "corpus"}, "had another corpus");
  another({"--commit", "b"}, "was of another commit");
  another({"--commit", "a", "--seed", "2"}, "had another seed");
  const Ran cut = redzone(folder_, {"report", "--night", "1", "--db", "x.db", "--format", "json"});
  EXPECT_EQ(cut.json()["night"]["exit_code"], 130) << cut;
  const Ran same = redzone(folder_, night({"--plans", "3", "--commit", "a"}));
  EXPECT_EQ(same.exit, 0) << same;
  EXPECT_NE(same.err.find("resumes night 1"), std::string::npos) << same;
  EXPECT_EQ(report()["campaign"], 1);
  EXPECT_EQ(report()["resumed"], 1);
}

// A finding of one part of the night is not replayed by the next part, and the counts of the parts
// add up.
TEST_F(KilledNight, ThePartsOfANightAddUp) {
  install(kBuggyBuild);
  const auto begun = std::chrono::steady_clock::now();
  for (int part = 0; part < 2; ++part) {
    Process process(folder_, puzzles("1h"));
    const auto goes = [&] {
      const Json night = stored();
      return night.is_object() && night["resumed"] == part && night["plans"] > 20 * (part + 1) &&
             !confirmed().empty();
    };
    while (!goes()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    process.signal(SIGKILL);
    process.wait();
  }
  const Json before = stored();
  ASSERT_EQ(redzone(folder_, puzzles("1s")).exit, 1);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const Json night = report();
  EXPECT_EQ(night["resumed"], 2);
  EXPECT_EQ(night["campaign"], 1);
  std::uint64_t plans = 0, calls = 0;
  std::map<std::string, std::uint64_t> reference;
  for (const auto& t : night["targets"]) {
    plans += t["plans"].get<std::uint64_t>();
    calls += t["calls"].get<std::uint64_t>();
    for (const char* key : {"compared_calls", "calls"})
      reference[key] += t["reference"][key].get<std::uint64_t>();
  }
  for (const auto& [key, sum] : reference) {
    EXPECT_EQ(night["reference"][key], sum) << key;
    EXPECT_GT(before["reference"][key], 0) << key;
    EXPECT_GE(sum, before["reference"][key].get<std::uint64_t>()) << key;
  }
  EXPECT_EQ(night["plans"], plans);
  EXPECT_EQ(night["calls"], calls);
  double seconds = 0;
  for (const char* part : {"self_proof_seconds", "replay_seconds", "fuzz_seconds"}) {
    EXPECT_GE(night[part], before[part]) << part;
    seconds += night[part].get<double>();
  }
  EXPECT_LE(seconds, wall);
  for (const auto& f : night["findings"])
    if (f["confidence"] == "confirmed") {
      EXPECT_EQ(f["tonight"], "found") << f;
    }
}

}  // namespace
}  // namespace redzone::e2e
