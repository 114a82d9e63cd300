// -v and -vv: more on stderr, and the same on stdout.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// A line of the log.
const std::regex kLine(R"([0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} (warning|info|debug): .+)");

class Verbose : public testing::Test {
 protected:
  // Runs in a folder of its own, so the same command names the same store.
  static Ran run(Arguments arguments, const Arguments& more) {
    const TempFolder folder;
    folder.write("p.toml", kPlan);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return redzone(folder, arguments);
  }
  // The levels of the log lines on stderr, ascending, without repetition.
  static std::vector<std::string> levels(const std::string& err) {
    std::vector<std::string> out;
    std::istringstream lines(err);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
      if (std::regex_match(line, match, kLine)) out.push_back(match[1]);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  // Replaces times and rates, which differ between runs, by one letter each.
  static std::string without_times(const std::string& out) {
    static const std::regex times(
        R"re([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|[0-9.e+-]+ (ms|s|us)\b|("([a-z_]*(seconds|_us)|ms|[a-z]+_per_s)": )[0-9.e+-]+|[0-9.,]+/s)re");
    return std::regex_replace(out, times, "$2T");
  }

  static constexpr const char* kPlan =
      "redzone_plan = 1\ntarget = \"puzzle.read_past_end\"\n[mode]\nlaunch = \"blocking\"\n"
      "allocator = \"guard\"\nplacement = \"tail\"\npoison = \"0xffffffff\"\n"
      "[expect]\noracle = \"fault\"\nkind = \"illegal-access\"\n"
      "[[step]]\ndo = \"call\"\ndims = { N = 3 }\n";
  const Arguments campaign_{
      "run", "twin.far_write", "--device", "host",      "--seed", "1", "--plans",
      "3",   "--db",           "x.db",     "--workers", "1"};
};

TEST_F(Verbose, StdoutIsTheSameAndJsonStaysValid) {
  Arguments json = campaign_;
  json.emplace_back("--json");
  for (const auto& command : {campaign_, json}) {
    const Ran quiet = run(command, {});
    ASSERT_EQ(quiet.exit, 0) << quiet;
    EXPECT_EQ(levels(quiet.err), std::vector<std::string>{}) << quiet.err;
    for (const char* flag : {"-v", "-vv", "--verbose"}) {
      const Ran told = run(command, {flag});
      EXPECT_EQ(told.exit, 0) << told;
      EXPECT_EQ(without_times(told.out), without_times(quiet.out)) << flag;
      EXPECT_NE(told.err, "") << flag;
      EXPECT_EQ(told.json().is_object(), command == json) << told;
    }
  }
}

TEST_F(Verbose, TellsOfPhasesAndWorkersAtTheFirstLevelAndOfTrialsAtTheSecond) {
  const Ran once = run(campaign_, {"-v"});
  EXPECT_EQ(levels(once.err), std::vector<std::string>{"info"}) << once.err;
  for (const char* part :
       {"self-proof ends: ", "campaign 1 begins: 1 targets", "campaign 1 ends: 3 plans",
        "worker [0-9]+ is started", "worker [0-9]+ is lost: fault SIGSEGV"})
    EXPECT_TRUE(std::regex_search(once.err, std::regex(part))) << part << "\n" << once.err;
  for (const Arguments& twice : {Arguments{"-vv"}, {"-v", "-v"}, {"-v", "--verbose", "-v"}}) {
    const Ran told = run(campaign_, twice);
    EXPECT_EQ(levels(told.err), (std::vector<std::string>{"debug", "info"})) << told.err;
    EXPECT_TRUE(std::regex_search(
        told.err,
        std::regex("debug: worker [0-9]+: trial 0 of twin.far_write ended with completed")))
        << told.err;
  }
}

TEST_F(Verbose, AFindingIsFollowedThroughItsStations) {
  const Ran ran = run({"run", "puzzle.read_past_end", "--device", "host", "--seed", "1", "--plans",
                       "10", "--workers", "1", "--db", "x.db"},
                      {"-v"});
  ASSERT_EQ(ran.exit, 1) << ran;
  std::size_t at = 0;
  for (const char* part :
       {"finding 1: suspected after ", "finding 1: confirm begins", "finding 1: confirm ends",
        "finding 1: refine begins", "finding 1: refine ends", "finding 1: explain ends"}) {
    at = ran.err.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << "\n" << ran.err;
  }
}

TEST_F(Verbose, AReplayTellsOfEachRunAndEachQuestion) {
  const Arguments replay{"replay", "p.toml", "--device", "host", "--runs", "2", "--json"};
  const Ran quiet = run(replay, {}), told = run(replay, {"-vv"});
  EXPECT_EQ(told.exit, 1) << told;
  EXPECT_EQ(without_times(told.out), without_times(quiet.out));
  for (const char* part : {"info: replay of p.toml: run 2 of 2: ",
                           "debug: question: fault about 1 steps of "
                           "puzzle.read_past_end, "})
    EXPECT_NE(told.err.find(part), std::string::npos) << part << "\n" << told.err;
}

// The stored command reproduces the campaign; -v is not needed for that.
TEST_F(Verbose, IsNoPartOfTheCommandThatIsStored) {
  const Ran ran = run(campaign_, {"-v", "--json"});
  EXPECT_EQ(ran.out.find("verbose"), std::string::npos) << ran.out;
}

TEST_F(Verbose, EveryCommandTakesIt) {
  const TempFolder folder;
  for (const std::string& command : command_names())
    EXPECT_NE(redzone(folder, {command, "--help"}).out.find("-v [ --verbose ] "), std::string::npos)
        << command;
  EXPECT_EQ(redzone(folder, {"targets", "-v"}).exit, 0);
  EXPECT_EQ(redzone(folder, {"targets", "-vx"}).exit, 2);
}

}  // namespace
}  // namespace redzone::e2e
