// What one run of a plan comes to, of all that the oracles said. This is the one place that ranks
// verdicts; run, replay, nightly and bisect ask it.
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
  not_judged,     // nothing that was asked gave a verdict, or no trial ran
  pass,           // judged, over at least one trial that ran, and no failure
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
  none,         // it wanted some, and none of them ran calls of the target
  some,
};

// One oracle's verdict on a run.
struct OracleAnswer {
  Verdict verdict;
  TrialsRun trials = TrialsRun::none_wanted;
};

struct RankedRun {
  RunResult result = RunResult::not_judged;
  // The answer that decided, as an index; where nothing was judged, the one that says why.
  std::size_t decisive = 0;
  // The most specific failure with another signature than the recorded one.
  std::optional<std::size_t> other;
};

// With `recorded`, answers[0] is that of the finding's own oracle: what it did not judge is not
// judged, whatever others say, unless one of them failed. An oracle that does not apply to a plan
// keeps nothing else from passing. Needs at least one answer.
RankedRun rank_run(std::span<const OracleAnswer> answers, const std::optional<Signature>& recorded);

// Several runs of one plan, by the same ranking: they passed where each of them did. No runs: not
// judged.
RunResult rank_runs(std::span<const RunResult> runs);

// Plans of one target that nobody asked for one by one, as those of a campaign or of a night.
struct PlanCounts {
  std::uint64_t judged = 0;  // passed or failed
  std::uint64_t harness_errors = 0;
  std::uint64_t inconclusive = 0;
};

// What they come to beside the failures, which are findings. Here the majority decides: workers
// that are lost now and then in an hour of fuzzing do not keep the rest from counting. pass where
// more plans were judged than the harness could not run, else harness_error, or not_judged where it
// could run all.
RunResult rank_plans(const PlanCounts& plans);

// Of several targets the one that came to least, among those that had a plan which applies here;
// not judged where there is none.
RunResult rank_targets(std::span<const PlanCounts> targets);

// Of a command whose outcome is that.
Exit exit_code_of(RunResult result);

}  // namespace redzone
