// A program that allocates as PyTorch does through its pluggable allocator, over the fake driver.
#include <gtest/gtest.h>

#include "interpose/guarded.h"

namespace redzone::interpose {
namespace {

guard::ProcessRecord record_of(const Guarded& ran) {
  EXPECT_EQ(ran.processes.size(), 1u);
  return ran.processes.at(0);
}

TEST(TorchProcess, WithoutTheGuardThereAreNoFunctions) {
  EXPECT_EQ(run_guarded({TORCH_PROGRAM, "use"}, {}, {}, false).exit, 9);
}

TEST(TorchProcess, ItsTensorsAreProvenAndGuarded) {
  const auto ran = run_guarded({TORCH_PROGRAM, "use"}, {});
  EXPECT_EQ(ran.exit, 0);
  const auto process = record_of(ran);
  EXPECT_TRUE(process.is(Fact::driver_proven));
  EXPECT_TRUE(process.is(Fact::torch_replaced));
  EXPECT_EQ(process.count(Counter::device_blocks), 1u);
  EXPECT_EQ(process.count(Counter::device_frees), 1u);
  EXPECT_TRUE(ran.findings.empty());
}

// Whatever context the thread has that frees the tensor.
TEST(TorchProcess, AWriteIntoTheSlackOfATensorIsFound) {
  for (const char* deed : {"dirty", "dirty_nowhere", "dirty_elsewhere"}) {
    const auto ran = run_guarded({TORCH_PROGRAM, deed}, {});
    EXPECT_EQ(ran.exit, 0) << deed;
    ASSERT_EQ(ran.findings.size(), 1u) << deed;
    EXPECT_EQ(ran.findings[0].kind, FindingKind::canary);
    ASSERT_FALSE(ran.findings[0].allocated.empty());
    ASSERT_FALSE(ran.findings[0].freed.empty());
  }
}

// A stack that was walked before is not walked again, and is not taken for another.
TEST(TorchProcess, EachBlockHasTheStackOfItsOwnAllocation) {
  const auto ran = run_guarded({TORCH_PROGRAM, "alternate"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 2u) << "one of each place";
  for (const auto& finding : ran.findings) {
    EXPECT_EQ(finding.times, 3u);
    const std::string own = finding.block.ordinal % 2 == 1 ? "first" : "second";
    const std::string other = own == "first" ? "second" : "first";
    std::string functions;
    for (const auto& frame : finding.allocated) functions += frame.function + "\n";
    EXPECT_NE(functions.find(own + "("), std::string::npos) << functions;
    EXPECT_EQ(functions.find(other + "("), std::string::npos) << functions;
    EXPECT_NE(functions.find("alternate("), std::string::npos) << functions;
  }
}

TEST(TorchProcess, ItsGraphsKeepTheirMemory) {
  const auto ran = run_guarded({TORCH_PROGRAM, "capture"}, {});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(record_of(ran).count(Counter::left_out_capture), 1u);
  EXPECT_TRUE(ran.findings.empty());
}

TEST(TorchProcess, MemoryThatRunsOutIsAnException) {
  EXPECT_EQ(run_guarded({TORCH_PROGRAM, "exhaust"}, {}).exit, 0);
}

// One that another setting of the guard leaves alone.
TEST(TorchProcess, OnlyTheChosenTensorsAreGuarded) {
  Settings settings;
  settings.only = {2, 9};
  const auto ran = run_guarded({TORCH_PROGRAM, "dirty"}, settings);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.findings.empty());
  EXPECT_EQ(record_of(ran).count(Counter::left_out_chosen), 1u);
}

}  // namespace
}  // namespace redzone::interpose
