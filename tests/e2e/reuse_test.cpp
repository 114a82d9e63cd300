// Names of failures in plans whose tensors lie in the memory of earlier calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// A plan of one call for each of `steps`, which are fields of a step.
std::string reusing_plan(const std::string& target, const std::string& launch,
                         const std::vector<std::string>& steps) {
  std::string text = "redzone_plan = 1\ntarget = \"" + target + "\"\n\n[mode]\nlaunch = \"" +
                     launch +
                     "\"\nallocator = \"guard\"\nplacement = \"guard_after\"\n"
                     "poison = \"0xffffffff\"\nschedule_seed = 0\naddresses = \"reused\"\n";
  for (const auto& step : steps) text += "\n[[step]]\ndo = \"call\"\nseed = 1\n" + step + "\n";
  return text;
}

// The signature of each run of the plan; null where it passes.
std::vector<Json> replayed(const std::string& plan) {
  const TempFolder folder;
  folder.write("plan.toml", plan);
  const Ran ran = redzone(folder, {"replay", "plan.toml", "--plugin", REUSE, "--device", "host",
                                   "--runs", "3", "--json"});
  const Json json = ran.json();
  std::vector<Json> signatures;
  for (const Json& run : json["runs"]) signatures.push_back(run["signature"]);
  EXPECT_EQ(signatures.size(), 3u) << ran;
  return signatures;
}

// Calls with memory of their own race. Where they use that of earlier ones they wait.
TEST(Reuse, ARaceIsNotSaidToDependOnAddresses) {
  const std::vector<std::string> steps{"dims = { N = 1 }\nconfig = { factor = 2 }",
                                       "dims = { N = 1 }\nconfig = { factor = 3 }",
                                       "dims = { N = 1 }\nconfig = { factor = 2 }"};
  for (const auto& signature : replayed(reusing_plan("reuse.factor", "gated", steps)))
    EXPECT_TRUE(signature.is_null() || signature["kind"] != "address") << signature;
}

// Its stale pointer is the right one where memory is used again.
TEST(Reuse, WhatIsWrongWithoutItIsNotSaidToDependOnAddresses) {
  const TempFolder folder;
  const Ran ran = redzone(folder, {"replay", REPROS "/stale_pointer.toml", "--addresses", "reused",
                                   "--device", "host", "--json"});
  for (const Json& run : ran.json()["runs"]) EXPECT_NE(run["signature"]["kind"], "address") << ran;
}

TEST(Reuse, AFaultThatComesLateNamesItsBuffer) {
  const std::vector<std::string> steps{"dims = { N = 1 }\nconfig = { turns = 30000000 }",
                                       "dims = { N = 5000 }\nconfig = { turns = 0 }",
                                       "dims = { N = 5001 }\nconfig = { turns = 0 }"};
  for (const std::string launch : {"async", "gated"})
    for (const auto& signature : replayed(reusing_plan("reuse.late", launch, steps))) {
      ASSERT_TRUE(signature.is_object()) << launch;
      EXPECT_EQ(signature["kind"], "illegal-access") << launch;
      EXPECT_EQ(signature["buffer"], "y") << launch;
    }
}

TEST(Reuse, WhatIsKeptByAddressIsABugUnlessTheSpecAllowsIt) {
  const auto run = [](const std::string& target) {
    const TempFolder folder;
    return redzone(folder, {"run", target, "--plugin", REUSE, "--device", "host", "--seed", "1",
                            "--plans", "200", "--json"});
  };
  const Ran kept = run("reuse.kept");
  EXPECT_EQ(kept.exit, 0) << kept;
  EXPECT_EQ(kept.json()["suspects"], 0) << kept;
  const Ran silent = run("reuse.kept_silent");
  EXPECT_EQ(silent.exit, 1) << silent;
  const Json findings = silent.json()["findings"];
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Json& finding) {
    return finding["signature"]["kind"] == "address" && finding["minimal"] == true;
  })) << silent;
}

TEST(Reuse, IsRefusedForATargetThatRemembersAddresses) {
  const TempFolder folder;
  folder.write("plan.toml", reusing_plan("reuse.kept", "async", {"dims = { N = 1 }"}));
  const Ran ran = redzone(folder, {"replay", "plan.toml", "--plugin", REUSE, "--device", "host"});
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.err.find("'reuse.kept' remembers addresses"), std::string::npos) << ran;
}

}  // namespace
}  // namespace redzone::e2e
