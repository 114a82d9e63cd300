#include "core/replay_outcome.h"

#include <algorithm>

namespace redzone {

bool fails_as_recorded(ReplayOutcome outcome) {
  return outcome == ReplayOutcome::fails || outcome == ReplayOutcome::flaky;
}

ReplayOutcome outcome_of_sighting(FindingState state, bool confirmed) {
  if (state == FindingState::unconfirmed) return ReplayOutcome::gone;
  return was_found(state) && confirmed ? ReplayOutcome::found : ReplayOutcome::seen;
}

bool is_failure(ReplayOutcome outcome) {
  return outcome == ReplayOutcome::found || outcome == ReplayOutcome::seen ||
         fails_as_recorded(outcome);
}

bool is_alarm(ReplayOutcome outcome, Standing standing) {
  if (is_waived(standing)) return false;
  // A confirmed failure changes the standing: if the finding was fixed before, it is a regression
  // now. If it is still fixed, it was fixed after this night. An unconfirmed failure does not
  // change the ledger, so it counts with any standing.
  return is_failure(outcome) && (outcome == ReplayOutcome::seen || standing != Standing::fixed);
}

std::size_t unconfirmed_alarms(std::span<const Finding> seen) {
  return static_cast<std::size_t>(std::count_if(seen.begin(), seen.end(), [](const Finding& f) {
    return f.state == FindingState::suspect && is_alarm(ReplayOutcome::seen, f.ledger.standing);
  }));
}

bool is_gap(ReplayOutcome outcome) {
  return outcome == ReplayOutcome::unclear || outcome == ReplayOutcome::not_applicable ||
         outcome == ReplayOutcome::not_run || outcome == ReplayOutcome::harness_error ||
         outcome == ReplayOutcome::seen;
}

}  // namespace redzone
