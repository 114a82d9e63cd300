// `redzone export --standalone`: its output and its refusals.
#include <gtest/gtest.h>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

class ExportStandalone : public testing::Test {
 protected:
  void import(const std::string& name) {
    const auto ran =
        redzone(folder_, {"import", SOURCE_DIR "/repros/" + name + ".toml", "--db", "x.db"});
    ASSERT_EQ(ran.exit, 0) << ran.err;
  }
  Ran standalone(std::vector<std::string> more) {
    std::vector<std::string> all{"export", "1", "--db", "x.db", "--to", "out", "--standalone"};
    all.insert(all.end(), more.begin(), more.end());
    return redzone(folder_, all);
  }
  static std::string source(const std::string& name) {
    return SOURCE_DIR "/src/targets/puzzles/" + name + ".cu";
  }

  TempFolder folder_;
};

TEST_F(ExportStandalone, WritesOneFileThatIncludesOnlyTheCompilersHeaders) {
  import("stale_grid");
  const auto ran = standalone(
      {"--source", source("stale_grid"), "--register", "redzone::puzzles::add_stale_grid"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto path = folder_.path() / ran.out.substr(0, ran.out.find('\n'));
  const std::string text = read_text(path);
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  for (const char* part : {"// uninitialized: y (puzzle.stale_grid)", "nvcc -std=c++20",
                           "struct StaleGrid", "with another poison", "int main()"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST_F(ExportStandalone, AFileThatIsGoodStaysWhereTheFlagsDoNotFit) {
  import("stale_grid");
  const auto good = standalone(
      {"--source", source("stale_grid"), "--register", "redzone::puzzles::add_stale_grid"});
  ASSERT_EQ(good.exit, 0) << good.err;
  const auto path = folder_.path() / good.out.substr(0, good.out.find('\n'));
  const std::string before = read_text(path);
  // The plugin registers the puzzle, so nothing else may register it.
  const auto ran =
      standalone({"--source", source("plugin"), "--register", "redzone::puzzles::add"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("REDZONE_PLUGIN"), std::string::npos) << ran.err;
  EXPECT_EQ(read_text(path), before);
}

TEST_F(ExportStandalone, NeedsASource) {
  import("stale_grid");
  const auto ran = standalone({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("--source"), std::string::npos) << ran.err;
  EXPECT_EQ(standalone({"--source", "no/such/file.cu"}).exit, 2);
}

TEST_F(ExportStandalone, RefusesWhatDoesNotShowWithoutRedzone) {
  import("strides_ignored");
  const auto ran = standalone({"--source", source("strides_ignored")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("finding 1: a failure of kind 'reference'"), std::string::npos) << ran.err;
}

TEST_F(ExportStandalone, WritesTheOthersOfSeveralFindings) {
  import("strides_ignored");
  import("stale_grid");
  const auto ran = standalone(
      {"2", "--source", source("stale_grid"), "--register", "redzone::puzzles::add_stale_grid"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("finding 1: a failure of kind 'reference'"), std::string::npos) << ran.err;
  ASSERT_NE(ran.out.find("stale_grid"), std::string::npos) << ran;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / ran.out.substr(0, ran.out.find('\n'))));
}

}  // namespace
}  // namespace redzone::e2e
