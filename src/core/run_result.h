// The result of one run of a plan from the verdicts of all oracles. Only this file ranks verdicts;
// run, replay, nightly and bisect use it.
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
  recorded,       // failed as recorded; without a recorded signature every failure is this one
  other,          // failed with another signature: an alarm of its own
  harness_error,  // Redzone could not run or judge it
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
  none,         // it needed some, but none ran calls of the target
  some,
};

// One oracle's verdict on a run.
struct OracleAnswer {
  Verdict verdict;
  TrialsRun trials = TrialsRun::none_wanted;
};

struct RankedRun {
  RunResult result = RunResult::not_judged;
  // Index of the deciding answer; if nothing was judged, of the one that explains why.
  std::size_t decisive = 0;
  // The most specific failure with another signature than the recorded one.
  std::optional<std::size_t> other;
};

// With `recorded`, answers[0] must be that of the finding's own oracle: if it did not judge, the
// run is not judged, unless another oracle failed. An oracle that does not apply to a plan does not
// prevent a pass. Needs at least one answer.
RankedRun rank_run(std::span<const OracleAnswer> answers, const std::optional<Signature>& recorded);

// Several runs of one plan, by the same ranking: pass only if every run passed. No runs: not
// judged.
RunResult rank_runs(std::span<const RunResult> runs);

// Counts of one target's plans that were generated or replayed in bulk, by a campaign or a night.
struct PlanCounts {
  std::uint64_t judged = 0;  // passed or failed
  std::uint64_t harness_errors = 0;
  std::uint64_t inconclusive = 0;
};

// The result apart from failures, which are findings. The majority decides, so that a few lost
// workers in an hour of fuzzing do not invalidate the rest: pass if more plans were judged than the
// harness failed to run, else harness_error, or not_judged if the harness failed to run none.
RunResult rank_plans(const PlanCounts& plans);

// The worst result over several targets, among those with an applicable plan; not judged if there
// is no such target.
RunResult rank_targets(std::span<const PlanCounts> targets);

// Exit code of a command with that outcome.
Exit exit_code_of(RunResult result);

}  // namespace redzone
