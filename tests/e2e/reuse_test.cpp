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

// The kind of failure of each of three runs of the plan; "" where it passes.
std::vector<std::string> kinds_of(const TempFolder& folder, const std::string& file,
                                  const std::string& addresses) {
  const Ran ran = redzone(folder, {"replay", file, "--addresses", addresses, "--plugin", REUSE,
                                   "--device", "host", "--runs", "3", "--json"});
  const Json json = ran.json();
  std::vector<std::string> kinds;
  for (const Json& run : json["runs"]) {
    const bool passes = run["outcome"] == "pass";
    EXPECT_TRUE(passes || run["signature"].is_object()) << ran;
    kinds.push_back(passes ? "" : std::string(run["signature"]["kind"]));
  }
  EXPECT_EQ(kinds.size(), 3u) << ran;
  return kinds;
}

using Texts = std::vector<std::string>;

// Calls with memory of their own race. Where they use that of earlier ones they wait.
TEST(Reuse, ARaceIsNotSaidToDependOnAddresses) {
  const TempFolder folder;
  folder.write("plan.toml", reusing_plan("reuse.factor", "gated",
                                         {"dims = { N = 1 }\nconfig = { factor = 2 }",
                                          "dims = { N = 1 }\nconfig = { factor = 3 }",
                                          "dims = { N = 1 }\nconfig = { factor = 2 }"}));
  EXPECT_EQ(kinds_of(folder, "plan.toml", "distinct"), (Texts(3, "order")));
  EXPECT_EQ(kinds_of(folder, "plan.toml", "reused"), (Texts(3, "")));
}

// Its stale pointer is the right one where memory is used again.
TEST(Reuse, WhatIsWrongWithoutItIsNotSaidToDependOnAddresses) {
  const TempFolder folder;
  EXPECT_EQ(kinds_of(folder, REPROS "/stale_pointer.toml", "distinct"),
            (Texts(3, "uninitialized")));
  EXPECT_EQ(kinds_of(folder, REPROS "/stale_pointer.toml", "reused"), (Texts(3, "")));
}

// The buffer that each of three runs of the plan names.
std::vector<std::string> buffers_of(const std::string& plan) {
  const TempFolder folder;
  folder.write("plan.toml", plan);
  const Ran ran = redzone(folder, {"replay", "plan.toml", "--plugin", REUSE, "--device", "host",
                                   "--runs", "3", "--json"});
  const Json json = ran.json();
  std::vector<std::string> buffers;
  for (const Json& run : json["runs"]) {
    EXPECT_EQ(run["signature"]["kind"], "illegal-access") << ran;
    buffers.push_back(run["signature"]["buffer"]);
  }
  return buffers;
}

TEST(Reuse, AFaultThatComesLateNamesItsBuffer) {
  const std::vector<std::string> steps{"dims = { N = 1 }\nconfig = { turns = 30000000 }",
                                       "dims = { N = 5000 }\nconfig = { turns = 0 }",
                                       "dims = { N = 5001 }\nconfig = { turns = 0 }"};
  for (const std::string launch : {"async", "gated"})
    EXPECT_EQ(buffers_of(reusing_plan("reuse.late", launch, steps)), (Texts(3, "y"))) << launch;
}

// The first call's 'second' has the memory that the other call's 'first' gets, and ends nearer to
// its guard page.
TEST(Reuse, AFaultNamesTheBufferThatHasTheMemoryNow) {
  for (const std::string launch : {"blocking", "async", "gated"})
    EXPECT_EQ(buffers_of(reusing_plan("reuse.two_scratch", launch,
                                      {"dims = { N = 3000 }\nconfig = { rows = 1500 }",
                                       "dims = { N = 3000 }\nconfig = { rows = 10 }"})),
              (Texts(3, "first")))
        << launch;
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

// As the plan of an earlier finding is when its target has declared that since.
TEST(Reuse, IsNotApplicableToATargetThatRemembersAddresses) {
  const TempFolder folder;
  folder.write("plan.toml", reusing_plan("reuse.kept", "async", {"dims = { N = 1 }"}));
  const Ran ran = redzone(folder, {"replay", "plan.toml", "--plugin", REUSE, "--device", "host"});
  EXPECT_EQ(ran.exit, 4) << ran;
  EXPECT_NE(ran.out.find("'reuse.kept' declares remembers_addresses"), std::string::npos) << ran;
}

}  // namespace
}  // namespace redzone::e2e
