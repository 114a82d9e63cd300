// The jobs of a fleet in this process, over a program that stands in for a night: it stores what it
// is given, and ends with the code that it is given.
#include <gtest/gtest.h>

#include "core/exit_code.h"
#include "fleet/describe.h"
#include "fleet/hub_job.h"
#include "fleet/record_file.h"
#include "fleet/shard_job.h"
#include "fleet/shared_folder.h"
#include "store/publish.h"
#include "store/sample.h"

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
exit $(cat {0}/code)
)";

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() {
    must(create_folder(layout_, fleet_));
    std::string text = kNight;
    for (std::size_t at = 0; (at = text.find("{0}")) != std::string::npos;)
      text.replace(at, 3, dir_.path().string());
    write_bytes(dir_ / "night", text);
    ::chmod((dir_ / "night").c_str(), 0755);
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
                      .interrupted = [] { return false; }});
  }
  Result<void> hub(bool finish) {
    return run_hub({.layout = layout_,
                    .local = dir_ / "local",
                    .host = "n2",
                    .interrupted = [] { return false; },
                    .finish = finish});
  }
  std::size_t findings_of(const std::filesystem::path& file) {
    store::Store store = open_ro(file);
    return must(store.findings()).size();
  }

  TempDir dir_;
  Layout layout_{dir_ / "run"};
  Fleet fleet_{.uid = "0123456789abcdef0123456789abcdef",
               .created = "2026-01-02T03:04:05Z",
               .shards = 2,
               .seed = 7,
               .nightly = {"scale", "--plans", "9"},
               .models = {{"", 2}}};
};

TEST_F(JobsTest, AShardRunsItsNightAndPublishesItsStore) {
  EXPECT_EQ(must(shard(2, 3, kFound)), kFound);
  EXPECT_EQ(bytes_of(dir_ / "words").substr(0, 50),
            "nightly scale --plans 9 --shard 2/2 --seed 7 --db ");
  const auto status = must(read_attempts(layout_)).at({2, 1});
  EXPECT_EQ(status.exit_code, kFound);
  EXPECT_EQ(status.host, "n1");
  EXPECT_TRUE(status.has_ended());
  EXPECT_EQ(findings_of(layout_.snapshot({{2, 1}, status.snapshot})), 3U);
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "local"));
}

TEST_F(JobsTest, AShardWhoseNightHasEndedIsNotRunAgain) {
  EXPECT_EQ(must(shard(1, 1, kFound)), kFound);
  EXPECT_EQ(must(shard(1, 5, kOk)), kFound);
  EXPECT_EQ(must(read_attempts(layout_)).size(), 1U);
}

TEST_F(JobsTest, AShardThatWasCutOffGoesOnWithItsSnapshot) {
  EXPECT_EQ(must(shard(1, 2, kInterrupted)), kInterrupted);
  EXPECT_EQ(must(shard(1, 4, kFound)), kFound);
  EXPECT_EQ(findings_of(dir_ / "taken_up.db"), 2U);
  EXPECT_EQ(must(read_attempts(layout_)).at({1, 2}).taken_up, 1);
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

TEST_F(JobsTest, TheFiguresAreThoseOfAllAttemptsOfTheHub) {
  must(shard(1, 3, kInterrupted));
  must(hub(true));
  must(hub(true));
  const auto status = must(read_record<HubStatus>(layout_.hub_status()));
  EXPECT_EQ(status.attempt, 2);
  EXPECT_EQ(status.merges, 2);
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
  EXPECT_EQ(fleet.losses[0].since, "2026-01-02T03:10:00Z");
  EXPECT_EQ(fleet.losses[0].again_at, "2026-01-02T03:20:00Z");
  EXPECT_EQ(fleet.shards[0].state, "running");
  EXPECT_EQ(fleet.shards[0].attempts, 2);
  EXPECT_EQ(fleet.shards[1].state, "waiting");
  EXPECT_EQ(fleet.hub_state, "waiting");
}

}  // namespace
}  // namespace redzone::fleet
