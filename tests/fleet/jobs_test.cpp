// The jobs of a fleet in this process, over a program that stands in for a night: it stores what it
// is given, and ends with the code that it is given.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <vector>

#include "core/exit_code.h"
#include "core/utc.h"
#include "fleet/describe.h"
#include "fleet/hub_job.h"
#include "fleet/local_folder.h"
#include "fleet/publisher.h"
#include "fleet/record_file.h"
#include "fleet/shard_job.h"
#include "fleet/shared_folder.h"
#include "fleet/take_up.h"
#include "store/night.h"
#include "store/publish.h"
#include "store/sample.h"
#include "tests/fleet/sample_fleet.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;

constexpr const char* kNight = R"(#!/bin/sh
for word in "$@"; do
  [ "$before" = --db ] && db=$word
  before=$word
done
echo "$@" >>{0}/words
[ ! -e "$db" ] || cp "$db" {0}/taken_up.db
cp {0}/found.db "$db"
code=$(cat {0}/code)
[ "$code" -lt 128 ] || [ "$code" -eq 130 ] || kill -$((code - 128)) $$
exit "$code"
)";

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() {
    must(create_folder(layout_, fleet_));
    testing::write_script(dir_, "night", kNight);
  }

  // A night that finds 1..`last` and ends with `code`.
  Result<int> shard(int number, int last, int code) {
    std::filesystem::remove(dir_ / "found.db");
    {
      store::Store store = open_rw(dir_ / "made.db");
      for (int i = 1; i <= last; ++i) must(store.record(sample_finding(i)));
      must(store::publish(store, dir_ / "found.db"));
    }
    std::filesystem::remove(dir_ / "made.db");
    write_bytes(dir_ / "code", std::to_string(code));
    return run_shard({.layout = layout_,
                      .shard = number,
                      .local = dir_ / "local",
                      .redzone = (dir_ / "night").string(),
                      .host = "n1",
                      .job = "7",
                      .interrupted = interrupted_,
                      .now = now_});
  }
  // A folder where the first snapshot of the shard is to be, as root writes past permissions.
  void block_snapshot(int number) {
    std::filesystem::create_directories(layout_.snapshot({{number, 1}, 1}) / "in the way");
  }
  std::vector<std::filesystem::path> local_folders() {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "local"))
      all.push_back(entry.path());
    return all;
  }
  Result<void> hub(bool finish) {
    return run_hub({.layout = layout_,
                    .local = dir_ / "local",
                    .host = "n2",
                    .interrupted = interrupted_,
                    .finish = finish,
                    .earlier_end_within = earlier_end_within_});
  }
  std::size_t findings_of(const std::filesystem::path& file) {
    store::Store store = open_ro(file);
    return must(store.findings()).size();
  }

  std::function<bool()> interrupted_ = [] { return false; };
  std::chrono::milliseconds earlier_end_within_{0};
  double seconds_ = 0;
  std::function<double()> now_ = [this] { return seconds_ += 100; };
  TempDir dir_;
  Layout layout_{dir_ / "run"};
  Fleet fleet_ = [] {
    Fleet fleet = testing::sample_fleet(2);
    fleet.seed = 7;
    fleet.nightly = {"scale", "--plans", "9"};
    return fleet;
  }();
};

TEST_F(JobsTest, AShardRunsItsNightAndPublishesItsStore) {
  EXPECT_EQ(must(shard(2, 3, kFound)), kFound);
  EXPECT_EQ(bytes_of(dir_ / "words").substr(0, 50),
            "nightly scale --plans 9 --shard 2/2 --seed 7 --db ");
  const auto status = must(read_attempts(layout_, fleet_.uid)).at({2, 1});
  EXPECT_EQ(status.exit_code, kFound);
  EXPECT_EQ(status.host, "n1");
  EXPECT_TRUE(status.has_ended());
  EXPECT_EQ(findings_of(layout_.snapshot({{2, 1}, status.snapshot})), 3U);
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "local"));
}

