// Launchers of packages, judged without running a kernel: on any machine, over the whole space of
// shapes.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "core/plan_text.h"
#include "e2e/cli.h"
#include "package/sample.h"

namespace redzone::e2e {
namespace {

class PackageOnNone : public testing::Test {
 protected:
  Ran on_none(Arguments words, const Arguments& more = {}) {
    words.insert(words.end(), {"--package", sample_.folder().string(), "--device", "none",
                               "--deadline", kLongDeadline});
    words.insert(words.end(), more.begin(), more.end());
    return redzone(folder_, words);
  }

  const package::test::SamplePackage sample_;
  const TempFolder folder_;
};

TEST_F(PackageOnNone, NothingIsFoundInCorrectLaunchers) {
  for (const Arguments& which : {Arguments{}, Arguments{"--lazy"}}) {
    const Ran ran = on_none({"run", "--plans", "2000", "--seed", "4", "--json"}, which);
    EXPECT_EQ(ran.exit, 0) << ran;
    const Json campaign = ran.json();
    ASSERT_TRUE(campaign.is_object()) << ran;
    EXPECT_EQ(campaign["verdicts"]["pass"], 2000) << ran;
    EXPECT_EQ(campaign["campaign"]["workers_lost"], 0) << ran;
  }
}

// Mistakes of real launchers, made with the sample package.
struct Mistake {
  const char* name;
  const char* kind;
  const char* side;
  std::size_t calls;  // calls of the smallest plan
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class PackageLauncher : public testing::TestWithParam<Mistake> {
 protected:
  const package::test::SamplePackage sample_;
  const TempFolder folder_;
};

TEST_P(PackageLauncher, IsFoundReducedAndReplayed) {
  const Mistake& mistake = GetParam();
  const std::string package = sample_.folder().string();
  const Ran ran = redzone(folder_, {"run", std::string("puzzle.test.add.lazy_") + mistake.name,
                                    "--package", package, "--device", "none", "--plans", "200",
                                    "--seed", "1", "--deadline", kLongDeadline, "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_EQ(campaign["verdicts"]["harness_error"], 0) << ran;
  bool found = false;
  for (const Json& finding : campaign["findings"]) {
    EXPECT_EQ(finding["signature"]["kind"], mistake.kind) << ran;
    if (finding["signature"]["side"] != mistake.side) continue;
    found = true;
    EXPECT_EQ(finding["state"], "confirmed");
    EXPECT_EQ(finding["minimal"], true);
    EXPECT_TRUE(finding["attribution"].empty()) << "nothing runs that a mode could matter to";
    const auto plan = parse_plan(finding["plan"].get<std::string>());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(call_count(*plan), static_cast<std::int64_t>(mistake.calls))
        << finding["plan"].get<std::string>();
    // The printed replay line works.
    const std::string line = finding["replay"];
    EXPECT_NE(line.find(" --package " + package), std::string::npos) << line;
    const std::string id = std::to_string(finding["id"].get<int>());
    EXPECT_EQ(
        redzone(folder_, {"replay", id, "--device", "none", "--runs", "3", "--package", package})
            .exit,
        1);
  }
  EXPECT_TRUE(found) << ran;
}

INSTANTIATE_TEST_SUITE_P(
    Sample, PackageLauncher,
    testing::Values(Mistake{"scratch_per_cta", "scratch-too-small", "grid", 1},
                    Mistake{"scratch_first_call", "scratch-too-small", "grid", 2},
                    Mistake{"scratch_num_ctas", "scratch-too-small", "num_ctas", 1},
                    Mistake{"scratch_null", "scratch-too-small", "everything", 1},
                    Mistake{"grid_frozen", "launch-config", "grid", 2},
                    Mistake{"key_without_dim", "launch-config", "grid", 2}),
    [](const auto& info) { return std::string(info.param.name); });

// Among the targets that the device cannot run, only those that would have been fuzzed are named.
TEST_F(PackageOnNone, TheFlagsSayWhichLauncherIsFuzzed) {
  const auto named = [&](const Arguments& which) {
    Arguments words{
        "run", "--plans", "1", "--device", "host", "--package", sample_.folder().string()};
    words.insert(words.end(), which.begin(), which.end());
    std::istringstream lines(redzone(folder_, words).err);
    std::vector<std::string> names;
    const std::string mark = "not applicable: ";
    for (std::string line; std::getline(lines, line);)
      if (line.rfind(mark, 0) == 0)
        names.push_back(line.substr(mark.size(), line.find(": ", mark.size()) - mark.size()));
    return names;
  };
  EXPECT_EQ(named({}), (std::vector<std::string>{"test.add"}));
  EXPECT_EQ(named({"--lazy"}), (std::vector<std::string>{"test.add.lazy_launch"}));
  EXPECT_EQ(named({"--lazy", "--puzzles"}).size(), 7u);
  const Ran none = redzone(folder_, {"run", "--lazy", "--device", "none", "--plans", "1"});
  EXPECT_EQ(none.exit, 2) << none;
  EXPECT_NE(none.err.find("--lazy: there is no package"), std::string::npos) << none;
}

TEST_F(PackageOnNone, ANightOfAllHasKernelsPackagesAndTheirLazyLaunch) {
  const Ran ran = on_none({"nightly", "--all", "--plans", "1", "--seed", "1", "--json"});
  std::set<std::string> fuzzed;
  const Json targets = ran.json()["night"]["targets"];
  for (const auto& target : targets)
    if (target["plans"] == 1) fuzzed.insert(target["name"].get<std::string>());
  for (const char* name : {"chunk_fwd_h", "test.add", "test.add.lazy_launch"})
    EXPECT_TRUE(fuzzed.contains(name)) << name << "\n" << ran;
}

TEST_F(PackageOnNone, AFindingSaysWhichPackageItCameFrom) {
  ASSERT_EQ(
      on_none({"run", "puzzle.test.add.lazy_scratch_null", "--plans", "50", "--seed", "1"}).exit,
      1);
  const std::string package = sample_.folder().string();
  const Ran shown = redzone(folder_, {"show", "1"});
  EXPECT_NE(shown.out.find("redzone replay 1 --package " + package), std::string::npos) << shown;
  // Without --device it is replayed on the device that found it; the host could not run it.
  const Ran again = redzone(folder_, {"replay", "1", "--package", package, "--runs", "1"});
  EXPECT_EQ(again.exit, 1) << again;
  const Ran without = redzone(folder_, {"replay", "1", "--device", "none"});
  EXPECT_EQ(without.exit, 2) << without;
  EXPECT_NE(without.err.find("it came from the package " + package + ", code "), std::string::npos)
      << without;
  EXPECT_NE(without.err.find("--package " + package), std::string::npos) << without;
}

// No source is needed: the file contains the cubin and the recorded launches.
TEST_F(PackageOnNone, AFindingIsExportedAsAProgram) {
  sample_.edit("target.toml", "\"R\", \"1\"]", "\"R * 70000\", \"1\"]");
  ASSERT_EQ(on_none({"run", "test.add", "--plans", "20", "--seed", "1"}).exit, 1);
  const std::string package = sample_.folder().string();
  const Ran ran =
      redzone(folder_, {"export", "1", "--to", "out", "--standalone", "--package", package});
  ASSERT_EQ(ran.exit, 0) << ran;
  const std::string text = read_text(folder_.path() / ran.out.substr(0, ran.out.find('\n')));
  for (const char* part : {"// launch-config: ", "image_0[] = {", "\"global_scratch\"",
                           "RecordedTarget>(images()", "spec.name = \"test.add\"", "int main()"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(text.find("#include \""), std::string::npos);
}

TEST_F(PackageOnNone, AFindingOfTheLazyLaunchIsNotExported) {
  ASSERT_EQ(
      on_none({"run", "puzzle.test.add.lazy_grid_frozen", "--plans", "200", "--seed", "1"}).exit,
      1);
  const Ran ran = redzone(folder_, {"export", "1", "--to", "out", "--standalone", "--package",
                                    sample_.folder().string()});
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.err.find("depend on the calls before"), std::string::npos) << ran;
}

TEST_F(PackageOnNone, ReplayingAnotherPackageOfThatNameSaysSo) {
  ASSERT_EQ(
      on_none({"run", "puzzle.test.add.lazy_scratch_null", "--plans", "50", "--seed", "1"}).exit,
      1);
  EXPECT_EQ(on_none({"replay", "1", "--runs", "1"}).err, "");
  sample_.edit("target.toml", "doc = \"adds\"", "doc = \"adds more\"");
  const Ran ran = on_none({"replay", "1", "--runs", "1"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_NE(ran.err.find("but finding 1 was found with the code"), std::string::npos) << ran;
}

}  // namespace
}  // namespace redzone::e2e
