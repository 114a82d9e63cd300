// The part `guard`: whole programs in several ways, with doubles in the place of the processes.
#include "bench/guard_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "bench/guard_programs.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::json;

std::string line(double us, double mib = 1) {
  return Json{{"unit", "step"}, {"us", us}, {"peak_bytes", mib * 1048576}, {"with", "torch 9"}}
             .dump() +
         "\n";
}

// Two programs, of which the second has no framework, in three ways. Each run takes the next answer
// of its command, or 100 us.
class GuardCostTest : public ::testing::Test {
 protected:
  GuardCostTest() {
    runs_.programs = {{.name = "train", .what = "a step", .command = {"py", "t"}},
                      {.name = "plain_c", .what = "a loop", .command = {"c"}}};
    runs_.programs[0].has_framework = true;
    runs_.ways = {{{"plain", "alone"}, {}},
                  {{"uncached", "no cache"}, {"env"}, true},
                  {{"guard", "guarded"}, {"guard", "--"}}};
    runs_.runs = 3;
    runs_.run = [this](const std::vector<std::string>& words) { return answer(words); };
    runs_.stop = [this] { return stop_after_ == commands_.size(); };
    runs_.say = [](const std::string&) {};
    runs_.keep = [this](const GuardCost& cost) { kept_.push_back(cost); };
  }

  Result<LimitedRun> answer(const std::vector<std::string>& words) {
    std::string command;
    for (const auto& word : words) command += (command.empty() ? "" : " ") + word;
    commands_.push_back(command);
    auto& waiting = answers_[command];
    if (waiting.empty()) return LimitedRun{.output = line(100)};
    auto next = waiting.front();
    waiting.pop_front();
    return next;
  }

  GuardRuns runs_;
  GuardCost cost_;
  std::map<std::string, std::deque<Result<LimitedRun>>> answers_;
  std::vector<std::string> commands_;
  std::vector<GuardCost> kept_;
  std::size_t stop_after_ = 1000;
};

TEST_F(GuardCostTest, TheWaysTakeTurns) {
  measure_guard_cost(runs_, cost_);
  ASSERT_EQ(commands_.size(), 3u * 3 + 3 * 2);
  EXPECT_EQ(commands_[0], "py t");
  EXPECT_EQ(commands_[1], "env py t");
  EXPECT_EQ(commands_[2], "guard -- py t");
  EXPECT_EQ(commands_[3], "py t");
  EXPECT_EQ(commands_[9], "c");
  EXPECT_EQ(commands_[10], "guard -- c");
  EXPECT_EQ(cost_.rows[1].cells[1].why_not, "it has no framework");
  EXPECT_EQ(cost_.rows[0].with, "torch 9");
}

TEST_F(GuardCostTest, FiguresAreMedians) {
  for (const double us : {300.0, 100.0, 200.0})
    answers_["guard -- py t"].push_back(LimitedRun{.output = "noise\n" + line(us, us / 10)});
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.ratio(cost_.rows[0], "guard", "plain"), 2.0);
  EXPECT_EQ(cost_.ratio(cost_.rows[1], "uncached", "plain"), std::nullopt);
  EXPECT_EQ(cost_.ratio(cost_.rows[1], "no such", "plain"), std::nullopt);
  Report report;
  report.guard = cost_;
  const Json row = Json::parse(report_json(report))["guard"]["rows"][0];
  EXPECT_EQ(row["guard"]["us"], 200.0);
  EXPECT_EQ(row["guard"]["peak_mib"], 20.0);
  EXPECT_EQ(row["guard_to_plain"], 2.0);
  EXPECT_TRUE(row["memcheck_to_guard"].is_null());
  EXPECT_NE(report_text(report).find("it has no framework"), std::string::npos);
}

