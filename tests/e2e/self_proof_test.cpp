// A campaign proves that it catches planted bugs before it judges any target.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <set>
#include <string>

#include "campaign/planted_count.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

TEST(SelfProof, IsPartOfWhatARunSays) {
  const TempFolder folder;
  const Arguments run{"run", "twin.cache_key", "--device", "host", "--plans", "3", "--db", "x.db"};
  const Ran text = redzone(folder, run);
  EXPECT_EQ(text.exit, 0) << text;
  const auto planted = campaign::testing::planted_count(/*seeded_schedules=*/true);
  EXPECT_NE(text.out.find("self-proof: " + std::to_string(planted) + " planted bugs caught in "),
            std::string::npos)
      << text;
  Arguments with_json = run;
  with_json.push_back("--json");
  const Ran json = redzone(folder, with_json);
  EXPECT_EQ(json.json()["self_proof"]["planted_bugs_caught"], planted) << json;
  const Json campaign = json.json()["campaign"];
  EXPECT_EQ(campaign["command"].get<std::string>().rfind(
                "redzone run twin.cache_key --db x.db --device host --json --plans 3 --seed ", 0),
            0u)
      << json;
  EXPECT_NE(campaign["started"], "");
  EXPECT_NE(campaign["ended"], "");
  // Planted bugs are not findings.
  EXPECT_EQ(redzone(folder, {"findings", "--db", "x.db"}).out, "no findings\n");
}

// Runs the installed binary with a replacement for the selftest plugin; "": without one.
Ran run_installed(const TempFolder& folder, const std::string& selftest) {
  namespace fs = std::filesystem;
  const fs::path binary = REDZONE_BINARY_PATH;
  const fs::path shipped = binary.parent_path().parent_path() / "lib/redzone/targets";
  const fs::path plugins = folder.path() / "lib/redzone/targets";
  fs::create_directories(plugins);
  fs::create_directories(folder.path() / "bin");
  fs::copy_file(binary, folder.path() / "bin/redzone");
  fs::copy_file(shipped / "puzzles.host.so", plugins / "puzzles.host.so");
  if (!selftest.empty()) fs::copy_file(selftest, plugins / "selftest.host.so");
  const std::string command = "cd '" + folder.path().string() +
                              "' && bin/redzone run twin.cache_key --device host --plans 3 "
                              "--db x.db > out 2> err < /dev/null";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), read_text(folder.path() / "out"), read_text(folder.path() / "err")};
}

// "clean", "last_block", ...: for a macro.
std::string planted_targets() {
  std::set<std::string> names;
  for (const auto& planted :
       campaign::planted_bugs(campaign::SelfProofOptions().allocators, /*seeded_schedules=*/true))
    names.insert('"' + planted.target + '"');
  return fmt::format("{}", fmt::join(names, ","));
}

TEST(SelfProof, ACampaignThatCatchesNothingStopsBeforeItBegins) {
  const TempFolder folder;
  const std::string plugin = folder / "harmless.so";
  const std::string command =
      COMPILER " -std=c++20 -O2 -shared -fPIC -fvisibility=hidden -I '" INCLUDE_DIR
               "' -x c++ -D'PLANTED_TARGETS=" +
      planted_targets() + "' '" E2E_SOURCES "/harmless.cu' -o '" + plugin + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const Ran ran = run_installed(folder, plugin);
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE(ran.err.find("self-proof failed: planted: a write past the end was NOT caught by the "
                         "oracle 'fault' (gated, guard, guard_after)"),
            std::string::npos)
      << ran;
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.db"));
}

TEST(SelfProof, ACampaignWithoutThePluginStopsToo) {
  const TempFolder folder;
  const Ran ran = run_installed(folder, "");
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE(ran.err.find("no plugin has 'selftest.write_past_end' for this device"),
            std::string::npos)
      << ran;
}

TEST(SelfProof, AToolThatCannotBeHadIsNoRun) {
  const TempFolder folder;
  folder.write("p.toml",
               "redzone_plan = 1\ntarget = \"selftest.clean\"\n[[step]]\ndo = \"call\"\n"
               "dims = { N = 64 }\n");
  for (const Arguments& words : {Arguments{"run", "twin.cache_key", "--plans", "3", "--db", "x.db"},
                                 Arguments{"replay", "p.toml"}}) {
    Arguments all = words;
    all.insert(all.end(), {"--device", "host", "--sanitizer", "racecheck"});
    const Ran ran = redzone(folder, all);
    EXPECT_EQ(ran.exit, 3) << ran;
    EXPECT_EQ(ran.out, "") << ran;
    EXPECT_NE(ran.err.find("--sanitizer racecheck: compute-sanitizer cannot check the host "
                           "device"),
              std::string::npos)
        << ran;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.db"));
}

// A user may replay the plans planted for the tools without a tool.
TEST(SelfProof, WhatIsPlantedForTheToolsHangsNothing) {
  const TempFolder folder;
  for (const std::string target : {"shared_race", "divergent_barrier", "unnamed_lane"}) {
    folder.write("p.toml", "redzone_plan = 1\ntarget = \"selftest." + target +
                               "\"\n[[step]]\ndo = \"call\"\ndims = { N = 64 }\n");
    const Ran ran = redzone(folder, {"replay", "p.toml", "--device", "host", "--runs", "1"});
    EXPECT_TRUE(ran.exit == 0 || ran.exit == 1) << target << ": " << ran;
    for (const char* end : {"hang", "fault"})
      EXPECT_EQ(ran.out.find(end), std::string::npos) << target << ": " << ran;
  }
}

}  // namespace
}  // namespace redzone::e2e
