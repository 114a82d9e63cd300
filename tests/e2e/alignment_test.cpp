// Kernels whose bits depend on the alignment of their tensors.
#include <gtest/gtest.h>

#include <string>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

Ran run_vectors(const TempFolder& folder, const std::string& target) {
  return redzone(folder, {"run", "vectors." + target, "--plugin", VECTORS, "--device", "host",
                          "--seed", "1", "--plans", "500", "--json"});
}

TEST(Alignment, ATargetThatSaysThatItChangesTheBitsIsJudgedAtEqualAlignment) {
  const TempFolder folder;
  const Ran ran = run_vectors(folder, "declared");
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(ran.json()["suspects"], 0) << ran;
  EXPECT_EQ(ran.json()["verdicts"]["pass"], 500) << ran;
}

// The same kernel: what the other test shows is not that its plans compare nothing.
TEST(Alignment, ATargetThatDoesNotSayItIsFoundToDependOnWhereItsBuffersLie) {
  const TempFolder folder;
  const Ran ran = run_vectors(folder, "undeclared");
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_FALSE(findings.empty()) << ran;
  EXPECT_EQ(findings[0]["signature"]["kind"], "placement") << ran;
}

}  // namespace
}  // namespace redzone::e2e