TEST_F(GuardCostTest, AWayThatFailsIsNotTriedAgain) {
  answers_["guard -- py t"] = {LimitedRun{.exit_code = 1, .output = "x\n1 finding; exit code 1\n"}};
  answers_["guard -- c"] = {LimitedRun{.over_time = true}};
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.rows[0].cells[2].why_not, "exit code 1: 1 finding; exit code 1");
  EXPECT_EQ(cost_.rows[1].cells[2].why_not, "it took too long");
  EXPECT_EQ(std::count(commands_.begin(), commands_.end(), "guard -- py t"), 1);
  EXPECT_EQ(cost_.rows[0].cells[0].us.size(), 3u);
}

TEST_F(GuardCostTest, AProgramThatFailsAloneIsRunInNoOtherWay) {
  answers_["py t"] = {LimitedRun{.output = "no line\n"}};
  answers_["c"] = {harness_error("c: no such file")};
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(commands_, (std::vector<std::string>{"py t", "c"}));
  EXPECT_EQ(cost_.rows[0].cells[0].why_not, "it printed no figures: no line");
  EXPECT_EQ(cost_.rows[0].cells[2].why_not, "it fails alone");
  EXPECT_EQ(cost_.rows[1].cells[0].why_not, "c: no such file");
}

TEST_F(GuardCostTest, WhatIsMissingIsSaid) {
  runs_.programs[0].why_not = "no python3";
  runs_.ways[2].why_not = "no tool";
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.rows[0].cells[0].why_not, "no python3");
  EXPECT_EQ(cost_.rows[1].cells[2].why_not, "no tool");
  EXPECT_EQ(commands_, (std::vector<std::string>(3, "c")));
}

// Interrupted after any number of processes, and gone on with: the same table, and no process more.
TEST_F(GuardCostTest, AnInterruptedRunIsGoneOnWith) {
  for (std::size_t at = 0; at < 15; ++at) {
    commands_.clear();
    GuardCost cost;
    stop_after_ = at;
    measure_guard_cost(runs_, cost);
    EXPECT_EQ(commands_.size(), at);
    Report report;
    report.guard = cost;
    auto read = guard_cost_of(report_json(report));
    ASSERT_TRUE(read) << read.error().message;
    stop_after_ = 1000;
    measure_guard_cost(runs_, *read);
    // The process during which it was stopped is run again.
    EXPECT_EQ(commands_.size(), 15 + (at == 0 ? 0 : 1)) << at;
    for (const GuardRow& row : read->rows)
      for (const GuardCell& cell : row.cells)
        EXPECT_TRUE(cell.us.size() == 3 || cell.why_not == "it has no framework");
  }
}

TEST_F(GuardCostTest, AnotherAllocatorThanTheWaysIsAFailure) {
  runs_.ways[2].allocator = "pluggable";
  Json figures = Json::parse(line(100));
  figures["allocator"] = "native";
  answers_["guard -- py t"] = {LimitedRun{.output = figures.dump()}};
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.rows[0].cells[2].why_not, "it has PyTorch's allocator 'native'");
  EXPECT_EQ(cost_.rows[1].cells[2].why_not, "") << "it has no framework";
  figures["allocator"] = "pluggable";
  answers_["guard -- py t"] =
      std::deque<Result<LimitedRun>>(3, LimitedRun{.output = figures.dump()});
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.rows[0].cells[2].us.size(), 3u);
}

TEST_F(GuardCostTest, RunsWithOtherVersionsAreNotMixed) {
  measure_guard_cost(runs_, cost_);
  cost_.rows[0].cells[0].us.pop_back(), cost_.rows[0].cells[0].peak_mib.pop_back();
  Json figures = Json::parse(line(100));
  figures["with"] = "torch 10";
  answers_["py t"] = {LimitedRun{.output = figures.dump()}};
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(cost_.rows[0].cells[0].why_not, "it has torch 10, and earlier runs torch 9");
}

TEST_F(GuardCostTest, GoingOnTriesAgainWhatFailed) {
  answers_["guard -- py t"] = {LimitedRun{.exit_code = 1}};
  measure_guard_cost(runs_, cost_);
  commands_.clear();
  measure_guard_cost(runs_, cost_);
  EXPECT_EQ(commands_, (std::vector<std::string>(3, "guard -- py t")));
  EXPECT_EQ(cost_.rows[0].cells[2].why_not, "");
}

