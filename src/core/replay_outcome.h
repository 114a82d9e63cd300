// The result of a nightly run for one finding or for one plan of its corpus.
#pragma once

#include <cstdint>
#include <span>

#include "core/enum_names.h"
#include "core/finding.h"

namespace redzone {

enum class ReplayOutcome : std::uint8_t {
  found,           // found by fuzzing, not replayed
  fails,           // replayed: every run that could be judged failed as recorded
  flaky,           // replayed: some runs failed
  passes,          // replayed: none failed, in enough runs to conclude so
  unclear,         // none failed or too few could be judged: does not prove a fix
  not_applicable,  // cannot run here
  not_run,         // quarantined, in another shard, or no time left
  otherwise,       // replayed: failed with another signature, which is a separate finding
  harness_error,   // replayed, but Redzone could run or judge none of the runs
  seen,            // failed once, not confirmed for lack of time
  gone,            // failed once, but in none of the runs that tried to confirm it
};

constexpr auto enum_table(ReplayOutcome) {
  return enum_names<ReplayOutcome>("outcome of a night",
                                   {{ReplayOutcome::found, "found"},
                                    {ReplayOutcome::fails, "still fails"},
                                    {ReplayOutcome::flaky, "flaky"},
                                    {ReplayOutcome::passes, "passes"},
                                    {ReplayOutcome::unclear, "unclear"},
                                    {ReplayOutcome::not_applicable, "not applicable"},
                                    {ReplayOutcome::not_run, "not run"},
                                    {ReplayOutcome::otherwise, "fails otherwise"},
                                    {ReplayOutcome::harness_error, "harness error"},
                                    {ReplayOutcome::seen, "seen to fail"},
                                    {ReplayOutcome::gone, "did not recur"}});
}

// The replay failed as recorded in at least one run.
bool fails_as_recorded(ReplayOutcome outcome);
// The outcome of a finding that plans of a run or night showed. `confirmed`: confirmed in that run
// or night.
ReplayOutcome outcome_of_sighting(FindingState state, bool confirmed);

// True if a failure was seen, confirmed or not.
bool is_failure(ReplayOutcome outcome);
// True if a failure was seen that is not waived. Runs and nights with an alarm end with exit code
// 1, and every report lists alarms as items that need attention.
bool is_alarm(ReplayOutcome outcome, Standing standing);

// The number of alarms among the findings of a run (as stored) that the run had no time to confirm.
std::size_t unconfirmed_alarms(std::span<const Finding> seen);

// True if nothing was judged; the result's reason then explains why.
bool is_gap(ReplayOutcome outcome);

}  // namespace redzone