TEST_F(JobsTest, TheLastSnapshotIsTriedUntilTheSharedFolderTakesIt) {
  block_snapshot(1);
  now_ = [this] {
    if ((seconds_ += 50) == 300) std::filesystem::remove_all(layout_.snapshot({{1, 1}, 1}));
    return seconds_;
  };
  EXPECT_EQ(must(shard(1, 3, kFound)), kFound);
  const auto status = must(read_attempts(layout_, fleet_.uid)).at({1, 1});
  EXPECT_EQ(status.problem, "");
  EXPECT_EQ(findings_of(layout_.snapshot({{1, 1}, status.snapshot})), 3U);
  EXPECT_TRUE(local_folders().empty());
}

TEST_F(JobsTest, WhatWasNotPublishedIsKeptAndTheShardGoesOnLater) {
  for (const bool told_to_end : {false, true}) {
    const int number = told_to_end ? 2 : 1;
    block_snapshot(number);
    interrupted_ = [=] { return told_to_end; };
    if (told_to_end) now_ = [] { return 0.0; };
    EXPECT_EQ(must(shard(number, 3, kFound)), kInterrupted);
    const auto status = must(read_attempts(layout_, fleet_.uid)).at({number, 1});
    EXPECT_EQ(status.exit_code, kInterrupted);
    EXPECT_NE(status.problem, "");
    ASSERT_EQ(local_folders().size(), 1U);
    const auto kept = local_folders().front();
    EXPECT_EQ(findings_of(kept / "redzone.db"), 3U);
    // The next attempt on this machine leaves it there.
    std::filesystem::remove_all(layout_.snapshot({{number, 1}, 1}));
    interrupted_ = [] { return false; };
    EXPECT_EQ(must(shard(number, 4, kFound)), kFound);
    EXPECT_EQ(local_folders(), (std::vector{kept}));
    std::filesystem::remove_all(kept);
  }
}

TEST_F(JobsTest, TheLocalFolderIsForThisUserAlone) {
  auto folder = must(LocalFolder::make(dir_ / "local", "job", 1));
  EXPECT_EQ(std::filesystem::status(folder / ".").permissions(), std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(dir_.path(), dir_ / "local/job-2");
  const auto foreign = LocalFolder::make(dir_ / "local", "job", 2);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().kind, ErrorKind::usage);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "local/job-1")) << "what an attempt left is removed";
}

TEST_F(JobsTest, AShardWhoseNightHasEndedIsNotRunAgain) {
  EXPECT_EQ(must(shard(1, 1, kFound)), kFound);
  EXPECT_EQ(must(shard(1, 5, kOk)), kFound);
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).size(), 1U);
}

TEST_F(JobsTest, AShardThatWasCutOffGoesOnWithItsSnapshot) {
  EXPECT_EQ(must(shard(1, 2, kInterrupted)), kInterrupted);
  EXPECT_EQ(must(shard(1, 4, kFound)), kFound);
  EXPECT_EQ(findings_of(dir_ / "taken_up.db"), 2U);
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).at({1, 2}).taken_up, 1);
}

TEST_F(JobsTest, AShardLeavesNoQuestionsBehind) {
  const auto put = [&](const Request& r) {
    write_bytes(layout_.requests() / text_of(r), "");
    write_bytes(layout_.answers() / text_of(r), "granted");
  };
  put({{1, 1}, 4, "ab"});  // of an attempt that was killed
  must(claim_attempt(layout_, 1, {.fleet = fleet_.uid}));
  put({{1, 2}, 1, "cd"});  // as if its night asks
  put({{2, 1}, 1, "ab"});
  must(shard(1, 1, kOk));
  for (const auto& folder : {layout_.requests(), layout_.answers()}) {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      left.push_back(entry.path().filename().string());
    EXPECT_EQ(left, std::vector<std::string>{"0002-1-1-ab"}) << folder;
  }
}

