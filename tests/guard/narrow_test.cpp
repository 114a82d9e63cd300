#include "guard/narrow.h"

#include <gtest/gtest.h>

namespace redzone::guard {
namespace {

Finding canary(const char* site, std::uint64_t launch) {
  Finding out;
  out.kind = FindingKind::canary;
  out.access = Access::write;
  out.side = Side::after;
  out.on_device = true;
  out.block.ordinal = 1;
  out.allocated = {{0x20, "/usr/bin/train", 0x20, site}};
  out.launch.ordinal = launch;
  out.launches_since_right = launch;
  return out;
}

ProgramRun run_of(std::vector<Finding> findings) {
  ProgramRun out;
  out.processes.resize(1);
  out.processes[0].findings = std::move(findings);
  return out;
}

TEST(Narrow, GivesEachFindingTheLaunchOfItsSignature) {
  auto run = run_of({canary("a", 0), canary("b", 0), canary("a", 0), canary("c", 0)});
  EXPECT_EQ(narrowing_of(run), Narrowing::canary);
  EXPECT_EQ(narrow(run, run_of({canary("b", 5), canary("a", 3), canary("d", 9)})), 3u);
  const auto& all = run.processes[0].findings;
  EXPECT_EQ(all[0].launch.ordinal, 3u);
  EXPECT_EQ(all[0].launches_since_right, 3u);
  EXPECT_EQ(all[1].launch.ordinal, 5u);
  EXPECT_EQ(all[2].launch.ordinal, 3u);
  EXPECT_EQ(all[3].launch.ordinal, 0u) << "the second run has not shown it";
}

TEST(Narrow, AnErrorIsOfTheOneLaunchThatTheSecondRunWaitedFor) {
  auto error = canary("a", 0);
  error.kind = FindingKind::device_error;
  error.code = 700;
  error.call = "cuCtxSynchronize";
  auto run = run_of({error});
  EXPECT_EQ(narrowing_of(run), Narrowing::error);
  auto second = run_of({error});
  second.processes[0].findings[0].call = "cuLaunchKernel";
  KernelLaunch launch;
  launch.ordinal = 5;
  launch.kernel = "fill(float*)";
  second.processes[0].unfinished = {launch};
  EXPECT_EQ(narrow(run, second), 1u);
  const auto& found = run.processes[0].findings[0];
  EXPECT_EQ(found.launch.ordinal, 5u);
  EXPECT_EQ(found.kernel, "fill");
  EXPECT_EQ(found.call, "cuCtxSynchronize");
  EXPECT_EQ(narrowing_of(run), Narrowing::none);
}

// Two launches at once, or an error of another kind: it is not known which.
TEST(Narrow, WhatTheSecondRunDoesNotShowStaysUnknown) {
  auto error = canary("a", 0);
  error.kind = FindingKind::device_error;
  error.code = 700;
  auto run = run_of({error});
  auto second = run_of({error});
  second.processes[0].unfinished.resize(2);
  EXPECT_EQ(narrow(run, second), 0u);
  EXPECT_EQ(run.processes[0].findings[0].kernel, "");
  second.processes[0].findings[0].code = 719;
  second.processes[0].unfinished.resize(1);
  EXPECT_EQ(narrow(run, second), 0u);
  EXPECT_EQ(narrow(run, run_of({})), 0u);
}

// Two processes with one error each, of two programs, and a launch that is no longer known.
TEST(Narrow, AnErrorIsOfTheProcessOfTheSameProgram) {
  auto error = canary("a", 0);
  error.kind = FindingKind::device_error;
  error.code = 700;
  const auto with_launch = [&](const char* program, const char* kernel) {
    ProcessRecord out;
    out.program = program;
    out.findings = {error};
    if (kernel != nullptr) {
      out.unfinished.resize(1);
      out.unfinished[0].ordinal = 1;
      out.unfinished[0].kernel = kernel;
    }
    return out;
  };
  ProgramRun run, second;
  run.processes = {with_launch("/bin/eval", nullptr), with_launch("/bin/train", nullptr),
                   with_launch("/bin/train", nullptr)};
  second.processes = {with_launch("/bin/train", "first()"), with_launch("/bin/eval", "other()"),
                      with_launch("/bin/train", "second()")};
  EXPECT_EQ(narrow(run, second), 3u);
  EXPECT_EQ(run.processes[0].findings[0].kernel, "other");
  EXPECT_EQ(run.processes[1].findings[0].kernel, "first");
  EXPECT_EQ(run.processes[2].findings[0].kernel, "second");
  run.processes = {with_launch("/bin/eval", nullptr)};
  second.processes[1].unfinished_lost = 1;
  EXPECT_EQ(narrow(run, second), 0u);
}

TEST(Narrow, OtherFindingsNeedNoSecondRun) {
  EXPECT_EQ(narrowing_of(run_of({})), Narrowing::none);
  EXPECT_EQ(narrowing_of(run_of({canary("a", 2)})), Narrowing::none);
  auto host = canary("a", 0);
  host.on_device = false;
  EXPECT_EQ(narrowing_of(run_of({host})), Narrowing::none);
}

}  // namespace
}  // namespace redzone::guard
