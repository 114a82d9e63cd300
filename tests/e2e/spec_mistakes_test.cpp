// Mistakes of a target's author in its spec: each is reported once, never as a finding, never
// outweighed by passes, and none makes the driver hang or end. The campaign also reports what it
// did not judge.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

Ran run_mistaken(const TempFolder& folder, const std::string& target,
                 std::vector<std::string> more = {}) {
  std::vector<std::string> words{"run",      "mistaken." + target,
                                 "--plugin", MISTAKEN,
                                 "--device", "host",
                                 "--seed",   "1",
                                 "--plans",  "300",
                                 "--db",     "x.db"};
  words.insert(words.end(), more.begin(), more.end());
  return redzone(folder, words);
}

std::size_t occurrences_in(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

struct Mistake {
  std::string target, function;
};

class SpecMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(SpecMistakes, AreNamedOnceAndEndTheRunWithTwo) {
  const TempFolder folder;
  const auto& [target, function] = GetParam();
  const Ran ran = run_mistaken(folder, target);
  EXPECT_EQ(ran.exit, 2) << ran;
  const std::string what = "target 'mistaken." + target + "': " + function +
                           " threw something that is not a std::exception for N = 13";
  EXPECT_EQ(occurrences_in(ran.out, what), 1u) << ran;
  EXPECT_NE(ran.out.find("findings  0 new"), std::string::npos) << ran;
  const Json json = run_mistaken(folder, target, {"--json"}).json();
  EXPECT_GT(json["verdicts"]["pass"], 200);
  ASSERT_EQ(json["unjudged"].size(), 1u);
  EXPECT_EQ(json["unjudged"][0]["spec_error"], true);
}

INSTANTIATE_TEST_SUITE_P(Functions, SpecMistakes,
                         ::testing::Values(Mistake{"constraint", "constraint 'N is wanted'"},
                                           Mistake{"shape", "the shape function of tensor 'y'"},
                                           Mistake{"fill", "the range of the fill of tensor 'x'"}),
                         [](const auto& p) { return p.param.target; });

TEST(SpecMistake, AFunctionThatDoesNotReturnEndsTheRun) {
  const TempFolder folder;
  const Ran ran = run_mistaken(folder, "endless", {"--time", "60s"});
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.err.find("target 'mistaken.endless': the work function has not returned for"),
            std::string::npos)
      << ran;
  const Ran findings = redzone(folder, {"findings", "--db", "x.db"});
  EXPECT_EQ(findings.exit, 0) << findings;
}

// Far less time than one plan takes.
TEST(SlowFunction, IsNamedAndDoesNotKeepARunFromItsEnd) {
  ::setenv("REDZONE_TEST_SLOW_TARGET", "1", 1);
  const TempFolder folder;
  const Ran ran = run_mistaken(folder, "slow", {"--time", "2s", "--json"});
  const Json json = ran.json();
  ASSERT_TRUE(json.is_object()) << ran;
  EXPECT_LT(json["campaign"]["seconds"], 5) << ran;
  const Json slow = json["slow_functions"];
  ASSERT_EQ(slow.size(), 1u) << ran;
  EXPECT_TRUE(slow[0].get<std::string>().starts_with(
      "target 'mistaken.slow': the shape function of tensor 'x' takes 4"))
      << ran;
  const Ran night = redzone(folder, {"nightly", "mistaken.slow", "--plugin", MISTAKEN, "--device",
                                     "host", "--time", "2s", "--db", "n.db", "--json"});
  EXPECT_LT(night.json()["night"]["fuzz_seconds"], 5) << night;
  EXPECT_NE(night.err.find("the shape function of tensor 'x' takes 4"), std::string::npos) << night;
  ::unsetenv("REDZONE_TEST_SLOW_TARGET");
}

TEST(Judged, WhatNothingJudgesIsNamed) {
  const TempFolder folder;
  const Ran random = run_mistaken(folder, "random");
  EXPECT_EQ(random.exit, 0) << random;
  EXPECT_EQ(occurrences_in(random.out,
                           "no oracle judged the outputs of mistaken.random: it is declared "
                           "nondeterministic and has no reference"),
            1u)
      << random;
  const Ran empty = run_mistaken(folder, "empty");
  EXPECT_NE(
      empty.out.find(
          "no oracle judged the outputs of mistaken.empty: all outputs of all calls are empty"),
      std::string::npos)
      << empty;
  const Ran dear = run_mistaken(folder, "dear");
  EXPECT_NE(dear.out.find(
                "mistaken.dear: beyond the work budget of the device, never generated: N above 100 "
                "(of 300)"),
            std::string::npos)
      << dear;
}

}  // namespace
}  // namespace redzone::e2e
