#include "campaign/recheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "statistics/sequential_test.h"

namespace redzone::campaign {
namespace {

constexpr std::int64_t kFewest = 4;
constexpr std::int64_t kMost = 100;  // runs of one plan in one night
constexpr double kMiss = 0.02;

statistics::SequentialTest test_after(const Reliability& before, std::int64_t passed) {
  statistics::Rates rates{.miss = kMiss};
  if (before.k > 0) rates = statistics::rates_for(before.k, before.n, kMiss);
  return statistics::SequentialTest(rates, 0, passed);
}

std::string runs_of(std::int64_t n) {
  return n == 1 ? "1 run" : fmt::format("{} runs", n);
}

// The runs of one plan and their sums.
class Replays {
 public:
  void add(RunJudgement run) {
    results_.push_back(run.result);
    switch (run.result) {
      case RunResult::recorded:
        ++out_.failed.k;
        ++out_.failed.n;
        if (!out_.failure) out_.failure = run.verdict;
        break;
      case RunResult::pass:
      case RunResult::other:
        ++out_.failed.n;
        break;
      case RunResult::harness_error:
      case RunResult::not_judged:
        // Keeps the first run that could not be judged, but prefers the first harness error.
        if (!unjudged_ || rank_runs(std::array{run.result, unjudged_->result}) != unjudged_->result)
          unjudged_ = std::move(run);
        return;
    }
    if (run.result == RunResult::other) ++failed_otherwise_;
    if (run.other && !out_.other) out_.other = std::move(run.other);
  }
  // True if more runs would not change the outcome, or could not be judged either.
  bool decided() const {
    return out_.failed.k > 0 || unjudged_ ||
           (failed_otherwise_ > 0 && failed_otherwise_ == out_.failed.n) ||
           (out_.other && is_own_alarm(out_.other->verdict, true));
  }

  Recheck result(std::int64_t needed, std::int64_t passed) && {
    if (out_.other && !is_own_alarm(out_.other->verdict, out_.failed.k > 0)) out_.other.reset();
    switch (rank_runs(results_)) {
      case RunResult::recorded:
        out_.outcome = out_.failed.k == out_.failed.n ? ReplayOutcome::fails : ReplayOutcome::flaky;
        break;
      case RunResult::other:
        out_.outcome = ReplayOutcome::otherwise;
        out_.reason = "it fails in another way: " + out_.other->verdict.signature.text();
        break;
      case RunResult::harness_error:
        out_.outcome = ReplayOutcome::harness_error;
        out_.reason = unjudged_->verdict.reason;
        break;
      case RunResult::pass:
        if (out_.failed.n + passed >= needed)
          out_.outcome = ReplayOutcome::passes;
        else
          out_.reason = fmt::format(
              "not judged often enough: {} passed{}; {} are needed to call it fixed",
              runs_of(out_.failed.n),
              passed == 0 ? "" : fmt::format(", and {} in earlier nights", passed), needed);
        break;
      case RunResult::not_judged:
        if (!unjudged_) break;
        out_.reason = unjudged_->verdict.reason;
        if (unjudged_->verdict.outcome == Outcome::not_applicable)
          out_.outcome = ReplayOutcome::not_applicable;
        break;
    }
    return std::move(out_);
  }

  // The result of runs that ended early without a decision.
  Recheck unfinished() && {
    if (out_.failed.n == 0) out_.outcome = ReplayOutcome::not_run;
    out_.reason = fmt::format("no time was left to judge it: {} passed", runs_of(out_.failed.n));
    return std::move(out_);
  }

  void add_device_time(std::span<const Answer> answers) {
    for (const auto& answer : answers)
      for (const auto& o : answer.observations)
        out_.device_seconds += static_cast<double>(o.wall_us) * 1e-6;
  }

 private:
  Recheck out_;
  std::vector<RunResult> results_;
  std::optional<RunJudgement> unjudged_;
  std::int64_t failed_otherwise_ = 0;
};

}  // namespace

std::int64_t passes_needed(const Reliability& before) {
  return std::max(kFewest, test_after(before, 0).passes_to_go());
}

Recheck recheck(Evaluator& evaluator, std::span<const Oracle* const> oracles, const Plan& plan,
                const std::optional<Signature>& recorded, const Reliability& before,
                std::int64_t passed) {
  const std::int64_t needed = passes_needed(before);
  const std::int64_t most = std::clamp(needed - passed, kFewest, kMost);
  Replays runs;
  for (std::int64_t asked = 0; asked < most && !runs.decided();) {
    const std::int64_t now = asked == 0 ? kFewest : most - asked;
    asked += now;
    auto judged = ask_runs(evaluator, oracles, plan, recorded, now);
    const bool cut = evaluator.stopped();
    for (auto& run : judged) {
      runs.add_device_time(run.answers);
      // The run may have ended because the evaluator was stopped, which is not a harness error.
      if (cut && run.judgement.result == RunResult::harness_error) continue;
      runs.add(std::move(run.judgement));
    }
    if (cut && !runs.decided()) return std::move(runs).unfinished();
  }
  return std::move(runs).result(needed, passed);
}

}  // namespace redzone::campaign