TEST_F(GuardCostTest, RowsOfOtherProgramsStay) {
  measure_guard_cost(runs_, cost_);
  runs_.programs = {{.name = "third", .what = "", .command = {"third"}}};
  measure_guard_cost(runs_, cost_);
  ASSERT_EQ(cost_.rows.size(), 3u);
  EXPECT_EQ(cost_.rows[0].cells[0].us.size(), 3u);
}

TEST_F(GuardCostTest, TheTableIsKeptAfterEachProcess) {
  measure_guard_cost(runs_, cost_);
  ASSERT_GE(kept_.size(), 15u);
  EXPECT_EQ(kept_[0].rows[0].cells[0].us.size(), 1u);
  EXPECT_TRUE(kept_[0].rows[0].cells[1].us.empty());
}

TEST(GuardFigures, AreThoseOfTheLastLineThatHasThem) {
  EXPECT_EQ(parse_figures("a\n" + line(3) + line(4) + "guard: no finding").value().us, 4);
  EXPECT_EQ(parse_figures(line(3, 2)).value().peak_mib, 2);
  for (const char* text :
       {"", "{}", "\n\n", "[1]", "{\"unit\": \"s\", \"us\": 0, \"peak_bytes\": 1}",
        "{\"unit\": \"s\", \"us\": \"1\", \"peak_bytes\": 1}", "{\"unit\": \"s\", \"us\": 1}",
        "{\"us\": 1, \"peak_bytes\": 1}"})
    EXPECT_FALSE(parse_figures(text)) << text;
}

// A table is read as it was written.
RC_GTEST_PROP(GuardTable, IsReadAsItWasWritten, ()) {
  GuardCost cost{.runs = *rc::gen::inRange<std::size_t>(1, 6)};
  const auto ways = *rc::gen::inRange(1, 4), rows = *rc::gen::inRange(0, 4);
  for (int i = 0; i < ways; ++i) cost.columns.push_back({"way" + std::to_string(i), "what"});
  for (int i = 0; i < rows; ++i) {
    GuardRow row{.program = "p" + std::to_string(i), .what = "w", .unit = "u", .with = "v"};
    for (int way = 0; way < ways; ++way) {
      const auto us = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1 << 20));
      GuardCell cell{.why_not = us.empty() ? "none" : ""};
      for (const int one : us) {
        cell.us.push_back(one / 8.0);
        cell.peak_mib.push_back(one / 4.0);
      }
      row.cells.push_back(cell);
    }
    cost.rows.push_back(row);
  }
  Report report;
  report.guard = cost;
  const auto read = guard_cost_of(report_json(report));
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->runs == cost.runs);
  RC_ASSERT(read->rows.size() == cost.rows.size());
  for (std::size_t i = 0; i < cost.rows.size(); ++i)
    for (std::size_t way = 0; way < cost.columns.size(); ++way) {
      const GuardCell &is = read->rows[i].cells[way], &was = cost.rows[i].cells[way];
      RC_ASSERT(is.us == was.us);
      RC_ASSERT(is.peak_mib == was.peak_mib);
      RC_ASSERT(is.why_not == was.why_not);
    }
}

TEST(GuardTable, OfAnythingElseIsAMistake) {
  for (const char* text : {"", "{}", "[]", "{\"guard\": null}", "{\"guard\": {\"runs\": 1}}",
                           R"({"guard": {"runs": 1, "columns": [{"name": "a", "what": ""}],
                              "rows": [{"program": "p", "what": "", "unit": "", "with": ""}]}})",
                           R"({"guard": {"runs": 1, "columns": [{"name": "a", "what": ""}],
                              "rows": [{"program": "p", "what": "", "unit": "", "with": "",
                              "a": {"us_of_runs": [1], "peak_mib_of_runs": [], "why_not": null}}]}})",
                           R"({"guard": {"runs": 1, "columns": [{"name": "a", "what": ""}],
                              "rows": [{"program": "p", "what": "", "unit": "", "with": "",
                              "a": {"us_of_runs": [-1], "peak_mib_of_runs": [1],
                                    "why_not": null}}]}})"})
    EXPECT_FALSE(guard_cost_of(text)) << text;
}