TEST_F(JobsTest, ASnapshotThatIsDamagedOrGoneIsNotTakenUp) {
  EXPECT_EQ(must(shard(1, 2, kInterrupted)), kInterrupted);
  const auto sound = layout_.snapshot({{1, 1}, 1});
  const AttemptStatus cut_off{.fleet = fleet_.uid, .ended = "x", .exit_code = kInterrupted};
  for (const int number : {2, 3})
    EXPECT_EQ(must(claim_attempt(layout_, 1, cut_off)).number, number);
  const auto truncated = layout_.snapshot({{1, 2}, 1});
  write_bytes(truncated, bytes_of(sound).substr(0, 20000));
  // As if it were replaced between the listing and the copying.
  std::filesystem::create_symlink("nowhere", layout_.snapshot({{1, 3}, 1}));
  const auto taken = must(take_up(layout_, fleet_.uid, {1, 4}, dir_ / "s.db"));
  EXPECT_EQ(taken.attempt, 1);
  EXPECT_NE(taken.problem.find(truncated.string()), std::string::npos) << taken.problem;
  EXPECT_EQ(findings_of(dir_ / "s.db"), 2U);
  write_bytes(sound, "no store");
  EXPECT_EQ(must(shard(1, 4, kFound)), kFound) << "it begins with nothing";
  EXPECT_FALSE(std::filesystem::exists(dir_ / "taken_up.db"));
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).at({1, 4}).taken_up, 0);
}

TEST_F(JobsTest, AnAttemptThatCannotBeginEnds) {
  write_bytes(dir_ / "local", "a file");
  EXPECT_EQ(must(shard(1, 1, kOk)), kTryElsewhere);
  std::filesystem::remove(dir_ / "local");
  std::filesystem::rename(dir_ / "night", dir_ / "away");
  EXPECT_EQ(must(shard(2, 1, kOk)), kTryElsewhere);
  for (const auto& [attempt, status] : must(read_attempts(layout_, fleet_.uid))) {
    EXPECT_TRUE(status.has_ended());
    EXPECT_TRUE(status.failed);
    EXPECT_EQ(status.exit_code, kHarness);
    EXPECT_NE(status.problem, "");
  }
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).size(), 2U);
  std::filesystem::rename(dir_ / "away", dir_ / "night");
  EXPECT_EQ(must(shard(1, 1, kOk)), kOk);
}

TEST_F(JobsTest, ANightThatIsKilledGoesOnElsewhereAFewTimes) {
  constexpr int kKilled = 128 + 9;
  EXPECT_EQ(must(shard(1, 1, kKilled)), kTryElsewhere);
  EXPECT_EQ(must(shard(1, 2, kHarness)), kTryElsewhere) << "and so does one that could not run";
  EXPECT_EQ(findings_of(dir_ / "taken_up.db"), 1U) << "with what it had found";
  EXPECT_EQ(must(shard(1, 3, kKilled)), kKilled) << "it fails wherever it runs";
  EXPECT_EQ(must(shard(1, 4, kOk)), kKilled) << "it is not run again";
  const auto attempts = must(read_attempts(layout_, fleet_.uid));
  ASSERT_EQ(attempts.size(), 3U);
  EXPECT_EQ(attempts.at({1, 1}).problem, "the night was killed by signal 9");
  EXPECT_EQ(attempts.at({1, 2}).problem, "the night ended with exit code 3 before its time");
  const auto described = must(describe_fleet(layout_, fleet_, nullptr));
  EXPECT_EQ(described.shards[0].state, "failed");
  ASSERT_EQ(described.losses.size(), 3U);
  EXPECT_EQ(described.losses[0].why, "the night was killed by signal 9");
  must(shard(2, 1, kOk));
  must(hub(false));  // it does not wait for the shard that failed
}

