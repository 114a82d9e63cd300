#include "campaign/axis_test.h"

#include <algorithm>

#include "oracles/checks.h"
#include "statistics/fisher.h"
#include "statistics/holm.h"

namespace redzone::campaign {
namespace {

// A finding's error of 1 % is divided over every test that its triage may make: three looks, under
// blocking launches, between launches and under relaxed ones, in at most five classifications (in
// used workers and in fresh ones, each without and with the history of the worker, and of the
// reduced plan). A failure that always shows is decided by few runs: for 10 of 10 against 0 of 10
// the p-value is 1 / C(20, 10), which suffices for up to 41 settings.
constexpr int kLooks = 3, kStages = 3 * 5;
constexpr double kLevelOfLook = 0.01 / (kLooks * kStages);
constexpr int kFewRuns = 10, kManyRuns = 24, kMostRuns = 60;

// Runs an oracle's trials without the variation between them.
class Unvaried final : public Oracle {
 public:
  explicit Unvaried(const Oracle& of) : of_(of) {}
  std::string_view name() const override { return "unvaried"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override {
    return of_.unvaried(plan, spec);
  }
  bool shares_worker() const override { return of_.shares_worker(); }
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override {
    return oracles::judge_equal(name(), plan, spec, observations);
  }

 private:
  const Oracle& of_;
};

struct Counted {
  std::int64_t failed = 0, judged = 0;
  void add(const Verdict& v) {
    failed += v.failed();
    judged += v.failed() || v.outcome == Outcome::pass;
  }
};

struct Look {
  bool shows = false;          // a candidate failed
  bool always_differs = true;  // every run of every control failed
};

// Runs each candidate and its control `times` times and tests the counts. `compared`: see
// test_axes().
Look look(Evaluator& evaluator, std::span<const AxisCandidate> candidates, std::size_t compared,
          int times, AxisTest& test) {
  std::vector<Unvaried> controls;
  for (const auto& c : candidates) controls.emplace_back(*c.oracle);
  std::vector<Question> questions;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (int t = 0; t < times; ++t) {
      questions.push_back({candidates[i].oracle, candidates[i].plan});
      questions.push_back({&controls[i], candidates[i].plan});
    }
  const auto answers = evaluator.ask(questions);
  std::vector<double> p_values;
  Look seen;
  for (std::size_t i = 0, q = 0; i < candidates.size(); ++i) {
    Counted varied, unvaried;
    for (int t = 0; t < times; ++t) {
      varied.add(answers[q++].verdict);
      unvaried.add(answers[q++].verdict);
    }
    seen.shows = seen.shows || varied.failed > 0;
    seen.always_differs =
        seen.always_differs && unvaried.judged > 0 && unvaried.failed == unvaried.judged;
    test.differs_unvaried = test.differs_unvaried || unvaried.failed > 0;
    p_values.push_back(
        statistics::fisher_exact(varied.failed, varied.judged, unvaried.failed, unvaried.judged)
            .greater);
  }
  p_values.resize(std::max(compared, candidates.size()), 1.0);  // for the oracles that passed
  const auto named = statistics::holm(p_values, kLevelOfLook);
  std::copy_n(named.begin(), candidates.size(), test.depends.begin());
  return seen;
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

}  // namespace

bool differs_unvaried(Evaluator& evaluator, const AxisCandidate& candidate) {
  const Unvaried control(*candidate.oracle);
  return evaluator.ask(control, candidate.plan).verdict.failed();
}

AxisTest test_axes(Evaluator& evaluator, std::span<const AxisCandidate> candidates,
                   std::size_t compared, bool grouped) {
  AxisTest test{std::vector<bool>(candidates.size(), false), false};
  if (candidates.empty()) return test;
  evaluator.set_grouped(true);
  const auto [shows, always_differs] = look(evaluator, candidates, compared, kFewRuns, test);
  // State that a target keeps in its process makes trials that share a worker differ.
  if (always_differs) {
    evaluator.set_grouped(false);
    test.differs_unvaried = false;
    look(evaluator, candidates, compared, kFewRuns, test);
    if (any(test.depends) || !test.differs_unvaried) {
      evaluator.set_grouped(grouped);
      return test;
    }
  }
  // A shared worker may hide a difference between its trials.
  evaluator.set_grouped(grouped || shows);
  if (!any(test.depends)) look(evaluator, candidates, compared, shows ? kManyRuns : kFewRuns, test);
  // The failure is rare and so far only seen with the variation, so it is worth more runs.
  if (!any(test.depends) && shows && !test.differs_unvaried)
    look(evaluator, candidates, compared, kMostRuns, test);
  evaluator.set_grouped(grouped);
  return test;
}

}  // namespace redzone::campaign
