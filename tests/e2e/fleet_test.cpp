// The jobs of a fleet as commands, without Slurm: what its report says while shards are missing.
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr const char* kFleet = R"({
  "uid": "0123456789abcdef0123456789abcdef", "created": "2026-01-02T03:04:05Z", "version": "0.1.0",
  "shards": 3, "seed": 7,
  "nightly": ["twin.last_tile", "--device", "host", "--workers", "1", "--plans", "20"],
  "reruns": ["--device", "host"], "models": [{"name": "", "shards": 3}], "seconds": 0.0,
  "snapshot_seconds": 120.0, "lease_seconds": 600.0
})";

class FleetCommands : public testing::Test {
 protected:
  FleetCommands() {
    for (const char* name : {"run/attempts", "run/snapshots", "run/requests", "run/answers"})
      std::filesystem::create_directories(folder_.path() / name);
    folder_.write("run/fleet.json", kFleet);
  }

  Ran fleet(const char* action, Arguments more) {
    more.insert(more.begin(), {"fleet", action, "--dir", "run"});
    return redzone(folder_, more);
  }
  void shard(const char* number) {
    const Ran ran = fleet("shard", {"--index", number, "--local", "local"});
    EXPECT_EQ(ran.exit, 0) << ran;
  }
  Ran reported() {
    const Ran merged = fleet("hub", {"--local", "local", "--finish"});
    EXPECT_EQ(merged.exit, 0) << merged;
    return fleet("report", {"--out", "page"});
  }
  bool has_page(const char* name) {
    return std::filesystem::exists(folder_.path() / "page" / name);
  }

  const TempFolder folder_;
};

TEST_F(FleetCommands, WithoutANightTheReportIsOfTheFleetAlone) {
  for (const Ran& ran : {fleet("report", {"--out", "page"}), reported()}) {
    EXPECT_EQ(ran.exit, 130) << ran;
    EXPECT_NE(ran.out.find("no shard has published its night"), std::string::npos) << ran;
    EXPECT_TRUE(has_page("fleet.html"));
    EXPECT_FALSE(has_page("index.html"));
  }
}

TEST_F(FleetCommands, TheReportIsAllRightOnlyWithAllShards) {
  shard("2");
  const Ran one = reported();
  EXPECT_EQ(one.exit, 130) << one;
  EXPECT_TRUE(has_page("index.html"));
  shard("1");
  EXPECT_EQ(reported().exit, 130);
  shard("3");
  const Ran all = reported();
  EXPECT_EQ(all.exit, 0) << all;
}

}  // namespace
}  // namespace redzone::e2e
