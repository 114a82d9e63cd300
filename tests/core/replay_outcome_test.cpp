#include "core/replay_outcome.h"

#include <gtest/gtest.h>

#include <vector>

namespace redzone {
namespace {

TEST(ReplayOutcome, ASightingIsFoundOnlyWhereItWasConfirmed) {
  EXPECT_EQ(outcome_of_sighting(FindingState::suspect, false), ReplayOutcome::seen);
  EXPECT_EQ(outcome_of_sighting(FindingState::suspect, true), ReplayOutcome::seen);
  EXPECT_EQ(outcome_of_sighting(FindingState::unconfirmed, false), ReplayOutcome::gone);
  for (const auto state : {FindingState::confirmed, FindingState::flaky}) {
    EXPECT_EQ(outcome_of_sighting(state, true), ReplayOutcome::found);
    EXPECT_EQ(outcome_of_sighting(state, false), ReplayOutcome::seen) << "by an earlier night";
  }
}

TEST(ReplayOutcome, ARunCountsTheSuspectsThatNobodyHasWaived) {
  std::vector<Finding> seen(6);
  seen[0].ledger.standing = Standing::known;
  seen[1].ledger.standing = Standing::quarantined;
  seen[2].ledger.standing = Standing::fixed;
  seen[3].state = FindingState::unconfirmed;
  seen[4].state = FindingState::confirmed;
  EXPECT_EQ(unconfirmed_alarms(seen), 2u);
}

}  // namespace
}  // namespace redzone
