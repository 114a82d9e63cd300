// Sums of what campaigns did.
#include "core/campaign_record.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TEST(CampaignStats, AreAddedMemberByMember) {
  const CampaignStats one{1.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, {13, 14}};
  const CampaignStats twice{3, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, {26, 28}};
  CampaignStats sum = one;
  sum += one;
  EXPECT_EQ(sum, twice);
  sum += {};
  EXPECT_EQ(sum, twice);
}

}  // namespace
}  // namespace redzone
