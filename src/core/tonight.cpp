#include "core/tonight.h"

#include <algorithm>

namespace redzone {

bool fails_as_recorded(Tonight tonight) {
  return tonight == Tonight::fails || tonight == Tonight::flaky;
}

Tonight outcome_of_sighting(FindingState state, bool confirmed) {
  if (state == FindingState::unconfirmed) return Tonight::gone;
  return was_found(state) && confirmed ? Tonight::found : Tonight::seen;
}

bool is_failure(Tonight tonight) {
  return tonight == Tonight::found || tonight == Tonight::seen || fails_as_recorded(tonight);
}

bool is_alarm(Tonight tonight, Standing standing) {
  if (is_waived(standing)) return false;
  // A confirmed failure changes the standing: if the finding was fixed before, it is a regression
  // now. If it is still fixed, it was fixed after this night. An unconfirmed failure does not
  // change the ledger, so it counts whatever the standing is.
  return is_failure(tonight) && (tonight == Tonight::seen || standing != Standing::fixed);
}

std::size_t unconfirmed_alarms(std::span<const Finding> seen) {
  return static_cast<std::size_t>(std::count_if(seen.begin(), seen.end(), [](const Finding& f) {
    return f.state == FindingState::suspect && is_alarm(Tonight::seen, f.ledger.standing);
  }));
}

bool is_gap(Tonight tonight) {
  return tonight == Tonight::unclear || tonight == Tonight::not_applicable ||
         tonight == Tonight::not_run || tonight == Tonight::harness_error ||
         tonight == Tonight::seen;
}

}  // namespace redzone
