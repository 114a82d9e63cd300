// Ctrl-C, SIGTERM and SIGKILL: no finding is lost, and no process is left behind.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// Far longer than a busy machine needs; reached only if something is broken.
constexpr auto kMostWait = std::chrono::minutes(5);

bool eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + kMostWait;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

using Signatures = std::set<std::string>;

Signatures signatures(const Json& findings, bool confirmed_only = false) {
  Signatures out;
  for (const auto& finding : findings)
    if (!confirmed_only || finding["state"] == "confirmed")
      out.insert(finding["signature"]["text"].get<std::string>());
  return out;
}

class Interrupt : public testing::Test {
 protected:
  Json stored() {
    const Json json = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    return json.is_object() ? json["findings"] : Json::array();
  }
  // Confirmed findings keep their name; triage may still rename a suspect.
  bool wait_for_findings(std::size_t count) {
    return eventually([&] { return signatures(stored(), true).size() >= count; });
  }
  bool nobody_left() {
    return eventually([&] { return left_behind(folder_).empty(); });
  }

  // A campaign with findings ends with its report and leaves no process behind.
  void expect_orderly_end(int signal, int times = 1) {
    Process run(folder_, campaign_);
    ASSERT_TRUE(wait_for_findings(1));
    for (int i = 0; i < times; ++i) {
      run.signal(signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // else two may be one
    }
    const Ran ran = run.wait();
    EXPECT_EQ(ran.exit, 130) << ran;
    EXPECT_TRUE(ran.json().is_object()) << ran;
    EXPECT_TRUE(nobody_left());
  }

  const TempFolder folder_;
  const Arguments campaign_{"run",
                            "puzzle.last_tile",
                            "puzzle.read_past_end",
                            "puzzle.far_write",
                            "puzzle.masked_garbage",
                            "--device",
                            "host",
                            "--seed",
                            "1",
                            "--time",
                            "1h",
                            "--db",
                            "x.db",
                            "--json"};
};

TEST_F(Interrupt, CtrlCEndsACampaignWithEverythingStored) {
  Process run(folder_, campaign_);
  ASSERT_TRUE(wait_for_findings(2));
  run.signal_group(SIGINT);
  const Ran ran = run.wait();
  EXPECT_EQ(ran.exit, 130) << ran;
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_GE(campaign["findings"].size(), 2u);
  const Signatures kept = signatures(stored());
  for (const auto& text : signatures(campaign["findings"])) EXPECT_TRUE(kept.contains(text));
  EXPECT_TRUE(nobody_left());
}

TEST_F(Interrupt, SoDoesSigterm) {
  expect_orderly_end(SIGTERM);
}

// Slurm sends it to every process of a job, and the job's script passes it on.
TEST_F(Interrupt, SoDoesSigtermThatIsRepeated) {
  expect_orderly_end(SIGTERM, 3);
}

TEST_F(Interrupt, SoDoesATerminalThatGoesAway) {
  expect_orderly_end(SIGHUP);
}

// Started with SIGHUP ignored, like nohup.
TEST_F(Interrupt, WhoIgnoresThatGoesOn) {
  const auto before = signal(SIGHUP, SIG_IGN);
  Process run(folder_, campaign_);
  signal(SIGHUP, before);
  // It has workers and no findings yet: its handlers are installed.
  ASSERT_TRUE(eventually([&] { return left_behind(folder_).size() > 1; }));
  run.signal(SIGHUP);
  ASSERT_TRUE(wait_for_findings(4)) << "all that there are";
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait().exit, 130);
}

TEST_F(Interrupt, AKilledDriverLosesNoFindingAndLeavesNoWorker) {
  Signatures seen;
  {
    Process run(folder_, campaign_);
    ASSERT_TRUE(wait_for_findings(2));
    EXPECT_GT(left_behind(folder_).size(), 1u) << "the driver and its workers";
    seen = signatures(stored(), true);
    run.signal(SIGKILL);
    EXPECT_EQ(run.wait().exit, 128 + SIGKILL);
  }
  EXPECT_TRUE(nobody_left());
  const Signatures kept = signatures(stored());
  for (const auto& text : seen) EXPECT_TRUE(kept.contains(text)) << text;
  // The store accepts another campaign.
  const Ran again = redzone(
      folder_, {"run", "twin.last_tile", "--device", "host", "--plans", "1", "--db", "x.db"});
  EXPECT_EQ(again.exit, 0) << again;
  EXPECT_GE(signatures(stored()).size(), seen.size());
}

TEST_F(Interrupt, CtrlCEndsABenchmarkWithWhatItMeasured) {
  Process bench(folder_, {"bench", "--device", "host", "--part", "modes", "--out", "b"});
  const std::string row = "bench: modes, ";
  // The second row has begun, so the first one is complete.
  ASSERT_TRUE(eventually([&] {
    const std::string err = bench.err();
    return err.find(row) != err.rfind(row);
  }));
  bench.signal_group(SIGINT);
  const Ran ran = bench.wait();
  EXPECT_EQ(ran.exit, 130) << ran;
  EXPECT_NE(ran.out.find("interrupted: what was measured until then"), std::string::npos) << ran;
  const Json report = Json::parse(read_text(folder_.path() / "b"), nullptr, false);
  ASSERT_TRUE(report.is_object()) << ran;
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_GE(report["modes"]["rows"].size(), 1u) << report;
  EXPECT_TRUE(nobody_left());
}

TEST_F(Interrupt, CtrlCEndsAReplay) {
  const std::string plan = folder_.write("plan.toml",
                                         "redzone_plan = 1\ntarget = \"twin.last_tile\"\n"
                                         "[[step]]\ndo = \"call\"\ndims = { N = 1 }\n");
  Process replay(folder_, {"replay", plan, "--device", "host", "--runs", "10000", "--json"});
  // It has workers: its handler is installed.
  ASSERT_TRUE(eventually([&] { return left_behind(folder_).size() > 1; }));
  replay.signal_group(SIGINT);
  const Ran ran = replay.wait();
  EXPECT_EQ(ran.exit, 130) << ran;
  EXPECT_TRUE(nobody_left());
}

}  // namespace
}  // namespace redzone::e2e
