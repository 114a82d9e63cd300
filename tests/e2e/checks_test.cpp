// `--checks`: what a check sees is found in the first plan that has it, named, stored and replayed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

Arguments run_of(const std::string& target, const std::string& check) {
  return {"run", target,   "--device", "host", "--checks", check,   "--plans",
          "20",  "--seed", "7",        "--db", "x.db",     "--json"};
}

struct Checked {
  const char* check;
  const char* target;
  const char* kind;
  const char* source;  // of the kernel
  int places = 1;      // in it that the reason names
  const char* fixed = nullptr;
};

void PrintTo(const Checked& checked, std::ostream* out) {
  *out << checked.check << " of " << checked.target;
}

class Bugs : public testing::TestWithParam<Checked> {};

TEST_P(Bugs, AreFoundNamedAndReplayed) {
  const TempFolder folder;
  const Checked& bug = GetParam();
  const Ran ran = redzone(folder, run_of(bug.target, bug.check));
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_EQ(findings.size(), 1u) << ran;
  EXPECT_EQ(findings[0]["signature"]["kind"], bug.kind) << ran;
  EXPECT_EQ(findings[0]["oracle"], bug.check) << ran;

  const std::string id = std::to_string(findings[0]["id"].get<int>());
  const Ran shown = redzone(folder, {"show", id, "--db", "x.db"});
  const std::string line = "redzone replay " + id + " --checks " + bug.check + " --db x.db";
  EXPECT_NE(shown.out.find(line), std::string::npos) << shown;
  std::size_t at = 0;
  for (int place = 0; place < bug.places; ++place) {
    at = shown.out.find(std::string(bug.source) + ":", at);
    ASSERT_NE(at, std::string::npos) << shown;
    ++at;
  }

  // The recorded oracle runs the check, with the flag or without.
  for (const Arguments& flags : {Arguments{"--checks", bug.check}, Arguments{}}) {
    Arguments replay{"replay", id, "--runs", "2", "--db", "x.db"};
    replay.insert(replay.end(), flags.begin(), flags.end());
    const Ran again = redzone(folder, replay);
    EXPECT_EQ(again.exit, 1) << again;
    EXPECT_NE(again.out.find(std::string("2 of 2 runs failed as recorded: ") + bug.kind),
              std::string::npos)
        << again;
  }
  if (bug.fixed != nullptr) {
    EXPECT_EQ(redzone(folder, run_of(bug.fixed, bug.check)).exit, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Puzzles, Bugs,
    testing::Values(
        Checked{"races", "puzzle.shared_race", "race", "shared_race.cu", 2, "twin.shared_race"},
        Checked{"races", "puzzle.shared_reuse", "race", "shared_reuse.cu", 2, "twin.shared_reuse"},
        Checked{"races", "puzzle.global_race", "race", "global_race.cu", 2, "twin.global_race"},
        Checked{"init", "puzzle.unset_shared", "uninitialized", "unset_shared.cu", 1,
                "twin.unset_shared"},
        Checked{"init", "puzzle.unset_flag", "uninitialized", "unset_flag.cu", 1,
                "twin.unset_flag"},
        Checked{"sync", "selftest.unnamed_lane", "barrier", "selftest.cu"},
        Checked{"undefined", "selftest.overflow", "undefined-behavior", "selftest.cu"}));

// Ended threads do not count at a barrier: no failure, but the author should know.
TEST(Checks, WarnOfThreadsThatEndedBeforeABarrier) {
  const TempFolder folder;
  const Ran ran = redzone(folder, run_of("selftest.divergent_barrier", "sync"));
  const Json warnings = ran.json()["targets"][0]["warnings"];
  ASSERT_EQ(warnings.size(), 1u) << ran;
  EXPECT_EQ(warnings[0]["tool"], "sync") << ran;
  EXPECT_GT(warnings[0]["plans"], 0) << ran;
  const std::string what = warnings[0]["what"];
  EXPECT_TRUE(what.starts_with("barrier divergence in half_at_barrier at selftest.cu:")) << what;
}

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
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.err.find("--checks: chatty.twice: "), std::string::npos) << ran;
  EXPECT_NE(ran.err.find(" has no build for checks, as "), std::string::npos) << ran;
  EXPECT_EQ(ran.out.find("campaign"), std::string::npos) << "it is told before\n" << ran;
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
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.err.find(checked.string() + " is older than " + plugin.string()), std::string::npos)
      << ran;
}

}  // namespace
}  // namespace redzone::e2e
