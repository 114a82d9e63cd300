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
  ASSERT_TRUE(can_be_narrowed(run));
  EXPECT_EQ(narrow(run, run_of({canary("b", 5), canary("a", 3), canary("d", 9)})), 2u);
  const auto& all = run.processes[0].findings;
  EXPECT_EQ(all[0].launch.ordinal, 3u);
  EXPECT_EQ(all[0].launches_since_right, 3u);
  EXPECT_EQ(all[1].launch.ordinal, 5u);
  EXPECT_EQ(all[2].launch.ordinal, 3u);
  EXPECT_EQ(all[3].launch.ordinal, 0u) << "the second run has not shown it";
}

TEST(Narrow, OtherFindingsNeedNoSecondRun) {
  EXPECT_FALSE(can_be_narrowed(run_of({})));
  EXPECT_FALSE(can_be_narrowed(run_of({canary("a", 2)})));
  auto host = canary("a", 0);
  host.on_device = false;
  EXPECT_FALSE(can_be_narrowed(run_of({host})));
  auto error = canary("a", 0);
  error.kind = FindingKind::device_error;
  EXPECT_FALSE(can_be_narrowed(run_of({error})));
}

}  // namespace
}  // namespace redzone::guard