TEST(GuardTable, OfAnotherRunIsNotGoneOnWith) {
  const auto ways = guard_ways("redzone", {"memcheck"}, "");
  Report report;
  report.commit = "abc";
  report.environment.device = "GPU";
  report.guard = GuardCost{.runs = 5};
  for (const auto& way : ways) report.guard->columns.push_back(way.column);
  const std::string earlier = report_json(report);
  EXPECT_TRUE(earlier_cost(earlier, report, ways));
  Report other = report;
  other.commit = "abd";
  EXPECT_FALSE(earlier_cost(earlier, other, ways));
  other = report;
  other.environment.device = "another";
  EXPECT_FALSE(earlier_cost(earlier, other, ways));
  other = report;
  other.quick = true;
  EXPECT_FALSE(earlier_cost(earlier, other, ways));
  EXPECT_FALSE(earlier_cost(earlier, report, {ways.begin(), ways.end() - 1}));
  other = report;
  other.commit = kUnknownCommit;
  EXPECT_FALSE(earlier_cost(report_json(other), other, ways)) << "it may be any commit";
}

TEST(GuardPrograms, AreThoseThatAreNamed) {
  EXPECT_EQ(guard_programs({}, std::string("/python")).value().size(), 6u);
  const auto one = guard_programs({"softmax"}, std::string("/python")).value();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "softmax");
  const auto wrong = guard_programs({"soft"}, std::string("/python"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_NE(wrong.error().message.find("training"), std::string::npos) << wrong.error().message;
}

TEST(GuardWays, AreWithoutMemcheckWhereItIsNotThere) {
  const auto ways = guard_ways("/bin/redzone", {}, "compute-sanitizer was not found");
  ASSERT_EQ(ways.size(), 5u);
  EXPECT_EQ(ways.back().why_not, "compute-sanitizer was not found");
  EXPECT_EQ(ways[0].before.size(), 0u);
  EXPECT_EQ(ways[3].before.front(), "/bin/redzone");
  EXPECT_EQ(ways[3].before.back(), "--");
  EXPECT_EQ(ways[3].allocator, "pluggable");
}

using std::chrono::milliseconds;

TEST(LimitedRun, HasTheOutputAndTheCode) {
  const auto ran =
      run_limited({"sh", "-c", "echo one; echo two >&2; exit 7"}, milliseconds(60000), {});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 7);
  EXPECT_FALSE(ran->over_time);
  EXPECT_EQ(ran->output, "one\ntwo\n");
  EXPECT_EQ(run_limited({"sh", "-c", "kill -9 $$"}, milliseconds(60000), {})->exit_code, 137);
  EXPECT_FALSE(run_limited({"/no/such/program"}, milliseconds(60000), {}));
}

// A pipe holds less than this.
TEST(LimitedRun, TakesMuchOutput) {
  const auto ran =
      run_limited({"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo; echo end"},
                  milliseconds(60000), {});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output.size(), 300005u);
}

// It has closed its output, or another session keeps it open.
TEST(LimitedRun, NeedsNoEndOfTheOutput) {
  const auto closed =
      run_limited({"sh", "-c", "exec >&- 2>&-; exec sleep 600"}, milliseconds(300), {});
  ASSERT_TRUE(closed);
  EXPECT_TRUE(closed->over_time);
  const auto kept =
      run_limited({"sh", "-c", "setsid sleep 5 & echo begun"}, milliseconds(60000), {});
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->over_time);
  EXPECT_EQ(kept->output, "begun\n");
}

TEST(LimitedRun, EndsWithItsTime) {
  const auto ran = run_limited({"sh", "-c", "echo begun; sleep 600"}, milliseconds(300), {});
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->over_time);
  EXPECT_EQ(ran->output, "begun\n");
  EXPECT_TRUE(run_limited({"sleep", "600"}, milliseconds(600000), [] { return true; })->over_time);
}

}  // namespace
}  // namespace redzone::bench
