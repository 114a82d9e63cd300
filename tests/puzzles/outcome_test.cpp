// Each puzzle fails as its note expects on the plan that the note calls minimal, and passes on
// every simpler plan; its fixed variant passes there. On the host device, through real workers and
// oracles.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/plan_text.h"
#include "generators/simplify.h"
#include "puzzles/notes.h"
#include "puzzles/puzzle_pool.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {
namespace {

std::vector<Note> puzzles_only() {
  auto notes = shipped_notes();
  std::erase_if(notes, [](const Note& n) { return n.control; });
  return notes;
}

// A hang costs its deadline in each trial; a plan that does not hang needs less on a busy machine.
std::chrono::milliseconds deadline_for(const Note& note) {
  const bool hangs = std::ranges::any_of(note.expectations, [](const Expectation& e) {
    return std::ranges::count(e.kinds, FailKind::hang) > 0;
  });
  return hangs ? std::chrono::seconds(2) : kDeadline;
}

class Puzzle : public testing::TestWithParam<Note> {
 protected:
  exec::Pool pool_{puzzle_pool(0)};
  oracles::Catalog catalog_;
  const Note& note_ = GetParam();
  const TargetSpec& spec_ = shipped_spec(note_.puzzle());
  campaign::Evaluator evaluator_{pool_, spec_, deadline_for(note_)};
};

TEST_P(Puzzle, FailsAsExpectedAtItsMinimum) {
  for (const auto& expectation : note_.expectations)
    for (const auto& minimum : expectation.minima) {
      const Plan plan = minimal_plan(minimum, spec_);
      const auto shown = most_specific(catalog_, evaluator_, plan);
      ASSERT_TRUE(shown) << "nothing failed on\n" << print_plan(plan);
      EXPECT_TRUE(matches(expectation, shown->verdict.signature))
          << shown->verdict.signature.text() << "; " << shown->verdict.reason;
    }
}

TEST_P(Puzzle, ShowsTheSameOnNothingSimpler) {
  for (const auto& expectation : note_.expectations)
    for (const auto& minimum : expectation.minima) {
      const Plan plan = minimal_plan(minimum, spec_);
      const auto shown = most_specific(catalog_, evaluator_, plan);
      ASSERT_TRUE(shown);
      std::vector<campaign::Question> questions;
      for (auto& simpler : generators::all_simplifications(plan, spec_))
        questions.push_back({shown->oracle, std::move(simpler)});
      const auto answers = evaluator_.ask(questions);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const Verdict& v = answers[i].verdict;
        EXPECT_NE(v.outcome, Outcome::harness_error) << v.reason;
        EXPECT_FALSE(v.failed() && matches(expectation, v.signature))
            << v.reason << " on\n"
            << print_plan(questions[i].plan);
      }
    }
}

TEST_P(Puzzle, HasATwinThatPassesThere) {
  const TargetSpec& twin = shipped_spec(note_.twin());
  campaign::Evaluator evaluator(pool_, twin, kDeadline);
  for (const auto& expectation : note_.expectations)
    for (const auto& minimum : expectation.minima) {
      Plan plan = minimal_plan(minimum, twin);
      std::vector<campaign::Question> questions = {{&catalog_.screen(), plan}};
      for (auto launch : {Launch::blocking, Launch::gated}) {
        plan.mode.launch = launch;
        for (const auto* group : {&catalog_.direct(), &catalog_.comparing()})
          for (const auto& oracle : *group)
            if (!oracle->expand(plan, twin).empty()) questions.push_back({oracle.get(), plan});
      }
      for (const auto& answer : evaluator.ask(questions))
        // Few targets declare the scratch that they need.
        EXPECT_TRUE(answer.verdict.outcome == Outcome::pass ||
                    (answer.verdict.oracle == "scratch" &&
                     answer.verdict.outcome == Outcome::not_applicable))
            << answer.verdict.oracle << ": " << answer.verdict.reason;
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Puzzle, testing::ValuesIn(puzzles_only()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace redzone::puzzles