TEST_F(JobsTest, ANightThatCameToItsEndIsNotRunAgainWhateverItSays) {
  store::Store store = open_rw(dir_ / "whole.db");
  store::NightRun run;
  run.campaign = must(store.begin_campaign(sample_campaign()));
  run.shard = 1;
  run.shards = 2;
  run.fleet = fleet_.uid;
  run.exit_code = kUsage;  // as with a mistake in a spec
  must(store::NightBook(store).begin(run));
  must(store::publish(store, layout_.known()));
  // A night that changes nothing in its store, which begins as that one.
  testing::write_script(dir_, "night", "#!/bin/sh\nexit 2\n");
  EXPECT_EQ(must(run_shard({.layout = layout_,
                            .shard = 1,
                            .local = dir_ / "local",
                            .redzone = (dir_ / "night").string(),
                            .host = "n1",
                            .job = "7",
                            .interrupted = interrupted_})),
            kUsage);
  EXPECT_FALSE(must(read_attempts(layout_, fleet_.uid)).at({1, 1}).failed);
}

TEST_F(JobsTest, AShardBeginsWithWhatIsKnown) {
  store::Store known = open_rw(dir_ / "known.db");
  must(known.record(sample_finding(9)));
  must(store::publish(known, layout_.known()));
  EXPECT_EQ(must(shard(1, 2, kOk)), kOk);
  EXPECT_EQ(findings_of(dir_ / "taken_up.db"), 1U);
}

TEST_F(JobsTest, AShardThatTheFleetDoesNotHaveIsAMistake) {
  for (const int number : {0, 3}) {
    const auto none = shard(number, 1, kOk);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::usage);
  }
}

TEST_F(JobsTest, WhatASubmitThatFailedLeftIsOfNoUse) {
  const std::string other(kUidDigits, 'f');
  // An attempt whose night has ended, and one of another shard that was cut off.
  for (const int number : {1, 2}) {
    const AttemptStatus status{.fleet = other,
                               .ended = "2026-01-02T03:05:00Z",
                               .exit_code = number == 1 ? kOk : kInterrupted};
    const Attempt left = must(claim_attempt(layout_, number, status));
    store::Store store = open_rw(dir_ / "left.db");
    must(store.record(sample_finding(9)));
    must(publish_snapshot(layout_, {left, 1}, store));
  }
  for (const int number : {1, 2}) {
    EXPECT_EQ(must(shard(number, 3, kFound)), kFound);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "taken_up.db"));
  }
  must(hub(true));
  EXPECT_EQ(findings_of(layout_.hub_store()), 3U) << "without the one that was left";
  EXPECT_EQ(must(describe_fleet(layout_, fleet_, nullptr)).shards[0].attempts, 1);
}

TEST_F(JobsTest, TheHubEndsWithTheLastShardAndHasWhatAllFound) {
  must(shard(1, 3, kFound));
  must(shard(2, 5, kOk));
  must(hub(false));
  EXPECT_EQ(findings_of(layout_.hub_store()), 5U);
  const auto status = must(read_record<HubStatus>(layout_.hub_status()));
  EXPECT_FALSE(status.ended.empty());
  EXPECT_EQ(status.merges, 2);
}

TEST_F(JobsTest, TheLastJobMergesWhatThereIs) {
  must(shard(1, 3, kInterrupted));
  must(hub(true));
  EXPECT_EQ(findings_of(layout_.hub_store()), 3U);
}

TEST_F(JobsTest, TheLastJobTellsThatItCouldNotMerge) {
  must(shard(1, 3, kInterrupted));
  std::filesystem::rename(layout_.snapshots(), dir_ / "away");
  const auto failed = hub(true);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("snapshots"), std::string::npos) << failed.error().message;
  EXPECT_EQ(must(read_record<HubStatus>(layout_.hub_status())).problems.size(), 1U);
  std::filesystem::rename(dir_ / "away", layout_.snapshots());
  must(hub(true));
  EXPECT_TRUE(must(read_record<HubStatus>(layout_.hub_status())).problems.empty());
}

