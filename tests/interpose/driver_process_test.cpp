// Whole programs over the fake driver, with the library preloaded: each way to the driver's
// functions arrives in the guard, and no program sees a difference that it could not expect.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "interpose/guarded.h"

namespace redzone::interpose {
namespace {

using guard::ProcessRecord;

struct Way {
  const char* name;
  const char* program;
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class WayToTheDriver : public testing::TestWithParam<Way> {
 protected:
  Guarded run(const char* deed, const Settings& settings = {}, bool guarded = true) const {
    return run_guarded({GetParam().program, GetParam().name, deed}, settings, {}, guarded);
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, WayToTheDriver,
                         testing::Values(Way{"link", DRIVER_PROGRAM_LINKED},
                                         Way{"dlsym", DRIVER_PROGRAM}, Way{"proc", DRIVER_PROGRAM}),
                         [](const auto& info) { return std::string(info.param.name); });

// The programs must pass without the guard, or what follows shows nothing of it.
TEST_P(WayToTheDriver, WorksWithoutTheGuard) {
  for (const char* deed : {"use", "capture", "abandon", "dirty", "private", "destroy", "room"})
    EXPECT_EQ(run(deed, {}, false).exit, 0) << deed;
}

TEST_P(WayToTheDriver, IsProvenAndGuarded) {
  const auto ran = run("use");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  const ProcessRecord& process = ran.processes[0];
  EXPECT_TRUE(process.is(Fact::driver_proven));
  EXPECT_FALSE(process.is(Fact::driver_unproven));
  EXPECT_TRUE(process.is(Fact::driver_present));
  EXPECT_TRUE(process.is(Fact::ended));
  EXPECT_EQ(process.count(Counter::device_blocks), 3u);
  EXPECT_EQ(process.count(Counter::device_frees), 3u);
  EXPECT_TRUE(ran.findings.empty());
}

TEST_P(WayToTheDriver, BeforeTheBlock) {
  Settings settings;
  settings.placement = Placement::guard_before;
  const auto ran = run("use", settings);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.findings.empty());
}

TEST_P(WayToTheDriver, AnOverrunIsReportedThoughTheProgramLeavesAtOnce) {
  const auto ran = run("overrun");
  EXPECT_EQ(ran.exit, 7) << "the program's own code";
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::device_error);
  EXPECT_EQ(ran.findings[0].code, 700);
}

TEST_P(WayToTheDriver, AnErrorThatTheProgramDoesNotAskForIsReportedAtExit) {
  const auto ran = run("unseen");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::device_error);
  EXPECT_EQ(ran.findings[0].code, 700);
}

TEST_P(WayToTheDriver, AnErrorThatACallOfTheGuardMeetsIsReturnedAndReported) {
  for (const char* deed : {"free_tells", "allocate_tells"}) {
    const auto ran = run(deed);
    EXPECT_EQ(ran.exit, 7) << deed;
    ASSERT_EQ(ran.findings.size(), 1u) << deed;
    EXPECT_EQ(ran.findings[0].code, 700);
  }
}

// The kernel is launched as soon as the free returns, and must find nothing there.
TEST_P(WayToTheDriver, AUseAfterFreeFaultsWithRetireAll) {
  Settings settings;
  settings.retire = Retire::all;
  const auto ran = run("after_free", settings);
  EXPECT_EQ(ran.exit, 7) << "the program's own code";
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::device_error);
  EXPECT_EQ(run("after_free").exit, 0) << "the first freed block is not in the sample";
}

TEST_P(WayToTheDriver, AWaitAfterAnOrderedFreeEndsItsBlock) {
  Settings settings;
  settings.retire = Retire::all;
  EXPECT_EQ(run("after_ordered_free", settings).exit, 7);
}

TEST_P(WayToTheDriver, WithoutTheGuardTheOverrunIsNotSeen) {
  EXPECT_EQ(run("overrun", {}, false).exit, 0);
}

