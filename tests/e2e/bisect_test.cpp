// Which setting is it: asked of real findings on the command line.
#include <gtest/gtest.h>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

class Bisect : public testing::Test {
 protected:
  void find(const std::string& target) {
    const Ran ran = run({"run", target, "--device", "host", "--seed", "1", "--plans", "60"});
    ASSERT_EQ(ran.exit, 1) << ran;
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
  find("puzzle.cache_key");
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

TEST_F(Bisect, RunsNothingTwice) {
  find("puzzle.read_past_end");
  // Stopped at once, as by an interruption, and then gone on with.
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
  EXPECT_NE(table.out.find("makes it go"), std::string::npos) << table;
}

TEST_F(Bisect, OfWhatIsNoFindingIsAUsageError) {
  find("puzzle.read_past_end");
  EXPECT_EQ(ask({"bisect", "99"}).exit, 2);
  EXPECT_EQ(ask({"bisect", "one"}).exit, 2);
  EXPECT_EQ(ask({"explain", "99", "--db", "none.db"}).exit, 2);
}

}  // namespace
}  // namespace redzone::e2e
