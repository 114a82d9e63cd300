// The benchmark from end to end, with little effort. Checks that the figures exist and that the
// counts add up, not their values.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bench/command.h"
#include "bench/report.h"
#include "core/temporary_folder.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::json;
using testing::exit_code;
using testing::quoted;

const Json& column(const Json& throughput, std::string_view name) {
  for (const auto& c : throughput["columns"])
    if (c["name"] == name) return c;
  throw std::out_of_range("no column " + std::string(name));
}

void check_throughput(const Json& t) {
  SCOPED_TRACE(t["workload"]);
  EXPECT_GT(t["plans"], 0);
  EXPECT_EQ(t["plans_hash"].get<std::string>().size(), 32u);
  EXPECT_GT(t["generate_us_per_plan"], 0);
  for (const auto name : {kBare, kBareScreen, kLaunches, kScreenOne, kScreen, kScreenNoReference}) {
    SCOPED_TRACE(name);
    const Json& c = column(t, name);
    EXPECT_TRUE(c["why_not"].is_null()) << c["why_not"];
    EXPECT_GE(c["workers"], 1);
    EXPECT_GT(c["calls_per_s"], 0);
    EXPECT_GT(c["seconds"], 0);
    // Whole passes over the list of plans.
    EXPECT_GE(c["plans"], t["plans"]);
    EXPECT_EQ(c["plans"].get<int>() % t["plans"].get<int>(), 0);
    EXPECT_EQ(c["trials"].get<int>(),
              c["plans"].get<int>() * (name == kBare || name == kLaunches ? 1 : 2));
    EXPECT_GE(c["calls"], c["trials"]);
    EXPECT_EQ(c["mapping_calls_per_trial"], 0);
  }
  // The same trials make the same calls.
  const auto calls_per_trial = [&](std::string_view name) {
    const Json& c = column(t, name);
    return c["calls"].get<double>() / c["trials"].get<double>();
  };
  EXPECT_EQ(calls_per_trial(kBare), calls_per_trial(kLaunches));
  EXPECT_EQ(calls_per_trial(kBareScreen), calls_per_trial(kScreenOne));
  EXPECT_EQ(calls_per_trial(kBareScreen), calls_per_trial(kScreen));
  ASSERT_EQ(t["phases"].size(), 4u) << t["why_no_phases"];
  for (const auto& c : t["phases"]) {
    SCOPED_TRACE(c["column"]);
    EXPECT_EQ(c["calls_per_trial"], calls_per_trial(c["column"].get<std::string>()));
    EXPECT_GT(c["phases"]["synchronize"]["us_per_trial"], 0);
    double us = 0;
    for (const auto& p : c["phases"]) us += p["us_per_trial"].get<double>();
    EXPECT_LE(us, c["us_per_trial"].get<double>());
    EXPECT_EQ(c["phases"].contains("check"),
              c["column"] == kScreen || c["column"] == kScreenNoReference);
  }
  const Json& screen = column(t, kScreen);
  EXPECT_GT(screen["calls_with_reference"], 0);
  EXPECT_EQ(screen["calls_compared"], screen["calls_with_reference"]);
  EXPECT_EQ(column(t, kScreenNoReference)["calls_compared"], 0);
  for (const auto name : {kMemcheck, kMemcheckBare}) {
    EXPECT_TRUE(column(t, name)["calls_per_s"].is_null());
    EXPECT_FALSE(column(t, name)["why_not"].is_null());
  }
  for (const char* name :
       {"screen_to_bare_same_trials", "screen_to_bare", "one_worker_to_bare_same_trials",
        "screen_no_reference_to_bare_same_trials"})
    EXPECT_GT(t["ratios"][name], 0) << name;
  EXPECT_TRUE(t["ratios"]["screen_to_memcheck"].is_null());
}

void check_detection(const Json& d) {
  SCOPED_TRACE(d["puzzle"]);
  EXPECT_EQ(d["seed"], 1);
  if (!d["found"]) {
    EXPECT_FALSE(d["why_not"].get<std::string>().empty());
    return;
  }
  EXPECT_FALSE(d["kind"].get<std::string>().empty());
  EXPECT_FALSE(d["signature"].get<std::string>().empty());
  EXPECT_GE(d["plans_to_first"], 1);
  EXPECT_GE(d["seconds_to_reduced"], d["seconds_to_first"]);
  EXPECT_GE(d["reduced_calls"], 1);
}

// One row for each puzzle; each tool column gives the reason why it did not run.
void check_modes(const Json& modes) {
  std::set<std::string> seen;
  EXPECT_GE(modes["rows"].size(), 3u);
  for (const auto& row : modes["rows"]) {
    SCOPED_TRACE(row["puzzle"]);
    for (const auto& c : modes["columns"]) {
      const Json& cell = row[c["name"].get<std::string>()];
      if (c["name"].get<std::string>().find("check") != std::string::npos) {
        EXPECT_EQ(cell["ran"], 0);
        EXPECT_FALSE(cell["why_not"].is_null());
        continue;
      }
      EXPECT_GT(cell["ran"], 0) << c["name"] << ": " << cell["why_not"];
      EXPECT_LE(cell["detected"], cell["ran"]);
      EXPECT_EQ(cell["seconds_to_first"].is_null(), cell["detected"] == 0);
      if (cell["detected"] > 0) seen.insert(c["name"]);
    }
  }
  EXPECT_TRUE(seen.contains("screen"));
}

