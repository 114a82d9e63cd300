// A bisection of each puzzle's reduced plan names the cause that its note states, and nothing else.
// On the host device, through real workers and oracles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "bisect/explain.h"
#include "puzzles/bisect_setup.h"

namespace redzone::puzzles {

void PrintTo(const Note& note, std::ostream* out) {
  *out << note.name;
}

namespace {

std::vector<Note> puzzles_only() {
  auto notes = shipped_notes();
  std::erase_if(notes, [](const Note& n) { return n.control; });
  return notes;
}

class PuzzleBisection : public testing::TestWithParam<Note> {};

TEST_P(PuzzleBisection, NamesTheCause) {
  const Note& note = GetParam();
  ASSERT_TRUE(causes().contains(note.name)) << "causes.h does not know it";
  BisectSetup setup(note);
  bisect::Prober prober(setup.runner(), {});
  const auto begun = std::chrono::steady_clock::now();
  const auto b = bisect::bisect(setup.plan(), setup.spec(), prober, setup.options());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{:<26} {} calls, {} rows, {} runs, {:.1f} s: {}\n", note.name,
             calls_of(setup.plan()).size(), b.rows.size(), b.runs, took.count(), sentence(b));
  EXPECT_EQ(b.base.answer, bisect::Answer::fails);
  EXPECT_EQ(answer_of(b), cause_of(note));
  EXPECT_EQ(unknown_in(b), std::vector<std::string>{});
  EXPECT_TRUE(b.complete);
  if (b.go) {
    EXPECT_EQ(b.go->probe.answer, bisect::Answer::passes);
  }
  if (b.come) {
    EXPECT_EQ(b.come->probe.answer, bisect::Answer::fails);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, PuzzleBisection, testing::ValuesIn(puzzles_only()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace redzone::puzzles
