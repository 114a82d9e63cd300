// Quality of the reducer and the bisection, for all puzzles, on the host device, through real
// workers and oracles. The plan of each puzzle, buried among calls that a generator drew, is
// reduced to the minimum that the note states; the bisection of that minimum names the cause and
// nothing else.
//
// Prints one table; $REDZONE_QUALITY names a file to write it to (scripts/quality). Times are
// printed, not judged.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "bisect/explain.h"
#include "campaign/triage.h"
#include "core/plan_text.h"
#include "engine/plans.h"
#include "generators/plan_generator.h"
#include "generators/simplify.h"
#include "puzzles/bisect_setup.h"
#include "report/format.h"

namespace redzone::puzzles {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// Stores nothing.
class NoSink final : public campaign::FindingSink {
 public:
  Result<campaign::Recorded> record(const Finding&) override { return {{1, true}}; }
  Result<campaign::Recorded> update(const Finding&) override { return {{1, true}}; }
  Result<void> sighted(std::int64_t, std::int64_t) override { return {}; }
  bool settled(const Signature&) override { return false; }
  Result<void> evidence(std::int64_t, std::string_view, const Plan&,
                        const campaign::Answer&) override {
    return {};
  }
};

// The plan in the launch mode, with other calls before and after it.
Plan buried(const Plan& plan, const std::vector<Step>& before, const std::vector<Step>& behind,
            Launch launch) {
  Plan out = plan;
  out.mode.launch = launch;
  out.steps = before;
  out.steps.insert(out.steps.end(), plan.steps.begin(), plan.steps.end());
  out.steps.insert(out.steps.end(), behind.begin(), behind.end());
  return out;
}

// Calls that a generator draws with a seed.
std::vector<Step> drawn_calls(const TargetSpec& spec, std::uint64_t seed, std::size_t most) {
  generators::PlanGenerator generator(spec, generators::host_budget(), seed);
  std::vector<Step> out;
  while (out.size() < most) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan))
      if (out.size() < most) out.emplace_back(CallStep{step->call, 1, 0});
  }
  return out;
}

struct Row {
  std::string puzzle;
  std::int64_t calls_before = 0, calls = 0, least_calls = 0;
  bool is_minimum = false;
  Reduction reduction;
  std::vector<std::string> said, cause;
  std::int64_t runs = 0;
  double seconds = 0;

  bool right() const { return said == cause; }
};

class Quality {
 public:
  explicit Quality(const Note& note)
      : note_(note), repro_(stored_repro(note)), spec_(shipped_spec(note.puzzle())) {
    row_.puzzle = note.name;
    if (repro_.signature->kind == FailKind::hang) deadline_ = std::chrono::milliseconds(300);
  }

  const Row& measure() {
    reduce();
    bisect();
    return row_;
  }