TEST_P(WayToTheDriver, ADirtyCanaryOfABlockThatIsNeverFreedIsReportedAtExit) {
  const auto ran = run("dirty");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::canary);
  EXPECT_EQ(ran.findings[0].distance_bytes, 1u);
  EXPECT_EQ(ran.findings[0].wrong_bytes, 4u);
  EXPECT_EQ(ran.findings[0].block.ordinal, 1u);
  ASSERT_FALSE(ran.findings[0].allocated.empty());
  EXPECT_NE(ran.findings[0].allocated[0].function.find("dirty"), std::string::npos)
      << ran.findings[0].allocated[0].function;
}

TEST_P(WayToTheDriver, AProgramThatLeavesByQuickExitIsJudgedToItsEnd) {
  const auto ran = run("quick");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.findings.size(), 1u);
  EXPECT_TRUE(ran.processes.at(0).is(Fact::ended));
}

// The proof is made before the program's first block, whichever blocks are chosen.
TEST_P(WayToTheDriver, OnlyTheChosenBlocksAreGuarded) {
  Settings settings;
  settings.only = {2, 9};
  const auto without = run("dirty", settings);
  EXPECT_EQ(without.exit, 0);
  EXPECT_TRUE(without.findings.empty());
  ASSERT_EQ(without.processes.size(), 1u);
  EXPECT_EQ(without.processes[0].count(Counter::left_out_chosen), 1u);
  EXPECT_TRUE(without.processes[0].is(Fact::driver_proven));
  settings.only = {1, 1};
  EXPECT_EQ(run("dirty", settings).findings.size(), 1u);
  settings = {};
  settings.skip = {1, 1};
  EXPECT_TRUE(run("dirty", settings).findings.empty());
}

TEST_P(WayToTheDriver, ACaptureIsNotInvalidated) {
  const auto ran = run("capture");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::frees_deferred), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::left_out_capture), 1u);
}

TEST_P(WayToTheDriver, ACaptureEndsWithItsStream) {
  const auto ran = run("abandon");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 2u);
  EXPECT_EQ(ran.processes[0].count(Counter::left_out_capture), 0u);
  EXPECT_EQ(ran.processes[0].count(Counter::frees_deferred), 1u);
}

TEST_P(WayToTheDriver, WhatIsKeptForLaterBlocksMakesNoOtherAllocationFail) {
  EXPECT_EQ(run("room").exit, 0);
}

TEST_P(WayToTheDriver, ADriverWithoutVirtualMemoryIsUsedAsItIs) {
  const auto ran = run("novmm");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_FALSE(ran.processes[0].is(Fact::driver_proven));
  EXPECT_TRUE(ran.processes[0].is(Fact::driver_unproven));
  EXPECT_GT(ran.processes[0].count(Counter::left_out_no_vmm), 0u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 0u);
}

TEST_P(WayToTheDriver, AContextThatIsDestroyedLeavesNothingBehind) {
  const auto ran = run("destroy");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.findings.empty());
}

class Launching : public testing::TestWithParam<const char*> {
 protected:
  // Three launches over a block of 1,000 bytes, of which the last writes `last`.
  Guarded run(const std::string& last, const Settings& settings = {}) const {
    return run_guarded({DRIVER_PROGRAM, "dlsym", GetParam(), "3", last}, settings);
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, Launching, testing::Values("launch", "launch_ex"));

constexpr const char* kPastTheSlot = "3000000";
constexpr const char* kWriter = "fakeWrite(unsigned char*, unsigned long, int)";

TEST_P(Launching, AnErrorHasTheLaunchesThatMayHaveMadeIt) {
  const auto ran = run(kPastTheSlot);
  EXPECT_EQ(ran.exit, 7);
  ASSERT_EQ(ran.findings.size(), 1u);
  const auto& unfinished = ran.processes.at(0).unfinished;
  ASSERT_EQ(unfinished.size(), 3u);
  EXPECT_EQ(unfinished[0].kernel, kWriter);
  EXPECT_EQ(unfinished[0].grid[0], 4u);
  EXPECT_EQ(unfinished[0].block[0], 32u);
  ASSERT_EQ(unfinished[0].pointers.size(), 1u);
  EXPECT_EQ(unfinished[0].pointers[0].block.ordinal, 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::launches), 3u);
}

