// The computations of the report.
#include "bench/report.h"
#include "bench/phases.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redzone::bench {
namespace {

Tally tally(std::uint64_t calls, double seconds) {
  return {.plans = 1, .trials = 2, .calls = calls, .mapping_calls = 0, .seconds = seconds};
}

Throughput sample() {
  Throughput t;
  t.workload = "tiny";
  // Rates of 100, 400 and 200: the report shows the median, not the mean.
  t.columns.push_back(
      {std::string(kBareScreen), "", 1, {tally(100, 1), tally(400, 1), tally(100, 0.5)}, ""});
  t.columns.push_back({std::string(kScreen), "", 2, {tally(150, 1)}, ""});
  t.columns.push_back({std::string(kMemcheck), "", 1, {}, "no tool"});
  return t;
}

TEST(Report, MediansAreOfTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Report, ARateIsTheMedianOfItsRoundsAndARatioOfTwoRates) {
  const Throughput t = sample();
  EXPECT_EQ(t.column(kBareScreen)->calls_per_s(), 200);
  EXPECT_EQ(t.ratio(kScreen, kBareScreen), 0.75);
  EXPECT_EQ(t.column(kBareScreen)->sum().calls, 600u);
  EXPECT_EQ(t.column(kBareScreen)->sum().seconds, 2.5);
}

TEST(Report, SaysHowManyCallsWereComparedAndHowManyWhole) {
  Throughput t = sample();
  Tally& screen = t.columns[1].rounds[0];
  screen.comparable = 200;
  screen.compared = 150;
  Report report;
  report.throughput = {t};
  EXPECT_NE(report_text(report).find(" 75% "), std::string::npos) << report_text(report);
  report.throughput[0].columns[1].rounds[0].sampled = 50;
  EXPECT_NE(report_text(report).find("75%, 50% whole"), std::string::npos) << report_text(report);
  const auto json = nlohmann::json::parse(report_json(report));
  const auto& column = json["throughput"][0]["columns"][1];
  EXPECT_EQ(column["calls_with_reference"], 200);
  EXPECT_EQ(column["calls_compared"], 150);
  EXPECT_EQ(column["calls_compared_in_samples"], 50);
}

std::vector<PhaseColumn> phases() {
  return {{"bare", 100, 700, 0.02, {{"launch", 5000, 1300}, {"check", 0, 0}, {"read", 0, 0}}},
          {"screen", 10, 70, 0.004, {{"launch", 600, 130}, {"check", 150, 10}, {"read", 0, 0}}}};
}

TEST(Phases, TheirLineIsReadBack) {
  const auto written = phases();
  const auto read = parse_phases(phases_line(written));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const PhaseColumn &want = written[i], &got = (*read)[i];
    EXPECT_EQ(got.column, want.column);
    EXPECT_EQ(got.trials, want.trials);
    EXPECT_EQ(got.calls, want.calls);
    EXPECT_EQ(got.seconds, want.seconds);
    ASSERT_EQ(got.phases.size(), want.phases.size());
    EXPECT_EQ(got.phases[0].name, "launch");
    EXPECT_EQ(got.phases[0].us, want.phases[0].us);
    EXPECT_EQ(got.phases[0].times, want.phases[0].times);
  }
  EXPECT_EQ(parse_phases("error no memory").error().message, "no memory");
  for (const char* bad : {"", "ok", "ok 2 bare 1 1 1 0", "ok 1 bare 1 1 1 9999999", "no 0",
                          "ok 99999999 bare", "ok x"})
    EXPECT_FALSE(parse_phases(bad)) << bad;
}

TEST(Phases, AreATableWithWhatTheyDoNotCover) {
  Report report;
  report.throughput = {sample()};
  report.throughput[0].phases = phases();
  const std::string text = report_text(report);
  EXPECT_NE(text.find("us/trial (times)"), std::string::npos) << text;
  EXPECT_NE(text.find("50.0 (13.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("15.0 (1.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("150.0"), std::string::npos) << "200 us less 50: " << text;
  EXPECT_NE(text.find("325.0"), std::string::npos) << "400 us less 75: " << text;
  EXPECT_EQ(text.find("read"), std::string::npos) << "no column has one: " << text;
  const auto json = nlohmann::json::parse(report_json(report))["throughput"][0]["phases"];
  EXPECT_EQ(json[1]["column"], "screen");
  EXPECT_EQ(json[1]["us_per_trial"], 400);
  EXPECT_EQ(json[1]["calls_per_trial"], 7);
  EXPECT_EQ(json[1]["phases"]["check"]["us_per_trial"], 15);
  EXPECT_FALSE(json[0]["phases"].contains("check"));
}

TEST(Report, WhatWasNotMeasuredHasNoRatio) {
  const Throughput t = sample();
  EXPECT_EQ(t.column(kMemcheck)->calls_per_s(), std::nullopt);
  EXPECT_EQ(t.ratio(kScreen, kMemcheck), std::nullopt);
  EXPECT_EQ(t.ratio(kScreen, kBare), std::nullopt);
}

TEST(Report, JsonHasNullForWhatWasNotMeasured) {
  Report report;
  report.throughput.push_back(sample());
  report.detection.push_back({.puzzle = "puzzle.x", .seed = 2, .why_not = "nothing confirmed"});
  const auto json = nlohmann::json::parse(report_json(report));
  const auto& t = json["throughput"][0];
  EXPECT_EQ(t["columns"][1]["calls_per_s"], 150);
  EXPECT_TRUE(t["columns"][1]["why_not"].is_null());
  EXPECT_TRUE(t["columns"][2]["calls_per_s"].is_null());
  EXPECT_EQ(t["columns"][2]["why_not"], "no tool");
  EXPECT_EQ(t["ratios"]["screen_to_bare_same_trials"], 0.75);
  EXPECT_TRUE(t["ratios"]["screen_to_memcheck"].is_null());
  EXPECT_EQ(json["detection"][0]["found"], false);
  EXPECT_EQ(json["detection"][0]["why_not"], "nothing confirmed");
  EXPECT_FALSE(json["detection"][0].contains("plans_to_first"));
}

TEST(Report, TheTableSaysWhyAColumnIsEmpty) {
  Report report;
  report.throughput.push_back(sample());
  const std::string text = report_text(report);
  EXPECT_NE(text.find("not measured: no tool"), std::string::npos) << text;
  EXPECT_NE(text.find("the screen runs at 0.75 of the bare speed"), std::string::npos) << text;
}

// The report states how many calls were made if time ran out before the requested number.
TEST(Report, ACorrectLauncherSaysWhenItsTimeWasOverBeforeItsCalls) {
  Report report;
  report.launchers.correct = {
      {.target = "whole", .calls = 20100, .plans = 900, .wanted_calls = 20000, .settings = 8},
      {.target = "cut", .calls = 700, .plans = 30, .wanted_calls = 20000, .settings = 8}};
  const std::string text = report_text(report);
  EXPECT_NE(text.find("whole: 0 suspects in 20100 calls of 900 plans"), std::string::npos) << text;
  EXPECT_NE(text.find("cut: 0 suspects in 700 calls (of 20000: its time was over) of 30 plans"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["launchers"]["correct"][1]["wanted_calls"], 20000);
}

}  // namespace
}  // namespace redzone::bench