 private:
  // The first of several ways to bury the plan in which it still fails in the same way.
  Plan failing_plan() {
    campaign::Evaluator evaluator(pool_, spec_, deadline_);
    const Oracle& oracle = *catalog_.find(repro_.oracle);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const auto before = drawn_calls(spec_, seed, 3), behind = drawn_calls(spec_, seed + 100, 3);
      for (const auto launch : {Launch::gated, repro_.plan.mode.launch})
        for (const auto& [first, last] :
             {std::pair{before, behind}, std::pair{std::vector<Step>{}, behind},
              std::pair{before, std::vector<Step>{}}}) {
          const Plan plan = buried(repro_.plan, first, last, launch);
          if (!validate(plan, spec_)) continue;
          const Verdict verdict = evaluator.ask(oracle, plan).verdict;
          if (verdict.failed() && same_bug(verdict.signature, *repro_.signature)) return plan;
        }
    }
    ADD_FAILURE() << note_.name << ": nothing hides it";
    return repro_.plan;
  }

  void reduce() {
    Finding finding;
    finding.id = 1;
    finding.signature = *repro_.signature;
    finding.oracle = repro_.oracle;
    finding.state = FindingState::confirmed;
    finding.plan = finding.original = failing_plan();
    row_.calls_before = call_count(finding.plan);
    campaign::TriageOptions options;
    options.deadline = deadline_;
    options.hang_deadline = deadline_;
    options.attribution_runs = 0;
    options.reduce_time = std::chrono::minutes(10);
    options.reduce_evaluations = 5000;
    NoSink sink;
    campaign::Triage triage(pool_, catalog_, engine::simplify_for(), sink, options);
    const auto settled = triage.reduce_again(finding, spec_);
    ASSERT_TRUE(settled) << settled.error().message;
    const Finding& reduced = settled->finding;
    row_.reduction = reduced.reduction;
    row_.calls = call_count(reduced.plan);
    EXPECT_EQ(reduced.reduction.end, ReductionEnd::minimal);
    EXPECT_TRUE(same_bug(reduced.signature, finding.signature));
    for (const auto& expectation : note_.expectations)
      if (matches(expectation, reduced.signature)) compare(reduced.plan, expectation);
    EXPECT_TRUE(row_.is_minimum) << print_plan(reduced.plan);
  }

  void compare(const Plan& plan, const Expectation& expectation) {
    for (const auto& minimum : expectation.minima) {
      const auto calls = call_count(minimal_plan(minimum, spec_));
      if (row_.least_calls == 0 || calls < row_.least_calls) row_.least_calls = calls;
      row_.is_minimum = row_.is_minimum || redzone::puzzles::is_minimum(plan, minimum, spec_);
    }
  }

  void bisect() {
    BisectSetup setup(note_);
    bisect::Prober prober(setup.runner(), {});
    const auto begun = Clock::now();
    const auto b = bisect::bisect(setup.plan(), setup.spec(), prober, setup.options());
    row_.seconds = seconds_since(begun);
    row_.runs = b.runs;
    row_.said = answer_of(b);
    row_.cause = rows_of(causes(), note_);
    EXPECT_EQ(b.base.answer, bisect::Answer::fails);
    EXPECT_EQ(row_.said, row_.cause) << sentence(b);
    EXPECT_EQ(rows_with(b, {bisect::Relevance::otherwise}), rows_of(otherwise_causes(), note_));
    EXPECT_EQ(rows_with(b, {bisect::Relevance::unknown}), rows_of(unknown_causes(), note_));
    EXPECT_TRUE(b.complete);
    if (b.go) {
      EXPECT_EQ(b.go->probe.answer, bisect::Answer::passes);
    }
    if (b.come) {
      EXPECT_EQ(b.come->probe.answer, bisect::Answer::fails);
    }
  }

  const Note& note_;
  Repro repro_;
  const TargetSpec& spec_;
  exec::Pool pool_{puzzle_pool(0)};
  oracles::Catalog catalog_;
  std::chrono::milliseconds deadline_ = kDeadline;
  Row row_;
};

std::string table_of(const std::vector<Row>& rows) {
  using Align = report::Table::Align;
  report::Table table({{"puzzle"},
                       {"calls", Align::right},
                       {"reduced", Align::right},
                       {"least", Align::right},
                       {"exact"},
                       {"plans", Align::right},
                       {"trials", Align::right},
                       {"s", Align::right},
                       {"runs", Align::right},
                       {"s", Align::right},
                       {"right"},
                       {"what bisect says it is"}});
  std::size_t exact = 0, right = 0;
  for (const auto& r : rows) {
    exact += r.is_minimum ? 1 : 0;
    right += r.right() ? 1 : 0;
    table.add({r.puzzle, fmt::format("{}", r.calls_before), fmt::format("{}", r.calls),
               fmt::format("{}", r.least_calls), r.is_minimum ? "yes" : "no",
               fmt::format("{}", r.reduction.plans), fmt::format("{}", r.reduction.trials),
               fmt::format("{:.1f}", r.reduction.seconds), fmt::format("{}", r.runs),
               fmt::format("{:.1f}", r.seconds), r.right() ? "yes" : "no",
               r.said.empty() ? "nothing: it fails with every change"
                              : fmt::format("{}", fmt::join(r.said, ", "))});
  }
  return table.text() +
         fmt::format("\n{} of {} reduced to the exact minimum, {} of {} causes right\n", exact,
                     rows.size(), right, rows.size());
}

TEST(PuzzleQuality, EachIsReducedToItsMinimumAndBisectedToItsCause) {
  std::vector<Row> rows;
  for (const auto& note : shipped_notes()) {
    if (note.control) continue;
    SCOPED_TRACE(note.name);
    ASSERT_TRUE(causes().contains(note.name)) << "causes.h does not know it";
    rows.push_back(Quality(note).measure());
  }
  const std::string table = table_of(rows);
  fmt::print("{}", table);
  if (const char* file = std::getenv("REDZONE_QUALITY")) {
    std::ofstream out(file);
    out << table;
    out.close();
    EXPECT_TRUE(out) << file << " cannot be written";
  }
}

}  // namespace
}  // namespace redzone::puzzles