TEST_F(JobsTest, ARunningHubOutlivesAFolderThatIsAway) {
  must(shard(1, 1, kOk));
  must(shard(2, 1, kOk));
  int looks = 0;
  interrupted_ = [&] {
    const auto away = dir_ / "away";
    ++looks;
    if (looks == 1) std::filesystem::rename(layout_.attempts(), away);
    if (looks == 2) std::filesystem::rename(away, layout_.attempts());
    return looks >= 3;
  };
  must(hub(false));
  EXPECT_GE(looks, 3) << "it does not end while it does not see the attempts";
  EXPECT_EQ(findings_of(layout_.hub_store()), 1U);
}

TEST_F(JobsTest, TheFiguresAreThoseOfAllAttemptsOfTheHub) {
  must(shard(1, 3, kInterrupted));
  must(hub(true));
  must(hub(true));
  const auto status = must(read_record<HubStatus>(layout_.hub_status()));
  EXPECT_EQ(status.attempt, 2);
  EXPECT_EQ(status.merges, 1) << "the second one found it in the store of the first";
  must(shard(2, 4, kOk));
  must(hub(true));
  EXPECT_EQ(must(read_record<HubStatus>(layout_.hub_status())).merges, 2);
}

TEST_F(JobsTest, ALastJobThatIsToldToEndLeavesTheRestToTheNext) {
  must(shard(1, 3, kOk));
  must(shard(2, 5, kOk));
  interrupted_ = [looks = 0]() mutable { return ++looks > 2; };  // after the first merge
  must(hub(true));
  EXPECT_EQ(findings_of(layout_.hub_store()), 3U);
  interrupted_ = [] { return false; };
  must(hub(true));
  EXPECT_EQ(findings_of(layout_.hub_store()), 5U);
  EXPECT_EQ(must(read_record<HubStatus>(layout_.hub_status())).merges, 2) << "each once";
}

TEST_F(JobsTest, AShardOfAFleetThatWasStoppedBeginsNothing) {
  write_bytes(layout_.stop(), "");
  EXPECT_EQ(must(shard(1, 3, kFound)), kInterrupted);
  EXPECT_EQ(bytes_of(dir_ / "words"), "");
  EXPECT_TRUE(must(read_attempts(layout_, fleet_.uid)).empty());
}

TEST_F(JobsTest, AShardThatRunsEndsWhenTheFleetIsStopped) {
  // A night that stops the fleet, and ends when it is told to; nobody signals this job.
  write_bytes(dir_ / "night", "#!/bin/sh\ntrap 'exit 130' TERM\ntouch " + layout_.stop().string() +
                                  "\nwhile :; do sleep 0.05; done\n");
  EXPECT_EQ(must(shard(1, 3, kFound)), kInterrupted);
  EXPECT_TRUE(must(read_attempts(layout_, fleet_.uid)).at({1, 1}).has_ended());
}

TEST_F(JobsTest, AHubEndsAFleetThatWasStopped) {
  must(shard(1, 3, kInterrupted));
  write_bytes(layout_.stop(), "");
  must(hub(false));
  EXPECT_EQ(findings_of(layout_.hub_store()), 3U);
}

TEST_F(JobsTest, TheReportNamesWhatWasLost) {
  // An attempt that has published and never ended, and the next of its shard.
  const AttemptStatus lost{.host = "n1",
                           .began = "2026-01-02T03:05:00Z",
                           .published = "2026-01-02T03:10:00Z",
                           .snapshot = 1};
  must(claim_attempt(layout_, 1, lost));
  must(claim_attempt(layout_, 1, {.host = "n2", .began = "2026-01-02T03:20:00Z"}));
  const auto fleet = must(describe_fleet(layout_, fleet_, nullptr));
  ASSERT_EQ(fleet.losses.size(), 1U);
  EXPECT_EQ(fleet.losses[0].host, "n1");
  EXPECT_EQ(fleet.losses[0].job.kind, "shard");
  EXPECT_EQ(fleet.losses[0].since, "2026-01-02T03:10:00Z");
  EXPECT_EQ(fleet.losses[0].again_at, "2026-01-02T03:20:00Z");
  EXPECT_EQ(fleet.shards[0].state, "running");
  EXPECT_EQ(fleet.shards[0].attempts, 2);
  EXPECT_EQ(fleet.shards[1].state, "waiting");
  EXPECT_EQ(fleet.hub_state, "waiting");
}