// The requests of its launcher reveal each mistake. Without a GPU, the tool columns give the reason
// why they did not run.
void check_launchers(const Json& launchers) {
  ASSERT_EQ(launchers["rows"].size(), 3u);
  for (const auto& row : launchers["rows"]) {
    SCOPED_TRACE(row["puzzle"]);
    for (const char* name : {"none", "guard", "screen"}) {
      EXPECT_GT(row[name]["ran"], 0) << name << ": " << row[name]["why_not"];
      EXPECT_EQ(row[name]["plans_to_first"].is_null(), row[name]["detected"] == 0) << name;
    }
    for (const char* name : {"memcheck-caching", "memcheck-guard"})
      EXPECT_FALSE(row[name]["why_not"].is_null()) << name;
    check_detection(row["reduced_none"]);
    check_detection(row["reduced_native"]);
    EXPECT_TRUE(row["reduced_none"]["found"]) << row["reduced_none"];
  }
  ASSERT_EQ(launchers["correct"].size(), 1u);
  const Json& correct = launchers["correct"][0];
  EXPECT_EQ(correct["target"], "lazy_launch");
  EXPECT_EQ(correct["suspects"], 0);
  EXPECT_GE(correct["calls"], 500);
  EXPECT_GT(correct["settings"], 3);
}

void check_tma(const Json& tma) {
  EXPECT_EQ(tma["descriptors"], 20000);
  EXPECT_GT(tma["checker_per_s"], 0);
  EXPECT_TRUE(tma["driver_per_s"].is_null());
  EXPECT_TRUE(tma["disagreements"].is_null());
  EXPECT_FALSE(tma["why_no_driver"].is_null());
  ASSERT_EQ(tma["length_one"].size(), 1u);
  EXPECT_EQ(tma["length_one"][0]["puzzle"], "puzzle.tma_unit_stride");
  check_detection(tma["length_one"][0]);
  EXPECT_EQ(tma["ragged_prefill"]["workload"], "ragged");
  check_throughput(tma["ragged_prefill"]);
}

void check_minute(const Json& minute) {
  EXPECT_GT(minute["startup_s"], 0);
  EXPECT_GT(minute["seconds"], 0);
  EXPECT_EQ(minute["puzzles"].size(), 4u);
  int plans = 0, confirmed = 0;
  for (const auto& p : minute["puzzles"]) {
    SCOPED_TRACE(p["puzzle"]);
    plans += p["plans"].get<int>();
    confirmed += p["confirmed_s"].is_null() ? 0 : 1;
    EXPECT_EQ(p["parts"] == 0, p["plans"] == 0);
    EXPECT_LE(p["parts"], minute["of_parts"]);
    EXPECT_TRUE(p["minimal_s"].is_null() || p["minimal_s"] >= p["confirmed_s"]);
  }
  EXPECT_GT(plans, 0);
  EXPECT_GE(minute["plans"], plans);
  // How many are confirmed in a few seconds is a matter of the machine.
  EXPECT_EQ(minute["confirmed"], confirmed);
  EXPECT_EQ(minute["kernels"]["share"].is_null(), !minute["kernels"]["why_not"].is_null());
}

TEST(Bench, WritesWhatItMeasuredOnTheHostDevice) {
  const auto folder = TemporaryFolder::create("bench").value();
  const auto file = folder.path() / "report.json";
  ASSERT_EQ(exit_code(quoted(REDZONE) + " bench --quick --device host --commit abc --out " +
                      quoted(file) + " >" + quoted(folder.path() / "table") + " 2>/dev/null"),
            0);
  std::ifstream in(file);
  const Json report = Json::parse(in);
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["device"], "host");
  EXPECT_EQ(report["kind"], "host");
  EXPECT_EQ(report["commit"], "abc");
  EXPECT_EQ(report["quick"], true);
  EXPECT_EQ(report["date"].get<std::string>().size(), std::string("2025-01-31T12:34:56Z").size());
  for (const char* field : {"toolkit", "host", "redzone_version", "command"})
    EXPECT_FALSE(report[field].get<std::string>().empty()) << field;
  EXPECT_GT(report["cores"], 0);
  EXPECT_GT(report["seconds"], 0);

  check_tma(report["tma"]);
  ASSERT_EQ(report["throughput"].size(), 2u);
  EXPECT_EQ(report["throughput"][0]["workload"], "tiny");
  EXPECT_EQ(report["throughput"][1]["workload"], "medium");
  for (const auto& t : report["throughput"]) check_throughput(t);

  EXPECT_GE(report["detection"].size(), 3u);
  int found = 0;
  for (const auto& d : report["detection"]) {
    check_detection(d);
    found += d["found"].get<bool>() ? 1 : 0;
  }
  EXPECT_GT(found, 0);

  const Json& fault = report["fault_cost"];
  EXPECT_TRUE(fault["why_not"].is_null()) << fault["why_not"];
  for (const char* kind : {"with_spare", "without_spare"}) {
    EXPECT_GT(fault[kind]["faults"], 0) << kind;
    EXPECT_GT(fault[kind]["trial_ms"], 0) << kind;
    EXPECT_GT(fault[kind]["next_result_ms"], 0) << kind;
  }
  EXPECT_GT(fault["without_spare"]["wait_ms"], 0);

  check_modes(report["modes"]);
  check_launchers(report["launchers"]);
  check_minute(report["minute"]);

  std::stringstream table;
  table << std::ifstream(folder.path() / "table").rdbuf();
  for (const char* part :
       {"throughput, tiny shapes", "throughput, medium shapes", "screen-1-worker", "detection",
        "cost of a fault", "modes: share", "launchers: share", "lazy_launch: 0 suspects",
        "first minute: all puzzles"})
    EXPECT_NE(table.str().find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace redzone::bench