TEST_P(Launching, InBlockingModeThereIsButOne) {
  Settings settings;
  settings.launch = LaunchMode::blocking;
  const auto ran = run(kPastTheSlot, settings);
  EXPECT_EQ(ran.exit, 7);
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].call.find("cuLaunchKernel"), 0u);
  ASSERT_EQ(ran.processes.at(0).unfinished.size(), 1u);
  EXPECT_EQ(ran.processes[0].unfinished[0].ordinal, 3u);
}

TEST_P(Launching, ACheckAfterEachNamesTheOneBehindACanary) {
  Settings settings;
  EXPECT_EQ(run("1004", settings).findings.at(0).launch.ordinal, 0u);
  settings.check = Check::each_launch;
  const auto ran = run("1004", settings);
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].launch.ordinal, 3u);
  EXPECT_EQ(ran.findings[0].launches_since_right, 1u);
  EXPECT_EQ(ran.findings[0].launch.kernel, kWriter);
}

// Those of other kernels are launched as without the settings, and counted.
TEST_P(Launching, OnlyKernelsThatAreNamedAreWaitedFor) {
  Settings settings;
  settings.check = Check::each_launch;
  std::strcpy(settings.kernels, "^fakeRead");
  const auto others = run("1004", settings);
  EXPECT_EQ(others.findings.at(0).launch.ordinal, 0u);
  EXPECT_EQ(others.processes.at(0).count(Counter::launches_unnamed), 3u);
  std::strcpy(settings.kernels, "^fakeWrite\\(");
  const auto named = run("1004", settings);
  EXPECT_EQ(named.findings.at(0).launch.ordinal, 3u);
  EXPECT_EQ(named.processes.at(0).count(Counter::launches_unnamed), 0u);
  settings = {};
  settings.launch = LaunchMode::blocking;
  std::strcpy(settings.kernels, "^fakeRead");
  EXPECT_EQ(run(kPastTheSlot, settings).processes.at(0).unfinished.size(), 3u);
  settings.launch = LaunchMode::held;
  const auto held =
      run_guarded({DRIVER_PROGRAM, "dlsym", GetParam(), "40", "1000"}, settings).processes.at(0);
  EXPECT_EQ(held.count(Counter::streams_held), 0u);
}

// The context is gone though its destruction has returned an error, and its kernels with it.
TEST(ReusedHandle, IsAskedAgainForItsParameters) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "launch_reused"}, {});
  EXPECT_EQ(ran.exit, 128 + SIGKILL);
  const auto& launches = ran.processes.at(0).launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, "other(void*)");
  EXPECT_EQ(launches[0].arguments.size(), 1u);
  EXPECT_EQ(launches[1].kernel, kWriter);
}

class FoundKernel : public testing::TestWithParam<const char*> {
 protected:
  // Of the two, the later one first.
  std::vector<guard::KernelLaunch> launches(const char* names) const {
    return run_guarded({DRIVER_PROGRAM, "dlsym", "launch_found", GetParam(), names}, {})
        .processes.at(0)
        .launches;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, FoundKernel,
                         testing::Values("kernels", "functions", "loaded", "kernel_function"));

TEST_P(FoundKernel, IsKnownByNameAndParameters) {
  const auto all = launches("names");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kernel, kWriter);
  EXPECT_EQ(all[1].kernel, kWriter);
  EXPECT_EQ(all[0].arguments.size(), 3u);
  // A function that is not loaded has no parameters until its first launch.
  EXPECT_EQ(all[1].arguments.size(), GetParam() == std::string("functions") ? 0u : 3u);
}

TEST_P(FoundKernel, HasCompletedOnceAnEventBehindItHasPassed) {
  const auto all = launches("names");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].state, LaunchState::launched) << "it came after the event";
  EXPECT_EQ(all[1].state, LaunchState::completed);
}

TEST_P(FoundKernel, OfAnOldDriverHasTheNameThatTheProgramAskedFor) {
  const auto all = launches("none");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kernel, GetParam() == std::string("kernel_function") ? kWriter : "");
}

