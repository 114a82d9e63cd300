// Bisection of real findings on the command line: which setting matters.
#include <gtest/gtest.h>

#include <fstream>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

class Bisect : public testing::Test {
 protected:
  // Stores the plan as finding 1.
  void import(const std::string& file, const Arguments& more = {}) {
    Arguments arguments{"import", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    ASSERT_EQ(ran.exit, 0) << ran;
  }
  void import_repro(const std::string& puzzle) {
    import((std::filesystem::path(REPROS) / (puzzle + ".toml")).string());
  }
  Ran run(const Arguments& arguments) { return redzone(folder_, arguments); }
  Ran ask(const Arguments& arguments) {
    Arguments all = arguments;
    all.insert(all.end(), {"--device", "host", "--deadline", "30s"});
    return run(all);
  }
  static Json row(const Json& json, const std::string& setting) {
    for (const auto& row : json["rows"])
      if (row["setting"] == setting) return row;
    return {};
  }

  const TempFolder folder_;
};

TEST_F(Bisect, NamesThePriorCallAndNoKnob) {
  import_repro("cache_key");
  const Ran ran = ask({"bisect", "1", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  EXPECT_EQ(json["complete"], true);
  EXPECT_GT(json["runs_made"], 0);
  EXPECT_EQ(row(json, "block")["verdict"], "irrelevant") << ran;
  EXPECT_EQ(row(json, "call 1")["necessary"], true) << ran;
  EXPECT_EQ(row(json, "call 1: D")["necessary"], true) << ran;
  EXPECT_EQ(row(json, "call 1: N")["verdict"], "irrelevant") << ran;
  EXPECT_NE(json["sentence"].get<std::string>().find("a prior call with another D"),
            std::string::npos)
      << ran;
  for (const auto& setting : json["rows"])
    for (const auto& tried : setting["tried"])
      EXPECT_GT(tried["runs"]["n"], 0) << setting["setting"] << tried["value"];
}

// pytorch/pytorch#175385 as a setting of the shipped launcher.
TEST_F(Bisect, NamesTheRuleOfTheLauncher) {
  const auto file = folder_.path() / "per_cta.toml";
  std::ofstream(file) << R"(redzone_plan = 1
target = "lazy_launch"

[expect]
oracle = "fault"
kind = "illegal-access"
where = "transpose_add"
buffer = "scratch"
side = "after"
access = "write"

[[step]]
do = "call"
dims = { M = 40, N = 50 }
config = { scratch_rule = "per_cta", tiles = "16x16" }
)";
  import(file.string());
  const Ran ran = ask({"bisect", "1", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  EXPECT_EQ(row(json, "scratch_rule")["necessary"], true) << ran;
  EXPECT_EQ(row(json, "num_ctas")["verdict"], "irrelevant") << ran;
  EXPECT_NE(json["sentence"].get<std::string>().find("scratch_rule"), std::string::npos) << ran;
}

TEST_F(Bisect, RunsNothingTwice) {
  import_repro("read_past_end");
  // Stopped early, as by an interruption, then resumed.
  ASSERT_NE(ask({"bisect", "1", "--time", "30ms", "--json"}).json()["complete"], true);
  const Json whole = ask({"bisect", "1", "--json"}).json();
  EXPECT_EQ(whole["complete"], true);
  const Ran again = ask({"bisect", "1", "--json"});
  EXPECT_EQ(again.json()["runs_made"], 0) << again;
  EXPECT_EQ(again.json()["rows"], whole["rows"]);
  const Ran told = ask({"explain", "1"});
  EXPECT_EQ(told.exit, 1) << told;
  EXPECT_NE(told.out.find("does not depend on the data"), std::string::npos) << told;
  const Ran table = ask({"bisect", "1"});
  EXPECT_NE(table.out.find("passes with"), std::string::npos) << table;
}

TEST_F(Bisect, TellsTheClassOfADim) {
  import_repro("read_past_end");
  const Ran ran = ask({"bisect", "1", "--dim", "N", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(ran.json()["rule"], "fails for N % 4 = 3") << ran;
  EXPECT_EQ(ask({"bisect", "1", "--dim", "NN"}).exit, 2);
  EXPECT_EQ(ask({"bisect", "1", "--dim", "N", "--call", "2"}).exit, 2);
}

// The plugin with the bug, and a build in which the same target is correct.
TEST_F(Bisect, FindsTheFirstBadBuild) {
  const std::string bad = std::string(BUILDS) + "/build_bad.so";
  const std::string good = std::string(BUILDS) + "/build_good.so";
  import(folder_.write("overrun.toml",
                       "redzone_plan = 1\ntarget = \"sample.overrun\"\n"
                       "[expect]\noracle = \"fault\"\nkind = \"illegal-access\"\n"
                       "[[step]]\ndo = \"call\"\ndims = { N = 4 }\n"),
         {"--plugin", bad});
  const std::string broken = folder_.write("broken.so", "no shared object");
  const Ran found = ask({"bisect", "1", "--builds", good, broken, good, bad, bad, "--json"});
  ASSERT_EQ(found.exit, 1) << found;
  const Json json = found.json();
  EXPECT_EQ(json["first_bad"], bad) << found;
  EXPECT_EQ(json["last_good"], good) << found;
  EXPECT_GT(json["confidence"].get<double>(), 0.95) << found;
  // A list without a good build, and one with a build in between that cannot be loaded.
  EXPECT_EQ(ask({"bisect", "1", "--builds", bad, bad, "--json"}).json()["last_good"], nullptr);
  const Json between = ask({"bisect", "1", "--builds", good, broken, bad, "--json"}).json();
  EXPECT_EQ(between["between"], Json::array({broken})) << between;
  EXPECT_EQ(ask({"bisect", "1", "--builds", good, good}).exit, 0);
  EXPECT_EQ(ask({"bisect", "1", "--builds", good}).exit, 2);
  EXPECT_EQ(ask({"bisect", "1", "--builds", broken, broken}).exit, 4);
}

TEST_F(Bisect, TellsWhichDifferenceToAPassingPlanItIs) {
  import_repro("cache_key");
  const std::string passing =
      folder_.write("passing.toml",
                    "redzone_plan = 1\ntarget = \"puzzle.cache_key\"\n"
                    "[[step]]\ndo = \"call\"\ndims = { D = 2, N = 5 }\nconfig = { block = 128 }\n"
                    "[[step]]\ndo = \"call\"\ndims = { D = 2, N = 1 }\nconfig = { block = 128 }\n");
  const Ran ran = ask({"bisect", "1", "--passing", passing, "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  EXPECT_EQ(json["go"]["settings"], Json::array({"call 1: D = 2"})) << ran;
  EXPECT_EQ(json["come"]["settings"], Json::array({"call 1: D = 1"})) << ran;
  EXPECT_EQ(ask({"bisect", "1", "--passing", "none.toml"}).exit, 2);
  EXPECT_EQ(ask({"bisect", "1", "--passing", passing, "--dim", "N"}).exit, 2);
}

TEST_F(Bisect, OfWhatIsNoFindingIsAUsageError) {
  import_repro("read_past_end");
  EXPECT_EQ(ask({"bisect", "99"}).exit, 2);
  EXPECT_EQ(ask({"bisect", "one"}).exit, 2);
  EXPECT_EQ(ask({"explain", "99", "--db", "none.db"}).exit, 2);
}

}  // namespace
}  // namespace redzone::e2e
