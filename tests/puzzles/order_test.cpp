// What the order of operations decides is found in one of the first generated plans, whatever the
// schedule; the fixed variants pass. On the host device, through real workers.
#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "generators/plan_generator.h"
#include "oracles/order.h"
#include "puzzles/puzzle_pool.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {
namespace {

constexpr int kTwinPlans = 40;

struct OpenOrder {
  const char* name;
  FailKind kind;
  const char* buffer;
  int first_plans = 20;
};

void PrintTo(const OpenOrder& open, std::ostream* out) {
  *out << open.name;
}

class PuzzleOrder : public testing::TestWithParam<OpenOrder> {
 protected:
  exec::Pool pool_{puzzle_pool(0)};
  oracles::OrderOracle oracle_;
};

// Not every plan contains the bug: one may make a single call, or a graph that cannot be captured.
TEST_P(PuzzleOrder, IsFoundInOneOfTheFirstPlans) {
  const OpenOrder& open = GetParam();
  const TargetSpec& spec = shipped_spec(std::string("puzzle.") + open.name);
  campaign::Evaluator evaluator(pool_, spec, kDeadline);
  generators::PlanGenerator generator(spec, generators::host_budget(), 7);
  campaign::Answer answer;
  for (int i = 0; i < open.first_plans && !answer.verdict.failed(); ++i) {
    Plan plan = generator.next();
    plan.mode.launch = Launch::gated;  // as the screen runs it
    answer = evaluator.ask(oracle_, plan);
  }
  ASSERT_TRUE(answer.verdict.failed()) << answer.verdict.reason;
  EXPECT_EQ(answer.verdict.signature.kind, open.kind);
  EXPECT_EQ(answer.verdict.signature.buffer, open.buffer);
}

TEST_P(PuzzleOrder, HasATwinThatPassesOnGeneratedPlans) {
  const TargetSpec& spec = shipped_spec(std::string("twin.") + GetParam().name);
  campaign::Evaluator evaluator(pool_, spec, kDeadline);
  generators::PlanGenerator generator(spec, generators::host_budget(), 7);
  std::vector<campaign::Question> questions;
  for (int i = 0; i < kTwinPlans; ++i) questions.push_back({&oracle_, generator.next()});
  for (std::size_t i = 0; const auto& answer : evaluator.ask(questions)) {
    EXPECT_FALSE(answer.verdict.failed())
        << answer.verdict.signature.text() << "; " << answer.verdict.reason << " on\n"
        << print_plan(questions[i].plan);
    ++i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, PuzzleOrder,
    testing::Values(OpenOrder{"argument_block", FailKind::order, "arguments"},
                    OpenOrder{"freed_elsewhere", FailKind::order, "staged"},
                    OpenOrder{"freed_too_soon", FailKind::use_after_free, "staged"},
                    OpenOrder{"missing_edge", FailKind::order, "sums"},
                    // Its calls overlap in plans with several streams alone:
                    // one in 25.
                    OpenOrder{"shared_counter", FailKind::order, "counter", 100},
                    OpenOrder{"stale_event", FailKind::order, "back"},
                    OpenOrder{"stream_reuse", FailKind::order, "staged"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redzone::puzzles