TEST(KilledProcess, HasItsLastLaunches) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "launch_killed"}, {});
  EXPECT_EQ(ran.exit, 128 + SIGKILL);
  const auto& launches = ran.processes.at(0).launches;
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[0].ordinal, 3u);
  EXPECT_EQ(launches[0].kernel, kWriter);
  EXPECT_EQ(launches[0].state, LaunchState::completed);
  EXPECT_FALSE(ran.processes[0].is(Fact::ended));
}

TEST_P(Launching, HeldStreamsChangeNothingOfAProgramThatWaits) {
  Settings settings;
  settings.launch = LaunchMode::held;
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", GetParam(), "40", "1000"}, settings);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.findings.empty());
  EXPECT_GT(ran.processes.at(0).count(Counter::streams_held), 0u);
}

class Telling : public testing::TestWithParam<const char*> {};

TEST_P(Telling, ACallThatReturnsTheErrorIsNamed) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "call_tells", GetParam()}, {});
  EXPECT_EQ(ran.exit, 7);
  ASSERT_EQ(ran.findings.size(), 1u);
  const std::string name(GetParam());
  EXPECT_EQ(ran.findings[0].call, name == "cuCtxSynchronize_v2" ? "cuCtxSynchronize" : name);
}

INSTANTIATE_TEST_SUITE_P(Calls, Telling,
                         testing::Values("cuLaunchKernel", "cuMemcpyDtoHAsync", "cuMemcpy2D",
                                         "cuCtxSynchronize_v2"));

class Touching : public testing::TestWithParam<const char*> {
 protected:
  // The guard page is before the block, so that what is behind it is memory.
  Guarded run(const char* beyond, bool guarded = true) const {
    Settings settings;
    settings.placement = Placement::guard_before;
    return run_guarded({DRIVER_PROGRAM, "dlsym", "touch", GetParam(), beyond}, settings, {},
                       guarded);
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, Touching,
                         testing::Values("cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2", "cuMemcpy",
                                         "cuMemsetD8Async", "cuMemsetD32_v2", "cuMemsetD2D16_v2",
                                         "cuMemcpy2D_v2", "cuMemcpy3D_v2", "cuMemcpyPeer",
                                         "cuMemcpy3DPeerAsync", "cuMemcpyAtoD_v2",
                                         "cuMemcpyBatchAsync_v2", "cuStreamWriteValue64_v2"));

TEST_P(Touching, WhatABlockHasIsNoFinding) {
  EXPECT_EQ(run("0", false).exit, 0);
  const auto ran = run("0");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.findings.empty());
}

TEST_P(Touching, WhatIsBeyondItIsAFindingThoughTheProgramGoesOn) {
  const auto ran = run("16");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  const auto& finding = ran.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::range);
  EXPECT_EQ(finding.side, Side::after);
  EXPECT_EQ(std::string(GetParam()).find(finding.call), 0u) << finding.call;
  ASSERT_FALSE(finding.where.empty());
  ASSERT_FALSE(finding.allocated.empty());
}

TEST(DriverProcess, ACaptureOfTheThreadsStreamEndsUnderEachOfItsNames) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "thread_capture"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 2u);
  EXPECT_EQ(ran.processes[0].count(Counter::frees_deferred), 0u);
}

TEST(DriverProcess, AMistakeInALoopHidesNoOther) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "repeat"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 2u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::bad_free);
  EXPECT_EQ(ran.findings[0].times, 100u);
  EXPECT_EQ(ran.findings[1].kind, FindingKind::range);
  EXPECT_EQ(ran.processes.at(0).count(Counter::findings_dropped), 0u);
}

TEST(DriverProcess, AVersionThatTheGuardDoesNotKnowIsLeftAlone) {
  EXPECT_EQ(run_guarded({DRIVER_PROGRAM, "dlsym", "newer"}, {}, {}, false).exit, 0);
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "newer"}, {});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.processes.at(0).count(Counter::newer_versions), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 3u);
}

