// Packages of compiled kernels on the command line, on machines without a device that runs them.
#include <gtest/gtest.h>

#include "e2e/cli.h"
#include "package/sample.h"

namespace redzone::e2e {
namespace {

class PackageOnTheCommandLine : public testing::Test {
 protected:
  Ran run(Arguments arguments) {
    arguments.insert(arguments.end(), {"--package", sample_.folder().string()});
    return redzone(folder_, arguments);
  }
  static void expect(const Ran& ran, int exit, const std::string& text) {
    EXPECT_EQ(ran.exit, exit) << ran;
    EXPECT_NE((ran.out + ran.err).find(text), std::string::npos) << text << "\n" << ran;
  }

  const package::test::SamplePackage sample_;
  const TempFolder folder_;
};

TEST_F(PackageOnTheCommandLine, IsListedWithItsFolderAndWhatItNeeds) {
  const Ran ran = run({"targets", "test.add", "--json"});
  ASSERT_EQ(ran.exit, 0) << ran;
  const Json target = ran.json()["targets"][0];
  EXPECT_EQ(target["name"], "test.add");
  ASSERT_EQ(target["devices"].size(), 2u);
  EXPECT_EQ(target["devices"][0]["device"], "cuda") << target;
  EXPECT_EQ(target["devices"][1]["device"], "dry-run") << target;
  EXPECT_EQ(target["devices"][1]["runs_here"], true) << target;
  for (const Json& device : target["devices"])
    EXPECT_EQ(device["plugin"], sample_.folder().string());
  expect(run({"targets"}), 0, "test.add");
}

TEST_F(PackageOnTheCommandLine, IsNotApplicableOnTheHostDevice) {
  const std::string reason =
      "not applicable: test.add: its kernels are compiled for a GPU, and the device is host";
  // It is the only target selected.
  expect(run({"run", "--device", "host", "--plans", "1"}), 4, reason);
  expect(run({"run", "test.add", "--device", "host", "--plans", "1"}), 4, reason);
}

TEST_F(PackageOnTheCommandLine, LeavesNamedTargetsAlone) {
  const Ran ran =
      run({"run", "chunk_fwd_phase1", "--device", "host", "--plans", "2", "--seed", "1"});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(ran.err.find("not applicable"), std::string::npos) << ran;
}

TEST_F(PackageOnTheCommandLine, CannotBeReplayedWithoutItsDevice) {
  folder_.write("p.toml",
                "redzone_plan = 1\ntarget = \"test.add\"\n[[step]]\ndo = \"call\"\n"
                "dims = { R = 1, N = 17 }\n");
  expect(run({"replay", "p.toml", "--device", "host"}), 2,
         "target 'test.add' is not built for device host, only for cuda, dry-run");
}

TEST_F(PackageOnTheCommandLine, ThatIsBrokenIsAUsageError) {
  sample_.edit("target.toml", "\"R\", \"1\"]", "\"R\", \"Q\"]");
  expect(run({"targets"}), 2, ": grid[2]: 'Q' has the unknown name 'Q'");
  expect(run({"run", "--device", "host"}), 2, "grid[2]");
}

// No call of this target can be made; other targets could still run.
TEST_F(PackageOnTheCommandLine, OfWhichNoCallCanBeMadeIsSkippedWithTheReason) {
  sample_.edit("target.toml", "shape = [\"R\", \"N\"]",
               "shape = [\"4294967296\", \"4294967296\", \"R\", \"N\"]");
  expect(run({"run", "--device", "dry-run", "--plans", "1"}), 4,
         "of the last one: tensor 'x': tensor too large");
}

// The dims and constraints of the package allow the calls without a grid.
TEST_F(PackageOnTheCommandLine, WhoseGridHasNoValueIsAMistakeOfTheSpec) {
  sample_.edit("target.toml", "\"R\", \"1\"]", "\"R - 2\", \"1\"]");
  const std::vector<std::string> some{"run", "--device", "dry-run", "--plans", "200"};
  expect(run(some), 2, "grid[1]: 'R - 2' is -1, which is negative for N = 1, R = 1, BLOCK = 128");
  sample_.edit("target.toml", "\"R - 2\", \"1\"]", "\"cdiv(R, 8 - R)\", \"1\"]");
  expect(run(some), 2, "grid[1]: 'cdiv(R, 8 - R)' divides by zero for N = ");
}

TEST_F(PackageOnTheCommandLine, SaysWhyPlansWereNotJudged) {
  const std::string many = "\"R == 8 ? 9007199254740991 : 1\"";
  sample_.edit("target.toml", "\"R\", \"1\"]", many + ", " + many + "]");
  const Ran ran = run({"run", "--device", "dry-run", "--plans", "200", "--seed", "1", "--json"});
  ASSERT_EQ(ran.exit, 0) << ran;
  const Json unjudged = ran.json()["unjudged"];
  ASSERT_FALSE(unjudged.empty()) << ran;
  for (const Json& why : unjudged) {  // one for each grid
    EXPECT_EQ(why["target"], "test.add");
    EXPECT_EQ(why["verdict"], "not-applicable");
    EXPECT_TRUE(why["reason"].get<std::string>().starts_with("more than 2^62 bytes of scratch for"))
        << why;
    EXPECT_GT(why["plans"], 0);
  }
}

TEST_F(PackageOnTheCommandLine, ThatIsNotThereOrThereTwiceIsAUsageError) {
  expect(redzone(folder_, {"run", "--device", "host", "--package", "none"}), 2,
         "package none: no such folder");
  expect(run({"targets", "--package", sample_.folder().string()}), 2,
         "duplicate target name 'test.add'");
}

}  // namespace
}  // namespace redzone::e2e