TEST_F(JobsTest, WhoHasNotEndedWhenTheLastJobBeginsIsLost) {
  must(claim_attempt(layout_, 1,
                     {.fleet = fleet_.uid, .host = "n1", .began = "2026-01-02T03:05:00Z"}));
  must(claim_attempt(layout_, examiner_of(fleet_, 1),
                     {.fleet = fleet_.uid, .host = "n3", .began = "2026-01-02T04:05:00Z"}));
  EXPECT_EQ(must(describe_fleet(layout_, fleet_, nullptr)).shards[0].state, "running");
  must(claim_attempt(layout_, kHubShard,
                     {.fleet = fleet_.uid, .host = "n2", .began = "2026-01-02T03:00:00Z"}));
  must(hub(true));
  const auto fleet = must(describe_fleet(layout_, fleet_, nullptr));
  EXPECT_EQ(fleet.shards[0].state, "lost");
  EXPECT_EQ(fleet.models[0].state, "lost");
  std::vector<std::string> lost;
  for (const auto& loss : fleet.losses) lost.push_back(loss.job.kind + " on " + loss.host);
  EXPECT_EQ(lost, (std::vector<std::string>{"hub on n2", "shard on n1", "examination on n3"}));
  EXPECT_NE(fleet.losses[0].again_at, "") << "the last job is an attempt of the hub";
  EXPECT_EQ(fleet.losses[1].again_at, "");
}

TEST_F(JobsTest, AHubLeavesTheRestToTheAttemptThatTakesItsPlace) {
  must(shard(1, 3, kInterrupted));
  int asked = 0;
  interrupted_ = [&] {  // it is asked before the hub looks for snapshots
    ++asked;
    must(claim_attempt(layout_, kHubShard, {.fleet = fleet_.uid, .began = utc_now()}));
    return false;
  };
  must(hub(false));
  EXPECT_TRUE(must(read_attempts(layout_, fleet_.uid)).at({kHubShard, 1}).has_ended());
  EXPECT_FALSE(std::filesystem::exists(layout_.hub_store())) << "a later attempt publishes";
  EXPECT_EQ(asked, 2) << "once before it merges, and at its end";
}

TEST_F(JobsTest, TheLastJobWaitsForTheHubWhosePlaceItTakes) {
  const AttemptStatus status{.fleet = fleet_.uid, .began = "2026-01-02T03:00:00Z"};
  const Attempt earlier = must(claim_attempt(layout_, kHubShard, status));
  earlier_end_within_ = std::chrono::minutes{5};
  int asked = 0;  // after the merge
  interrupted_ = [&] {
    const bool merged = std::filesystem::exists(layout_.hub_status()) &&
                        !must(read_record<HubStatus>(layout_.hub_status())).ended.empty();
    if (merged && ++asked == 3) end_attempt(layout_, earlier, status, {kOk});
    return false;
  };
  must(hub(true));
  EXPECT_GE(asked, 3) << "it waits until the other has ended";
  const auto fleet = must(describe_fleet(layout_, fleet_, nullptr));
  EXPECT_TRUE(fleet.losses.empty());
  EXPECT_EQ(fleet.hub_attempts, 2);
}

TEST_F(JobsTest, AHubThatStartsAfterTheLastJobEnds) {
  must(claim_attempt(layout_, 1, {.fleet = fleet_.uid, .began = "2026-01-02T03:05:00Z"}));
  must(shard(2, 3, kInterrupted));
  must(hub(true));
  must(hub(false));
  EXPECT_FALSE(must(read_record<HubStatus>(layout_.hub_status())).ended.empty());
}

}  // namespace
}  // namespace redzone::fleet
