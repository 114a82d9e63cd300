// Fixed variants and controls are correct: no generated plan may flag them.
#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "generators/plan_generator.h"
#include "puzzles/notes.h"
#include "puzzles/puzzle_pool.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {
namespace {

constexpr std::uint64_t kPlans = 400;

std::vector<std::string> correct_targets() {
  std::vector<std::string> names;
  for (const auto& note : shipped_notes()) names.push_back(note.twin());
  return names;
}

class Twin : public testing::TestWithParam<std::string> {};

TEST_P(Twin, PassesTheScreenOnGeneratedPlans) {
  const TargetSpec& spec = shipped_spec(GetParam());
  const oracles::Catalog catalog;
  exec::Pool pool(puzzle_pool(1));
  generators::PlanGenerator generator(spec, generators::host_budget(), 7);
  std::vector<Plan> plans(kPlans);
  std::uint64_t passed = 0;
  for (std::uint64_t sent = 0, judged = 0; judged < kPlans;) {
    for (; sent < kPlans && pool.in_flight() < pool.max_in_flight(); ++sent) {
      plans[sent] = generator.next();
      pool.submit({sent, plans[sent], catalog.screen().expand(plans[sent], spec), kDeadline});
    }
    const auto result = pool.next(std::chrono::minutes(1));
    ASSERT_TRUE(result.has_value());
    const Verdict v = catalog.screen().judge(plans[result->id], spec, result->observations);
    ASSERT_EQ(v.outcome, Outcome::pass) << v.signature.text() << "; " << v.reason << " on\n"
                                        << print_plan(plans[result->id]);
    ++judged;
    passed += v.outcome == Outcome::pass;
  }
  EXPECT_EQ(passed, kPlans);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Twin, testing::ValuesIn(correct_targets()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
});

}  // namespace
}  // namespace redzone::puzzles
