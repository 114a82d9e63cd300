// The race check: a race within a launch shows in the minimal plan and in all plans that have it,
// and in no plan of a target without one.
#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "generators/plan_generator.h"
#include "puzzles/notes.h"
#include "puzzles/puzzle_pool.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {
namespace {

constexpr std::uint64_t kPlans = 100;

exec::PoolOptions checked_pool() {
  auto options = puzzle_pool(1);
  options.has_zygote = false;  // as for the checks of a campaign
  options.command.argv.insert(options.command.argv.end(), {"--checks", "races"});
  return options;
}

struct Judged {
  Plan plan;
  Verdict verdict;
};

std::vector<Judged> judge(const std::string& target, std::vector<Plan> plans) {
  const TargetSpec& spec = shipped_spec(target);
  const oracles::Catalog catalog;
  const Oracle& races = catalog.sanitizer(SanitizerTool::races);
  exec::Pool pool(checked_pool());
  std::vector<Judged> judged;
  for (std::uint64_t sent = 0; judged.size() < plans.size();) {
    for (; sent < plans.size() && pool.in_flight() < pool.max_in_flight(); ++sent)
      pool.submit({sent, plans[sent], races.expand(plans[sent], spec), kDeadline});
    const auto result = pool.next(std::chrono::minutes(1));
    if (!result) {
      ADD_FAILURE() << "no result for a minute";
      return judged;
    }
    Plan& plan = plans[result->id];
    judged.push_back({plan, races.judge(plan, spec, result->observations)});
  }
  return judged;
}

std::vector<Plan> generated(const std::string& target) {
  generators::PlanGenerator generator(shipped_spec(target), generators::host_budget(), 11);
  std::vector<Plan> plans;
  for (std::uint64_t i = 0; i < kPlans; ++i) plans.push_back(generator.next());
  return plans;
}

class RaceFree : public testing::TestWithParam<std::string> {};

TEST_P(RaceFree, PassesOnGeneratedPlans) {
  for (const auto& [plan, verdict] : judge(GetParam(), generated(GetParam())))
    ASSERT_EQ(verdict.outcome, Outcome::pass) << verdict.reason << " on\n" << print_plan(plan);
}

std::vector<std::string> correct_targets() {
  std::vector<std::string> names;
  for (const auto& note : shipped_notes()) names.push_back(note.twin());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Shipped, RaceFree, testing::ValuesIn(correct_targets()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// Whether a plan has the race: more than one thread shares a cell that one of them writes.
using HasRace = bool (*)(const Dims&);
struct Race {
  const char* name;
  const char* buffer;
  HasRace has_race;
};
void PrintTo(const Race& race, std::ostream* out) {
  *out << race.name;
}

class Races : public testing::TestWithParam<Race> {};

TEST_P(Races, ShowInEachPlanThatHasThem) {
  const Race& race = GetParam();
  const std::string target = std::string("puzzle.") + race.name;
  int with = 0;
  for (const auto& [plan, verdict] : judge(target, generated(target))) {
    const auto calls = calls_of(plan);
    const bool has = std::any_of(calls.begin(), calls.end(), [&](const CallStep* step) {
      return race.has_race(step->call.dims);
    });
    with += has;
    ASSERT_EQ(verdict.outcome, has ? Outcome::fail : Outcome::pass) << verdict.reason << " on\n"
                                                                    << print_plan(plan);
    if (!has) continue;
    EXPECT_EQ(verdict.signature.kind, FailKind::race);
    EXPECT_EQ(verdict.signature.buffer, race.buffer);
    EXPECT_NE(verdict.reason.find(std::string(race.name) + ".cu:"), std::string::npos)
        << verdict.reason;
  }
  EXPECT_GT(with, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, Races,
    testing::Values(
        // The middle of a tile with an odd number of elements is its own mirror image.
        Race{"shared_race", "shared", [](const Dims& d) { return get(d, "N") > 1; }},
        Race{"shared_reuse", "shared", [](const Dims&) { return true; }},
        Race{"global_race", "y", [](const Dims& d) { return get(d, "C") > 32; }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redzone::puzzles
