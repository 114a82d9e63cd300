// Parts of the interface that few targets need: correct targets pass, and their bugs are found.
#include <gtest/gtest.h>

#include <string>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

Ran run_rare(const TempFolder& folder, const std::string& target) {
  return redzone(folder, {"run", "rare." + target, "--plugin", RARE, "--device", "host", "--seed",
                          "1", "--plans", "300", "--json"});
}

TEST(RareParts, CorrectTargetsPass) {
  for (const std::string target : {"keep", "add", "grow", "warm", "flip"}) {
    const TempFolder folder;
    const Ran ran = run_rare(folder, target);
    EXPECT_EQ(ran.exit, 0) << target << ran;
    EXPECT_EQ(ran.json()["suspects"], 0) << target << ran;
    EXPECT_EQ(ran.json()["verdicts"]["pass"], 300) << target << ran;
  }
}

void expect_first_finding(const std::string& target, const std::string& kind,
                          const std::string& tensor) {
  const TempFolder folder;
  const Ran ran = run_rare(folder, target);
  EXPECT_EQ(ran.exit, 1) << target << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_FALSE(findings.empty()) << target << ran;
  EXPECT_EQ(findings[0]["signature"]["kind"], kind) << target << ran;
  EXPECT_EQ(findings[0]["signature"]["buffer"], tensor) << target << ran;
}

TEST(RareParts, AWrongElementOfTheValidPartIsFound) {
  expect_first_finding("keep_bug", "reference", "places");
}

// The same kernel: what passes is not that its outputs are never compared.
TEST(RareParts, AnOutputThatIsNotDeclaredToBeCountedIsFoundToBeUninitialized) {
  expect_first_finding("keep_silent", "uninitialized", "places");
}

TEST(RareParts, AnOutputThatIsReadWhereItsRoleIsOutIsFound) {
  expect_first_finding("add_bug", "uninitialized", "y");
}

TEST(RareParts, AUseOfAWorkspaceThatHasGrownSinceIsFound) {
  expect_first_finding("grow_bug", "use-after-free", "rows");
}

TEST(RareParts, WhatIsRightInMemoryOfZerosAloneIsFoundWithoutAReference) {
  expect_first_finding("flip_bug", "uninitialized", "y");
}

TEST(RareParts, PlansThatLaunchNothingAreNoPasses) {
  const TempFolder folder;
  const Ran ran = run_rare(folder, "idle");
  EXPECT_EQ(ran.json()["verdicts"]["pass"], 0) << ran;
  EXPECT_EQ(ran.json()["verdicts"]["not_applicable"], 300) << ran;
  EXPECT_NE(ran.out.find("its calls launch nothing"), std::string::npos) << ran;
}

TEST(RareParts, AWarmUpThatFailsEndsTheCommandAndNamesThePlugin) {
  const TempFolder folder;
  const Ran ran = redzone(folder, {"run", "cold", "--plugin", DAMAGED_PLUGINS "/cold.so",
                                   "--device", "host", "--plans", "3"});
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE(ran.err.find("cold.so: its warm-up threw \"no handle\""), std::string::npos) << ran;
}

TEST(RareParts, ACountedOutputIsShown) {
  const TempFolder folder;
  const Ran shown = redzone(folder, {"targets", "rare.keep", "--plugin", RARE, "--json"});
  EXPECT_EQ(shown.json()["targets"][0]["tensors"][1]["counted_by"], "count") << shown;
}

}  // namespace
}  // namespace redzone::e2e
