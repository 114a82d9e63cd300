// The ledger status is shown with each finding in every output.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/sample.h"
#include "report/text.h"

namespace redzone::report {
namespace {

using namespace testing;

Finding known() {
  Finding f = sample_finding();
  f.ledger = {Standing::known, "https://example.com/7", "rounding", "2025-02-01T00:00:00.000000Z"};
  return f;
}

TEST(LedgerText, IsInTheTablesAndBelowTheState) {
  const std::vector<Finding> one{known()};
  EXPECT_NE(findings_text(one).find("  flaky, known  "), std::string::npos);
  EXPECT_NE(campaign_text(sample_campaign(), one, {}).find("  flaky, known  "), std::string::npos);
  EXPECT_NE(finding_text(one[0]).find("\nledger       known, https://example.com/7 (rounding), "
                                      "since 2025-02-01T00:00:00.000000Z\n"),
            std::string::npos);
  EXPECT_EQ(finding_text(sample_finding()).find("ledger"), std::string::npos);
}

TEST(LedgerText, IsInTheJson) {
  const auto json = nlohmann::json::parse(finding_json(known()));
  EXPECT_EQ(json["ledger"]["standing"], "known");
  EXPECT_EQ(json["ledger"]["link"], "https://example.com/7");
  EXPECT_EQ(json["ledger"]["note"], "rounding");
  const auto fresh = nlohmann::json::parse(finding_json(sample_finding()));
  EXPECT_EQ(fresh["ledger"]["standing"], "new");
}

}  // namespace
}  // namespace redzone::report
