// From a campaign to a file that another user replays; and the JSON of each command that reads.
#include <gtest/gtest.h>

#include <fstream>

#include "core/repro.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

class Workflow : public testing::Test {
 protected:
  void SetUp() override {
    const Ran ran = run({"run", "puzzle.read_past_end", "--device", "host", "--seed", "1",
                         "--plans", "20", "--db", "x.db"});
    ASSERT_EQ(ran.exit, 1) << ran;
    EXPECT_NE(ran.out.find("redzone replay 1 --db x.db"), std::string::npos) << ran;
  }
  Ran run(const Arguments& arguments) { return redzone(folder_, arguments); }

  // The only file of an export.
  std::string exported(const std::string& db, const std::string& to) {
    const Ran ran = run({"export", "1", "--to", to, "--db", db});
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran;
    return ran.out.substr(0, ran.out.find('\n'));
  }

  const TempFolder folder_;
};

TEST_F(Workflow, AnExportedFindingFailsForWhoeverReplaysIt) {
  const std::string file = exported("x.db", "out");
  const Ran ran = run({"replay", file, "--device", "host", "--runs", "3", "--json"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(ran.json()["reliability"]["k"], 3);
  EXPECT_EQ(ran.json()["reliability"]["n"], 3);
}

TEST_F(Workflow, WhatIsImportedIsWhatWasExported) {
  const std::string file = exported("x.db", "out");
  ASSERT_EQ(run({"import", file, "--db", "y.db"}).exit, 0);
  const Ran again = run({"import", file, "--db", "y.db"});
  EXPECT_EQ(again.exit, 0);
  EXPECT_NE(again.out.find("finding 1 (known)"), std::string::npos) << again;
  const auto first = parse_repro(read_text(folder_.path() / file));
  const auto second = parse_repro(read_text(folder_.path() / exported("y.db", "out2")));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  // Imported as a suspect, confirmed by this reduction.
  const Ran reduced = run({"reduce", "1", "--device", "host", "--db", "y.db", "--json"});
  EXPECT_EQ(reduced.exit, 1) << reduced;
  EXPECT_EQ(reduced.json()["state"], "confirmed");
}

TEST_F(Workflow, AFindingIsShownWithItsTensorsWhereThatIsAskedFor) {
  const Ran ran = run({"show", "1", "--tensors", "--db", "x.db"});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_NE(ran.out.find("call  tensor  role  type  shape"), std::string::npos) << ran;
  const Ran without = run({"show", "1", "--db", "x.db"});
  EXPECT_EQ(ran.out.substr(0, without.out.size()), without.out);
  EXPECT_GT(ran.out.size(), without.out.size());
}

TEST_F(Workflow, APlanAsItsAuthorTypesItIsJudgedByAllOracles) {
  const std::string plan =
      "redzone_plan = 1\ntarget = \"NAME\"\n[[step]]\ndo = \"call\"\n"
      "dims = { N = 3 }\n";
  auto with = [&](const std::string& name) {
    std::string text = plan;
    return folder_.write(name + ".toml", text.replace(text.find("NAME"), 4, name));
  };
  const Ran bad = run({"replay", with("puzzle.read_past_end"), "--device", "host", "--runs", "2"});
  EXPECT_EQ(bad.exit, 1) << bad;
  EXPECT_NE(bad.out.find("read after x"), std::string::npos) << bad;
  const Ran good = run({"replay", with("twin.read_past_end"), "--device", "host", "--runs", "2"});
  EXPECT_EQ(good.exit, 0) << good;
}

// A read past the end faults only with the guard page after the buffer. With the page before it,
// the read returns other memory and the output is wrong.
TEST_F(Workflow, AReplayTakesAnotherMode) {
  const Ran head = run({"replay", "1", "--db", "x.db", "--device", "host", "--runs", "2",
                        "--placement", "guard_before"});
  EXPECT_EQ(head.exit, 1) << head;
  EXPECT_NE(head.out.find("fails otherwise: reference: y"), std::string::npos) << head;
  const Ran gated =
      run({"replay", "1", "--db", "x.db", "--device", "host", "--runs", "2", "--launch", "gated"});
  EXPECT_EQ(gated.exit, 1) << gated;
}

TEST_F(Workflow, ASecondCampaignKnowsWhatTheFirstFound) {
  const Ran ran = run({"run", "puzzle.read_past_end", "--device", "host", "--seed", "2", "--plans",
                       "20", "--db", "x.db", "--json"});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(ran.json()["new_findings"], 0);
  EXPECT_EQ(ran.json()["known_findings"], 1);
}

// With one worker, results arrive in the order of the plans.
TEST_F(Workflow, TheSameSeedFindsTheSame) {
  const auto found = [&](const std::string& db) {
    Json json = run({"run", "puzzle.read_past_end", "--device", "host", "--seed", "1", "--plans",
                     "20", "--workers", "1", "--db", db, "--json"})
                    .json();
    const Json& finding = json["findings"][0];
    return Json{finding["plan"], finding["signature"], json["verdicts"], finding["plans_to_first"],
                json["campaign"]["calls"]};
  };
  EXPECT_EQ(found("a.db"), found("b.db"));
}

TEST_F(Workflow, EveryCommandThatReadsPrintsJson) {
  const std::vector<Arguments> commands{
      {"doctor"},
      {"targets"},
      {"targets", "chunk_fwd_h"},
      {"findings", "--db", "x.db"},
      {"show", "1", "--db", "x.db"},
      {"replay", "1", "--db", "x.db", "--device", "host", "--runs", "1"},
      {"reduce", "1", "--db", "x.db", "--device", "host"},
      {"run", "twin.far_write", "--device", "host", "--plans", "3", "--db", "x.db"}};
  for (auto arguments : commands) {
    arguments.push_back("--json");
    const Ran ran = run(arguments);
    EXPECT_TRUE(ran.json().is_object()) << arguments[0] << ": " << ran;
    EXPECT_EQ(ran.err, "") << arguments[0];
  }
}

TEST_F(Workflow, EveryCommandExplainsItself) {
  for (const std::string& command : command_names()) {
    const Ran help = run({command, "--help"});
    EXPECT_EQ(help.exit, 0) << help;
    EXPECT_TRUE(help.out.starts_with("redzone " + command)) << help;
  }
  EXPECT_EQ(run({}).exit, 2);
  EXPECT_EQ(run({"--version"}).exit, 0);
}

}  // namespace
}  // namespace redzone::e2e
