// Reduces long plans with many dims to what their bug needs: on the command line, in real workers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "core/plan_text.h"
#include "core/repro.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr std::size_t kSteps = 50;

// 50 calls with all 8 dims drawn, with the details that a generator would add.
Plan long_plan(const std::string& target, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  Plan plan;
  plan.target = target;
  plan.mode = {Launch::gated, Allocator::guard, Placement::guard_after, 0x3f3f3f3fu, 77};
  while (plan.steps.size() < kSteps) {
    Call call;
    const std::int64_t r = draw(1, 8), m = draw(1, 64);
    call.dims = {{"B", draw(1, 8)},
                 {"H", r * draw(1, 4)},
                 {"T", draw(65, 512)},
                 {"D", draw(1, 128)},
                 {"C", 16 << draw(0, 3)},
                 {"M", m},
                 {"R", r},
                 {"S", draw(m, 1024)}};
    call.config = {{"num_warps", draw(1, 2) * 4}, {"stages", draw(2, 4)}};
    call.seed = random() % 1000;
    if (plan.steps.empty()) call.dims["C"] = 128;  // smaller ones follow
    plan.steps.emplace_back(CallStep{call, draw(1, 3), 0});
  }
  return plan;
}

Call smallest_call() {
  Call call;
  call.dims = {{"B", 1}, {"H", 1}, {"T", 1}, {"D", 1}, {"C", 16}, {"M", 1}, {"R", 1}, {"S", 1}};
  call.config = {{"num_warps", 4}, {"stages", 2}};
  call.seed = 1;
  return call;
}

Plan plain_plan(const std::string& target, const std::vector<Call>& calls) {
  Plan plan;
  plan.target = target;
  plan.mode.launch = Launch::blocking;
  for (const auto& call : calls) plan.steps.emplace_back(CallStep{call, 1, 0});
  return plan;
}

class Reduce : public testing::Test {
 protected:
  // The reduced finding of this plan.
  Json reduced(const Plan& plan) {
    const Signature signature{
        FailKind::illegal_access, plan.target, "row_sums", "y", "after", "write"};
    const std::string file = folder_.write(
        "plan.toml", print_repro({.plan = plan, .oracle = "fault", .signature = signature}, ""));
    const Ran imported = redzone(folder_, {"import", file, "--plugin", EIGHT_DIMS});
    EXPECT_EQ(imported.exit, 0) << imported;
    const Ran ran = redzone(folder_, {"reduce", "1", "--device", "host", "--plugin", EIGHT_DIMS,
                                      "--time", "10m", "--deadline", "60s", "--json"});
    EXPECT_EQ(ran.exit, 1) << ran;
    return ran.json();
  }
  // Checks that the reduction ended by itself after at most `most_plans` plans. Prints the time
  // without judging it.
  void judge(const Json& finding, int most_plans) {
    static const std::regex line(
        R"(reduction +(\S+): .*; (\d+) plans tried in \d+ trials, (\S+) s)");
    const std::string shown = redzone(folder_, {"show", "1"}).out;
    std::smatch match;
    ASSERT_TRUE(std::regex_search(shown, match, line)) << shown;
    fmt::print("{}: {}\n", finding["signature"]["target"].get<std::string>(), match.str());
    RecordProperty("seconds", match[3].str());
    EXPECT_EQ(match[1], "1-minimal");
    EXPECT_LE(std::stoi(match[2]), most_plans);
    EXPECT_EQ(finding["minimal"], true);
    EXPECT_EQ(finding["state"], "confirmed");
  }
  static Plan plan_of(const Json& finding) {
    const auto plan = parse_plan(finding["plan"].get<std::string>());
    EXPECT_TRUE(plan) << finding["plan"];
    return plan.value_or(Plan{});
  }

  const TempFolder folder_;
};

TEST_F(Reduce, FiftyStepsWithEightDimsEndAtTheTwoThatMatter) {
  const std::string target = "eight.frozen_chunk";
  const Json finding = reduced(long_plan(target, 1));
  judge(finding, 400);
  Call first = smallest_call(), second = smallest_call();
  first.dims["C"] = 32;
  second.dims["T"] = 65;
  EXPECT_EQ(plan_of(finding), plain_plan(target, {first, second})) << finding["plan"];
}

// Five variants: no four calls fail, and no call can be dropped before the rest is small.
TEST_F(Reduce, FiftyStepsEndAtTheFiveThatMatter) {
  const std::string target = "eight.four_slots";
  const Json finding = reduced(long_plan(target, 2));
  judge(finding, 1000);
  const Plan plan = plan_of(finding);
  std::vector<Call> calls;
  std::set<std::int64_t> variants;
  for (const auto* step : calls_of(plan)) {
    variants.insert(get(step->call.dims, "D"));
    calls.push_back(smallest_call());
    calls.back().dims["D"] = get(step->call.dims, "D");
  }
  EXPECT_EQ(variants, (std::set<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(plan, plain_plan(target, calls)) << finding["plan"];
}

TEST_F(Reduce, SaysThatTheBudgetEnded) {
  const Plan plan = long_plan("eight.frozen_chunk", 3);
  const Signature signature{
      FailKind::illegal_access, plan.target, "row_sums", "y", "after", "write"};
  const std::string file = folder_.write(
      "plan.toml", print_repro({.plan = plan, .oracle = "fault", .signature = signature}, ""));
  ASSERT_EQ(redzone(folder_, {"import", file, "--plugin", EIGHT_DIMS}).exit, 0);
  const auto reduce = [&](const Arguments& budget) {
    Arguments all{"reduce", "1", "--device", "host", "--plugin", EIGHT_DIMS, "--deadline", "60s"};
    all.insert(all.end(), budget.begin(), budget.end());
    return redzone(folder_, all);
  };
  const Ran time = reduce({"--time", "1ms"});
  EXPECT_NE(time.out.find("reduction    budget of time: "), std::string::npos) << time;
  const Ran plans = reduce({"--evaluations", "3"});
  EXPECT_NE(plans.out.find("reduction    budget of plans: "), std::string::npos) << plans;
  const Ran shown = redzone(folder_, {"show", "1"});
  EXPECT_NE(shown.out.find("reduction    budget of plans: "), std::string::npos) << shown;
  EXPECT_NE(shown.out.find("redzone replay 1 --plugin "), std::string::npos) << shown;
}

}  // namespace
}  // namespace redzone::e2e
