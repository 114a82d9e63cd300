#include "core/tonight.h"

#include <gtest/gtest.h>

#include <vector>

namespace redzone {
namespace {

TEST(Tonight, ASightingIsFoundOnlyWhereItWasConfirmed) {
  EXPECT_EQ(outcome_of_sighting(FindingState::suspect, false), Tonight::seen);
  EXPECT_EQ(outcome_of_sighting(FindingState::suspect, true), Tonight::seen);
  EXPECT_EQ(outcome_of_sighting(FindingState::unconfirmed, false), Tonight::gone);
  for (const auto state : {FindingState::confirmed, FindingState::flaky}) {
    EXPECT_EQ(outcome_of_sighting(state, true), Tonight::found);
    EXPECT_EQ(outcome_of_sighting(state, false), Tonight::seen) << "by an earlier night";
  }
}

TEST(Tonight, ARunCountsTheSuspectsThatNobodyHasWaived) {
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
