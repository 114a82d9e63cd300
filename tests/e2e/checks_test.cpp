// `--checks races`: a race within a launch is found in the first plan that has it, named, stored
// and replayed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

Arguments run_of(const std::string& target, Arguments more = {}) {
  Arguments run{"run", target,   "--device", "host", "--checks", "races", "--plans",
                "20",  "--seed", "7",        "--db", "x.db",     "--json"};
  run.insert(run.end(), more.begin(), more.end());
  return run;
}

class Races : public testing::TestWithParam<const char*> {};

TEST_P(Races, AreFoundNamedAndReplayed) {
  const TempFolder folder;
  const std::string name = GetParam();
  const Ran ran = redzone(folder, run_of("puzzle." + name));
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_EQ(findings.size(), 1u) << ran;
  EXPECT_EQ(findings[0]["signature"]["kind"], "race") << ran;
  EXPECT_EQ(findings[0]["oracle"], "races") << ran;

  const std::string id = std::to_string(findings[0]["id"].get<int>());
  const Ran shown = redzone(folder, {"show", id, "--db", "x.db"});
  EXPECT_NE(shown.out.find("redzone replay " + id + " --checks races --db x.db"), std::string::npos)
      << shown;
  const std::string source = name + ".cu:";
  const auto first = shown.out.find(source);
  ASSERT_NE(first, std::string::npos) << shown;
  EXPECT_NE(shown.out.find(source, first + 1), std::string::npos) << shown;

  // The recorded oracle runs the check, with the flag or without.
  for (const Arguments& flags : {Arguments{"--checks", "races"}, Arguments{}}) {
    Arguments replay{"replay", id, "--runs", "2", "--db", "x.db"};
    replay.insert(replay.end(), flags.begin(), flags.end());
    const Ran again = redzone(folder, replay);
    EXPECT_EQ(again.exit, 1) << again;
    EXPECT_NE(again.out.find("2 of 2 runs failed as recorded: race"), std::string::npos) << again;
  }
  EXPECT_EQ(redzone(folder, run_of("twin." + name)).exit, 0);
}

INSTANTIATE_TEST_SUITE_P(Puzzles, Races,
                         testing::Values("shared_race", "shared_reuse", "global_race"));

// Each has to catch its planted bug first, or the run ends with 3.
TEST(Checks, OfOtherKindsPassWhatHasNoBug) {
  const TempFolder folder;
  for (const char* check : {"init", "sync", "undefined"}) {
    const Ran ran = redzone(folder, {"run", "twin.shared_race", "--device", "host", "--checks",
                                     check, "--plans", "20", "--seed", "1", "--db", "x.db"});
    EXPECT_EQ(ran.exit, 0) << check << ": " << ran;
  }
}

TEST(Checks, AreUsageErrorsWhereTheyMakeNoSense) {
  const TempFolder folder;
  const auto with = [&](const Arguments& flags) {
    Arguments run{"run", "twin.shared_race", "--device", "host", "--plans", "1", "--db", "x.db"};
    run.insert(run.end(), flags.begin(), flags.end());
    return redzone(folder, run);
  };
  const Ran tool = with({"--checks", "racecheck"});
  EXPECT_EQ(tool.exit, 2) << tool;
  EXPECT_EQ(tool.err, "redzone: --checks racecheck: races, init, sync or undefined\n");
  const Ran check = with({"--sanitizer", "races"});
  EXPECT_EQ(check.exit, 2) << check;
  const Ran both = with({"--checks", "races", "--sanitizer", "racecheck"});
  EXPECT_EQ(both.exit, 2) << both;
  const Ran dry = redzone(folder, {"run", "twin.shared_race", "--device", "dry-run", "--checks",
                                   "races", "--plans", "1", "--db", "x.db"});
  EXPECT_EQ(dry.exit, 3) << dry;
}

TEST(Checks, APluginWithoutABuildForThemIsNotJudged) {
  const TempFolder folder;
  const Ran ran = redzone(folder, {"run", "chatty.twice", "--plugin", CHATTY, "--device", "host",
                                   "--checks", "races", "--plans", "2", "--db", "x.db"});
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE((ran.out + ran.err).find("no plugin that was built for checks has the target"),
            std::string::npos)
      << ran;
}

// The bug is mended in the plugin, and the build for checks still has it.
TEST(Checks, ABuildForThemThatIsOlderThanItsPluginIsNotJudged) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const fs::path plugin = folder / "chatty.so", checked = folder / "checked/chatty.so";
  fs::create_directory(checked.parent_path());
  fs::copy_file(CHATTY, plugin);
  fs::copy_file(CHATTY, checked);
  fs::last_write_time(checked, fs::last_write_time(plugin) - std::chrono::seconds(1));
  const Ran ran = redzone(folder, {"run", "chatty.twice", "--plugin", plugin.string(), "--device",
                                   "host", "--checks", "races", "--plans", "2", "--db", "x.db"});
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE((ran.out + ran.err).find(checked.string() + " is older than " + plugin.string()),
            std::string::npos)
      << ran;
}

}  // namespace
}  // namespace redzone::e2e
