// The table, the JSON and the page of a fleet say the same, and no text breaks them.
#include "report/fleet.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redzone::report {
namespace {

Fleet sample_fleet() {
  Fleet fleet;
  fleet.folder = "/shared/run";
  fleet.created = "2026-01-02T03:04:05Z";
  fleet.version = "0.2.0";
  fleet.seed = 7;
  fleet.shards = {
      {.shard = 1,
       .state = "ended",
       .host = "n2",
       .device = "NVIDIA H100",
       .attempts = 2,
       .plans = 5000,
       .seconds = 100,
       .findings = 3,
       .published = "2026-01-02T04:00:00Z",
       .problem = ""},
      {.shard = 2, .state = "waiting", .host = "", .device = "", .published = "", .problem = ""}};
  fleet.losses = {{.job = {"shard", 1},
                   .attempt = 1,
                   .host = "n1",
                   .why = "the night was killed by signal 9",
                   .since = "2026-01-02T03:30:00Z",
                   .again_at = "2026-01-02T03:33:00Z"}};
  fleet.findings = {{"NVIDIA H100", {{"confirmed", 2}, {"flaky", 1}}}};
  fleet.models = {
      {.name = "h100", .shards = 2, .state = "ended", .host = "n2", .attempts = 1, .problem = ""}};
  fleet.comparisons = {
      {.finding = 4,
       .signature = "redzone: write after y",
       .found_on = "NVIDIA H100",
       .differs = true,
       .devices = {{.device = "NVIDIA A100", .failed = 0, .runs = 30, .says = "passes"},
                   {.device = "NVIDIA H100", .failed = 10, .runs = 10, .says = "fails"}}}};
  fleet.seconds_to_first = 75;
  fleet.hub_state = "running";
  fleet.granted = 3;
  fleet.not_described = {"gains.doubled: no bisection is shown: the target is not loaded"};
  return fleet;
}

TEST(FleetReport, SaysWhatEachShardDidAndWhatWasLost) {
  const std::string text = fleet_text(sample_fleet());
  for (const char* part :
       {"2 shards: 5,000 plans, 50.0 plans/s", "first finding 1:15 after the submission",
        "2026-01-02T03:30:00Z  2026-01-02T03:33:00Z", "confirmed", "waiting", "NVIDIA H100",
        "1 plan fails on one device and passes on another", "NVIDIA A100    0/30", "h100",
        "report: gains.doubled: no bisection is shown"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(FleetReport, WithoutAFindingSaysSo) {
  Fleet fleet = sample_fleet();
  fleet.seconds_to_first.reset();
  EXPECT_NE(fleet_text(fleet).find("no finding yet"), std::string::npos);
}

TEST(FleetReport, TheJsonHasAllOfIt) {
  const auto json = nlohmann::json::parse(fleet_json(sample_fleet()));
  EXPECT_EQ(json["shards"].size(), 2U);
  EXPECT_EQ(json["losses"][0]["host"], "n1");
  EXPECT_EQ(json["findings"]["NVIDIA H100"]["flaky"], 1);
  EXPECT_EQ(json["hub"]["granted"], 3);
  EXPECT_EQ(json["not_described"].size(), 1U);
  EXPECT_EQ(json["models"][0]["name"], "h100");
  EXPECT_EQ(json["comparisons"][0]["devices"][0]["says"], "passes");
}

TEST(FleetReport, NoTextBreaksThePage) {
  Fleet fleet = sample_fleet();
  fleet.shards[0].problem = "<script>alert(1)</script>\x01 & \xff";
  const std::string page = fleet_html(fleet);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_EQ(fleet_text(fleet).find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace redzone::report
