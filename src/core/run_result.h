// The result of one run of a plan, computed from the verdicts of all oracles. Only this file ranks
// verdicts; run, replay, nightly and bisect use it.
//
// The recorded failure > another failure > harness error > not judged > pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/enum_names.h"
#include "core/exit_code.h"
#include "core/verdict.h"

namespace redzone {

enum class RunResult : std::uint8_t {
  recorded,       // failed as recorded; without a recorded signature, any failure
  other,          // failed with another signature: an alarm
  harness_error,  // Redzone could not run or judge the run
  not_judged,     // no oracle in use gave a verdict, or no trial ran
  pass,           // judged by at least one trial that ran, without failure
};

constexpr auto enum_table(RunResult) {
  return enum_names<RunResult>("result", {{RunResult::recorded, "recorded failure"},
                                          {RunResult::other, "another failure"},
                                          {RunResult::harness_error, "harness error"},
                                          {RunResult::not_judged, "not judged"},
                                          {RunResult::pass, "pass"}});
}

enum class TrialsRun : std::uint8_t {
  none_wanted,  // the oracle judges without a trial
  none,         // the oracle needs trials, but none ran calls of the target
  some,
};

// One oracle's verdict on a run.
struct OracleAnswer {
  Verdict verdict;
  TrialsRun trials = TrialsRun::none_wanted;
};

struct RankedRun {
  RunResult result = RunResult::not_judged;
  // Index of the deciding answer; if nothing was judged, of the answer that explains why.
  std::size_t decisive = 0;
  // Index of the most specific failure whose signature is not the recorded one.
  std::optional<std::size_t> other;
};

// With `recorded`, answers[0] must be the answer of the finding's own oracle: if that oracle did
// not judge, the run is not judged, unless another oracle failed. An oracle that does not apply to
// a plan does not prevent a pass. Requires at least one answer.
RankedRun rank_run(std::span<const OracleAnswer> answers, const std::optional<Signature>& recorded);

// The result of several runs of one plan, by the same ranking: pass only if every run passed; not
// judged if there are no runs.
RunResult rank_runs(std::span<const RunResult> runs);

// Counts of one target's plans that were generated or replayed in bulk, by a campaign or a night.
struct PlanCounts {
  std::uint64_t judged = 0;  // passed or failed
  std::uint64_t harness_errors = 0;
  std::uint64_t inconclusive = 0;
};

// The result apart from failures, which are findings. The majority decides, so that a few lost
// workers in an hour of fuzzing do not invalidate the rest: pass if more plans were judged than had
// harness errors; else harness_error, or not_judged if there were no harness errors.
RunResult rank_plans(const PlanCounts& plans);

// The worst result over several targets, among those with an applicable plan; not judged if there
// is no such target.
RunResult rank_targets(std::span<const PlanCounts> targets);

// Exit code of a command with that result.
Exit exit_code_of(RunResult result);

}  // namespace redzone