TEST(DriverProcess, MemoryOfPoolsElsewhereIsTheDriversOwn) {
  EXPECT_EQ(run_guarded({DRIVER_PROGRAM, "dlsym", "pools"}, {}, {}, false).exit, 0);
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "pools"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::left_out_pool), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::ipc_refused), 1u);
}

TEST(DriverProcess, CanariesAreComparedBeforeAPrimaryContextIsReleased) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "release"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(ran.findings[0].kind, FindingKind::canary);
}

TEST(DriverProcess, AChildOfAProcessThatHasNotUsedTheDriverIsGuarded) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "fork"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 2u);
  const bool first = ran.processes[0].count(Counter::device_blocks) != 0;
  const ProcessRecord& child = ran.processes[first ? 0 : 1];
  EXPECT_EQ(child.count(Counter::device_blocks), 3u);
  EXPECT_TRUE(child.is(Fact::driver_proven));
}

// The driver may hand out other addresses than dlsym() does: then the name decides.
TEST(DriverProcess, PrivateEntriesAreGuardedByName) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "proc", "private"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 3u);
  EXPECT_TRUE(ran.processes[0].is(Fact::driver_proven));
}

TEST(DriverProcess, AProgramThatAllocatesNothingIsNotProven) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "none"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_TRUE(ran.processes[0].is(Fact::driver_seen));
  EXPECT_FALSE(ran.processes[0].is(Fact::driver_proven));
}

TEST(DriverProcess, ALookupOfTheNextDefinitionIsCounted) {
  const auto ran = run_guarded({DRIVER_PROGRAM_LINKED, "link", "next"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::next_lookups), 1u);
}

TEST(DriverProcess, WithoutADriverTheProgramSeesNone) {
  const auto ran = run_guarded({DRIVER_PROGRAM, "absent"}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_FALSE(ran.processes[0].is(Fact::driver_present));
}

TEST(DriverProcess, SettingsWithoutTheDriverLeaveItAlone) {
  Settings settings;
  settings.driver = false;
  const auto ran = run_guarded({DRIVER_PROGRAM, "dlsym", "use"}, settings);
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_EQ(ran.processes[0].count(Counter::device_blocks), 0u);
}

// ctypes releases the interpreter's lock for a call, as PyTorch does before it allocates.
TEST(DriverProcess, AnAllocationWithoutTheInterpretersLockHasItsLines) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import ctypes\n"
      "cuda = ctypes.CDLL('libcuda.so.1')\n"
      "context, block = ctypes.c_void_p(), ctypes.c_uint64()\n"
      "assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
      "def make():\n"
      "    assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1000)) == 0\n"
      "class Model:\n"
      "    def run(self):\n"
      "        make()\n"
      "Model().run()\n"
      "cuda.fakeLaunchWrite(block, ctypes.c_size_t(1004), 1, None)\n"
      "assert cuda.cuCtxSynchronize() == 0\n"
      "assert cuda.cuMemFree_v2(block) == 0\n"
      "assert cuda.cuCtxSynchronize() == 0\n";
  const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, {});
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.findings.size(), 1u);
  const auto lines = [](const std::vector<guard::PythonFrame>& frames) {
    std::vector<std::string> out;
    for (const auto& frame : frames)
      out.push_back(frame.function + " " + std::to_string(frame.line));
    return out;
  };
  EXPECT_EQ(lines(ran.findings[0].python_allocated),
            (std::vector<std::string>{"make 6", "Model.run 9", "<module> 10"}));
  EXPECT_EQ(lines(ran.findings[0].python_freed), std::vector<std::string>{"<module> 13"});
  EXPECT_EQ(ran.findings[0].python_allocated[0].file, "<string>");
}

// An ordinary call of the real dlsym() would change what these lookups find.
TEST(DriverProcess, LookupsSeeTheirOwnCaller) {
  EXPECT_EQ(run_guarded({SCOPE_PROGRAM, SCOPE_LOCAL}, {}, {}, false).exit, 0);
  const auto ran = run_guarded({SCOPE_PROGRAM, SCOPE_LOCAL}, {});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.processes.size(), 1u);
}

}  // namespace
}  // namespace redzone::interpose
