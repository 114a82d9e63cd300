// Results that cannot be written: after all other work, an exit code and a line report it.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr const char* kNotWritten =
    "redzone: the result could not be written: No space left on device\n";

TEST(UnwrittenResult, IsNoSuccessOfAnyCommand) {
  const TempFolder folder;
  const Ran made = redzone(folder, {"run", "puzzle.row_minus_one", "--device", "host", "--plans",
                                    "100", "--seed", "1", "--db", "x.db"});
  ASSERT_EQ(made.exit, 1) << made;
  const Json found = redzone(folder, {"findings", "--db", "x.db", "--json"}).json();
  const std::string id = found["findings"][0]["id"].dump();
  folder.write("x.log", "no descriptor\n");
  const auto expect_not_written = [&](const std::string& command) {
    const Ran ran = shell(folder, "\"$REDZONE\" " + command + " > /dev/full");
    EXPECT_EQ(ran.exit, 3) << command << "\n" << ran;
    EXPECT_TRUE(ran.err.ends_with(kNotWritten)) << command << "\n" << ran;
  };
  for (const char* command : {"--version", "--help", "run --help", "findings --db x.db --json",
                              "show 1 --db x.db --json", "db check --db x.db"})
    expect_not_written(command);
  // In this order: some need what others have stored.
  const std::vector<std::pair<std::string, std::string>> by_command{
      {"doctor", ""},
      {"targets", ""},
      {"run", "twin.row_minus_one --device host --plans 20 --db y.db"},
      {"findings", "--db x.db"},
      {"show", id + " --db x.db"},
      {"replay", id + " --db x.db --runs 1"},
      {"reduce", id + " --db x.db --time 5s"},
      {"bisect", id + " --db x.db --time 5s"},
      {"explain", id + " --db x.db --time 5s"},
      {"export", id + " --db x.db --to exported"},
      {"import", "exported/*.toml --db imported.db"},
      {"nightly", "twin.row_minus_one --device host --plans 5 --db night.db"},
      {"report", "--db night.db --format junit"},
      {"mark", id + " new --db x.db"},
      {"merge", "y.db --into x.db"},
      {"db", "stats --db x.db"},
      {"tma", "explain x.log"},
      {"guard", "--cpu --json --no-store -- true"}};
  for (const auto& [command, arguments] : by_command) expect_not_written(command + " " + arguments);
  std::set<std::string> all{"fleet",   // needs Slurm
                            "bench"};  // takes minutes
  for (const auto& [command, arguments] : by_command) all.insert(command);
  const auto listed = command_names();
  EXPECT_EQ(all, std::set<std::string>(listed.begin(), listed.end()));
}

TEST(UnwrittenResult, ComesAfterTheStoreAndTheReports) {
  const TempFolder folder;
  const Ran night =
      shell(folder,
            "\"$REDZONE\" nightly twin.row_minus_one --device host --plans 20 --db x.db "
            "--report r > /dev/full");
  EXPECT_EQ(night.exit, 3) << night;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "r" / "index.html")) << night;
  const Ran report = redzone(folder, {"report", "--db", "x.db"});
  EXPECT_EQ(report.exit, 0) << report;
}

TEST(LostReader, EndsNoNight) {
  const TempFolder folder;
  const Ran night =
      shell(folder,
            "{ sleep 1; \"$REDZONE\" nightly puzzle.row_minus_one --device host --plans 50 "
            "--db x.db --report r 2>&1; echo $? > code; } | true");
  EXPECT_EQ(read_text(folder / "code"), "3\n") << night;
  EXPECT_EQ(night.err, "") << night;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "r" / "index.html")) << night;
  const Ran report = redzone(folder, {"report", "--db", "x.db"});
  EXPECT_EQ(report.exit, 0) << report;
}

TEST(LostReader, IsToldNothing) {
  const TempFolder folder;
  const Ran ran = shell(folder, "{ sleep 1; \"$REDZONE\" --help; echo $? > code; } | true");
  EXPECT_EQ(read_text(folder / "code"), "3\n") << ran;
  EXPECT_EQ(ran.err, "") << ran;
}

TEST(FileSizeLimit, IsAnErrorOfTheStore) {
  const TempFolder folder;
  const Ran ran =
      shell(folder,
            "ulimit -f 100; \"$REDZONE\" run puzzle.row_minus_one --device host --plans "
            "100 --seed 1 --db x.db");
  EXPECT_EQ(ran.exit, 3) << ran;
  EXPECT_NE(ran.err.find("redzone: x.db: "), std::string::npos) << ran;
}

// No descriptor of the driver has a number that a child replaces.
TEST(ClosedStreams, ChangeNothing) {
  const TempFolder folder;
  for (const char* closed : {"0<&-", "1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"}) {
    const Ran targets = shell(folder, std::string("\"$REDZONE\" targets ") + closed);
    EXPECT_EQ(targets.exit, 0) << closed << "\n" << targets;
    const Ran run = shell(folder, std::string("\"$REDZONE\" run puzzle.row_minus_one --device host "
                                              "--plans 50 --seed 1 --db x.db ") +
                                      closed);
    EXPECT_EQ(run.exit, 1) << closed << "\n" << run;
    std::filesystem::remove(folder / "x.db");
  }
}

TEST(PrintsOfAPlugin, AreNoResult) {
  const TempFolder folder;
  const Ran targets = redzone(folder, {"targets", "--json", "--plugin", CHATTY});
  EXPECT_EQ(targets.exit, 0) << targets;
  EXPECT_FALSE(targets.json().is_discarded()) << targets;
  EXPECT_NE(targets.err.find("chatty: spec"), std::string::npos) << targets;
  const Ran run = redzone(folder, {"run", "chatty.twice", "--plugin", CHATTY, "--device", "host",
                                   "--plans", "20", "--db", "x.db", "--json"});
  EXPECT_EQ(run.exit, 0) << run;
  EXPECT_FALSE(run.json().is_discarded()) << run;
  EXPECT_NE(run.err.find("chatty: work"), std::string::npos) << run;
}

}  // namespace
}  // namespace redzone::e2e
