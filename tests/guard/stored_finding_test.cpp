#include "guard/stored_finding.h"

#include <gtest/gtest.h>

#include <set>

#include "guard/sample.h"

namespace redzone::guard {
namespace {

using namespace testing;

redzone::Finding stored(const ProgramRun& run) {
  return stored_finding(run, run.findings().at(0));
}

TEST(StoredFinding, HoldsWhatItTakesToRunTheProgramAgain) {
  ProgramRun run = run_with({sample_finding()});
  run.settings.align_bytes = 64;
  const redzone::Finding finding = stored(run);
  EXPECT_EQ(finding.signature.kind, FailKind::illegal_access);
  EXPECT_EQ(finding.signature.target, "program.train");
  EXPECT_EQ(finding.signature.where, signature(sample_finding()));
  EXPECT_EQ(finding.oracle, "guard");
  EXPECT_EQ(finding.plan, plan_without_calls("program.train"));
  ASSERT_TRUE(finding.program);
  EXPECT_EQ(problem_of(*finding.program), std::nullopt);
  EXPECT_EQ(started_of(*finding.program), run.started);
  EXPECT_EQ(settings_of(*finding.program), run.settings);
  EXPECT_EQ(finding.program->block, 7u);
  EXPECT_EQ(finding.program->block_bytes, 4000u);
  EXPECT_EQ(finding.program->site, "make_buffer(int) (train) from main (train)");
  EXPECT_EQ(finding.program->allocated.back(), "main (/home/x/train+0x3)");
}

TEST(StoredFinding, IsTheSameIfTheSignatureIs) {
  std::set<std::string> hashes;
  for (const auto kind : {FindingKind::guard_page, FindingKind::after_free, FindingKind::canary,
                          FindingKind::bad_free, FindingKind::device_error, FindingKind::range})
    for (const auto side : {Side::before, Side::after})
      for (const auto access : {Access::read, Access::write}) {
        Finding finding = sample_finding();
        finding.kind = kind;
        finding.side = side;
        finding.access = access;
        const std::string hash = stored(run_with({finding})).signature.hash();
        hashes.insert(signature(finding) + hash);
        hashes.insert(signature(finding) + stored(run_with({finding}, 3)).signature.hash());
        Finding elsewhere = finding;
        elsewhere.block.ordinal = 99;
        elsewhere.address = 5;
        EXPECT_EQ(stored(run_with({elsewhere})).signature.hash(), hash);
      }
  // Of the sixteen, the kinds whose signature has neither side nor access are one each.
  EXPECT_EQ(hashes.size(), 4u + 2u + 4u + 1u + 1u + 4u);
}

// The shell that started it, or the test runner, is not the program.
TEST(StoredFinding, IsOfTheProcessThatHasIt) {
  ProgramRun run = run_with({sample_finding()});
  run.started.argv = {"sh", "-c", "./train; ./train"};
  run.processes[0].started.argv = {"python3", "train.py"};
  const redzone::Finding finding = stored(run);
  EXPECT_EQ(finding.signature.target, "program.python3.train.py");
  EXPECT_EQ(finding.program->argv, run.started.argv) << "what is run again is the whole command";
}

TEST(StoredFinding, OfAnAttachedProcessRunsThatProcessAgain) {
  ProgramRun run = run_with({sample_finding()});
  run.started = {};
  run.processes[0].started = {{"python3", "train.py"}, "/w", {}};
  EXPECT_EQ(started_of(*stored(run).program), run.processes[0].started);
  run.processes[0].started = {};
  EXPECT_EQ(stored(run).program->argv, std::vector<std::string>{"/home/x/train"});
}

// The replay of a finding whose kernel a further run has named shows the same signature.
TEST(StoredFinding, OfAKernelThatAFurtherRunHasNamedWaitsForEachLaunch) {
  Finding error = sample_finding();
  error.kind = FindingKind::device_error;
  error.kernel = "fill";
  EXPECT_EQ(settings_of(*stored(run_with({error})).program)->launch,
            interpose::LaunchMode::blocking);
  error.only_kernel = "fill";
  EXPECT_EQ(settings_of(*stored(run_with({error})).program)->launch, interpose::LaunchMode::async);
}

TEST(StoredFinding, SettingsOfAnotherBuildAreAnError) {
  ProgramOrigin origin = *stored(run_with({sample_finding()})).program;
  origin.settings = "colour=1";
  EXPECT_EQ(settings_of(origin).error().kind, ErrorKind::harness);
}

}  // namespace
}  // namespace redzone::guard
