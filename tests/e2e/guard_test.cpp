// `redzone guard` over real programs: on the CPU, and over a stand-in for the driver.
#include <gtest/gtest.h>

#include <cstdlib>

#include "e2e/cli.h"
#include "e2e/guarded_program.h"

namespace redzone::e2e {
namespace {

class Guarded : public testing::Test {
 protected:
  Ran guard(const Arguments& options, const Arguments& command) const {
    Arguments all{"guard"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return redzone(folder_, all);
  }
  Json report(Arguments options, const Arguments& command, int exit) const {
    const std::string file = folder_ / "report.json";
    options.insert(options.end(), {"--json", "--output", file});
    const Ran ran = guard(options, command);
    EXPECT_EQ(ran.exit, exit) << ran;
    return Json::parse(read_text(file), nullptr, false);
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TempFolder folder_;
};

TEST_F(Guarded, AnOverrunOnTheCpu) {
  const Ran ran = guard({"--cpu"}, {HOST_PROGRAM, "write_after"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(ran.out, "") << "the program prints nothing";
  EXPECT_TRUE(has(ran.err, "finding 1: guard-page: write in ")) << ran;
  EXPECT_TRUE(has(ran.err, "make_buffer")) << ran;
  EXPECT_TRUE(has(ran.err, "1 byte after a live block of 4,000 bytes")) << ran;
  EXPECT_TRUE(has(ran.err, "1 finding; the program was ended by signal 11; exit code 1\n")) << ran;
}

TEST_F(Guarded, TheCodeOfAFindingIsChosen) {
  EXPECT_EQ(guard({"--cpu", "--error-exitcode", "77"}, {HOST_PROGRAM, "slack"}).exit, 77);
}

TEST_F(Guarded, WithoutAFindingTheProgramsCodeIsPassedOn) {
  EXPECT_EQ(guard({"--cpu"}, {"sh", "-c", "exit 42"}).exit, 42);
  EXPECT_EQ(guard({"--cpu"}, {"sh", "-c", "kill -9 $$"}).exit, 137);
}

TEST_F(Guarded, TheProgramsOutputIsItsOwn) {
  const Ran ran = guard({"--cpu"}, {"sh", "-c", "echo out; echo err >&2; cat"});
  EXPECT_EQ(ran.out, "out\n") << ran;
  EXPECT_TRUE(ran.err.starts_with("err\n")) << ran;
  EXPECT_TRUE(has(ran.err, "redzone guard: no finding")) << ran;
}

TEST_F(Guarded, JsonFollowsTheProgramsOutput) {
  const Ran ran = guard({"--cpu", "--json"}, {HOST_PROGRAM, "after_free"});
  EXPECT_EQ(ran.exit, 1);
  const Json json = ran.json();
  ASSERT_FALSE(json.is_discarded()) << ran;
  EXPECT_EQ(json["findings"][0]["kind"], "after-free");
  EXPECT_EQ(json["findings"][0]["block"]["freed"], true);
  EXPECT_EQ(json["signal"], 11);
}

TEST_F(Guarded, ChildrenAreGuarded) {
  const Json json = report({"--cpu"}, {"sh", "-c", kQuotedProgram + " slack; exit 3"}, 1);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_GE(json["processes"].size(), 2u);
  EXPECT_EQ(json["findings"].size(), 1u);
}

// The record survives what the process does not.
TEST_F(Guarded, AProgramThatClosesItsDescriptorsOrIsKilled) {
  const std::string program = kQuotedProgram;
  EXPECT_EQ(guard({"--cpu"}, {"sh", "-c", "exec 2>&- 1>&- 0<&-; " + program + " slack"}).exit, 1);
  const Json json = report({"--cpu"}, {"sh", "-c", program + " slack; kill -9 $$"}, 1);
  EXPECT_EQ(json["signal"], 9);
}

TEST_F(Guarded, WithoutCudaNothingIsJudged) {
  const Ran ran = guard({}, {"sh", "-c", "exit 0"});
  EXPECT_EQ(ran.exit, 125) << ran;
  EXPECT_TRUE(has(ran.err, "nothing was judged; the program exited with 0; exit code 125")) << ran;
  EXPECT_TRUE(has(ran.err, "--cpu guards malloc()")) << ran;
  EXPECT_FALSE(has(guard({"--cpu"}, {"sh", "-c", "exit 0"}).err, "--cpu guards malloc()"));
}

TEST_F(Guarded, AProgramThatHangsIsEndedAndReported) {
  const Ran ran = guard({"--cpu", "--time", "1s"}, {"sleep", "600"});
  EXPECT_EQ(ran.exit, 124) << ran;
  EXPECT_TRUE(has(ran.err, "no finding; the program was ended because its time was over")) << ran;
  const std::string program = kQuotedProgram;
  const Arguments found{"sh", "-c", program + " slack; exec sleep 600"};
  EXPECT_EQ(guard({"--cpu", "--time", "1s"}, found).exit, 1);
}

TEST_F(Guarded, OverTheDriver) {
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  EXPECT_EQ(guard({}, {DRIVER_PROGRAM, "dlsym", "use"}).exit, 0);
  EXPECT_EQ(guard({"--placement", "guard_before"}, {DRIVER_PROGRAM, "proc", "use"}).exit, 0);
  const auto tables = [&](const Arguments& options) {
    return has(guard(options, {DRIVER_PROGRAM, "dlsym", "tables"}).err, "1 tables of functions");
  };
  EXPECT_FALSE(tables({}));
  EXPECT_TRUE(tables({"-v"}));
  const Json dirty = report({}, {DRIVER_PROGRAM, "proc", "dirty"}, 1);
  EXPECT_EQ(dirty["findings"][0]["kind"], "canary");
  EXPECT_EQ(dirty["findings"][0]["memory"], "device");
  EXPECT_EQ(dirty["processes"][0]["state"], "judged");
  const Json overrun = report({}, {DRIVER_PROGRAM, "dlsym", "overrun"}, 1);
  EXPECT_EQ(overrun["findings"][0]["code"], 700);
  EXPECT_EQ(overrun["exit_code"], 7);
  const Json old = report({}, {DRIVER_PROGRAM, "dlsym", "novmm"}, 125);
  EXPECT_EQ(old["processes"][0]["state"], "not proven");
  EXPECT_EQ(old["judged"], false);
  EXPECT_EQ(old["processes_to_guard"], 1);
  EXPECT_EQ(old["processes_not_judged"], 1);
  ::unsetenv("LD_LIBRARY_PATH");
}

TEST_F(Guarded, TheLaunchBehindACanaryAndAnError) {
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  const Arguments slack{DRIVER_PROGRAM, "dlsym", "launch", "3", "1004"};
  const Ran once = guard({}, slack);
  EXPECT_FALSE(has(once.err, "launch 3")) << once;
  for (const Arguments& options : {Arguments{"--narrow"}, Arguments{"--check", "each-launch"}}) {
    const Ran ran = guard(options, slack);
    EXPECT_EQ(ran.exit, 1) << ran;
    EXPECT_TRUE(has(ran.err,
                    "first after fakeWrite(unsigned char*, unsigned long, int) (launch 3, "
                    "grid 4 x 1 x 1, block 32 x 1 x 1, the default stream)"))
        << ran;
    EXPECT_TRUE(has(ran.err, "argument 1 points to the live block 1 of 1,000 bytes")) << ran;
  }
  const Arguments fault{DRIVER_PROGRAM, "dlsym", "launch", "3", "3000000"};
  EXPECT_TRUE(has(guard({}, fault).err, "3 launches were not known to have completed"));
  EXPECT_TRUE(has(guard({"--launch", "blocking"}, fault).err, "one launch was not known"));
  const Json killed = report({}, {DRIVER_PROGRAM, "dlsym", "launch_killed"}, 137);
  EXPECT_EQ(killed["processes"][0]["launches"].size(), 3u);
  EXPECT_EQ(killed["processes"][0]["launches"][0]["state"], "completed");
  const Json ended = report({}, {DRIVER_PROGRAM, "dlsym", "launch", "3", "1000"}, 0);
  EXPECT_EQ(ended["processes"][0]["launches"].size(), 0u);
  const Json named = report({"--narrow"}, fault, 1);
  EXPECT_EQ(named["findings"][0]["signature"], "device-error: error 700 in fakeWrite");
  EXPECT_EQ(named["findings"][0]["launch"]["ordinal"], 3);
  EXPECT_EQ(named["findings"][0]["call"], "cuCtxSynchronize");
  const Json json = report({"--launch", "held", "--seed", "7"}, fault, 1);
  EXPECT_EQ(json["settings"]["launch"], "held");
  EXPECT_EQ(json["processes"][0]["unfinished"].size(), 3u);
  EXPECT_EQ(json["processes"][0]["unfinished"][0]["arguments"][1]["value"], "0x2dc6c0");
  ::unsetenv("LD_LIBRARY_PATH");
}

TEST_F(Guarded, FrameworksAreToldByTheEnvironment) {
  const Arguments program{"sh", "-c", "echo $PYTORCH_NO_CUDA_MEMORY_CACHING"};
  const Ran ran = guard({"--framework", "torch-nocache"}, program);
  EXPECT_EQ(ran.out, "1\n") << ran;
  EXPECT_TRUE(ran.err.starts_with("framework: PYTORCH_NO_CUDA_MEMORY_CACHING=1 is set\n")) << ran;
  EXPECT_EQ(guard({}, program).out, "\n") << "sh is no Python program";
}

// A stand-in for torch that calls the functions it is given as PyTorch does, over the stand-in for
// the driver.
TEST_F(Guarded, TorchAllocatesThroughTheGuard) {
  folder_.write("torch.py", "LIBRARY = '" TORCH_LIBRARY R"('
import ctypes, sys
ctypes.CDLL(LIBRARY)
cuda = memory = sys.modules[__name__]
class _C:
    def _cuda_init():
        pass
class version:
    cuda = "13.0"
class Setters:
    def __getattr__(self, name):
        return lambda address: None
class CUDAPluggableAllocator:
    def __init__(self, path, allocate, free):
        library = ctypes.CDLL(path)
        self.allocate, self.free = getattr(library, allocate), getattr(library, free)
        self.allocate.restype = ctypes.c_void_p
    def allocator(self):
        return Setters()
def change_current_allocator(allocator):
    global current
    current = allocator
)");
  const std::string program = R"(
import ctypes, torch
torch._C._cuda_init()
driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
block = ctypes.c_void_p(torch.current.allocate(ctypes.c_ssize_t(1000), 0, None))
driver.fakeLaunchWrite(block, ctypes.c_size_t(1004), 1, None)
torch.current.free(block, ctypes.c_ssize_t(1000), 0, None)
driver.cuCtxSynchronize()
)";
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  ::setenv("PYTHONPATH", folder_.path().c_str(), 1);
  const Ran ran = guard({"--framework", "auto"}, {"python3", "-c", program});
  EXPECT_EQ(ran.exit, 1) << ran;
  const std::string first = ran.err.substr(0, ran.err.find('\n'));
  EXPECT_TRUE(first.starts_with("framework: the allocator of PyTorch and CuPy is replaced")) << ran;
  EXPECT_TRUE(has(first, "PyTorch's pluggable allocator: each tensor is a block")) << ran;
  EXPECT_TRUE(has(ran.err, "finding 1: canary: write after a block")) << ran;
  // A replay has the hooks of its own build, and not those that the store names.
  const Json shown = redzone(folder_, {"show", "1", "--json"}).json();
  EXPECT_FALSE(has(shown.dump(), "python_guard")) << shown;
  EXPECT_TRUE(has(shown.dump(), folder_.path().string())) << "the program's own PYTHONPATH";
  ::unsetenv("PYTHONPATH");
  const Ran replayed = redzone(folder_, {"replay", "1", "--runs", "1"});
  EXPECT_EQ(replayed.exit, 1) << replayed;
  const Ran other = guard({"--framework", "auto"}, {"python3", "-E", "-c", "pass"});
  EXPECT_EQ(other.exit, 125) << "it has allocated nothing";
  ::unsetenv("PYTHONPATH");
  ::unsetenv("LD_LIBRARY_PATH");
}

// What is accepted reaches the processes, which are left alone if they cannot read it.
TEST_F(Guarded, TheLargestValuesOfFlagsAreKept) {
  const Json json = report(
      {"--cpu", "--launch", "held", "--seed", "9223372036854775807", "--only",
       "1-4611686018427387904", "--max-memory", "16777216", "--align", "4096", "--poison", "none"},
      {HOST_PROGRAM, "use"}, 0);
  EXPECT_EQ(json["processes"].size(), 1u);
  EXPECT_EQ(json["settings"]["seed"], 9223372036854775807);
}

// The further run does not end; what the first one showed is there before it, and its output alone
// is that of the program.
TEST_F(Guarded, AFurtherRunThatHangsLosesNothing) {
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  const Arguments program{
      "sh", "-c",
      "echo started; case \"$REDZONE_GUARD_SETTINGS\" in *launch=1*) exec sleep "
      "600;; esac; exec \"$0\" dlsym launch 3 3000000",
      DRIVER_PROGRAM};
  const Ran ran = guard({"--narrow"}, program);
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_EQ(ran.out, "started\n") << ran;
  const auto first = ran.err.find("3 launches were not known to have completed");
  const auto again = ran.err.find("the program runs again, waiting for each launch, for at most");
  EXPECT_LT(first, again) << ran;
  EXPECT_NE(again, std::string::npos) << ran;
  EXPECT_TRUE(has(ran.err, "the further run took too long")) << ran;
  ::unsetenv("LD_LIBRARY_PATH");
}

// A shell that becomes the program has the same number.
TEST_F(Guarded, LaunchesBehindExecAreInTheReport) {
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  const Ran ran = guard({}, {"sh", "-c", "exec \"$0\" dlsym launch 3 3000000", DRIVER_PROGRAM});
  EXPECT_TRUE(has(ran.err, "3 launches were not known to have completed")) << ran;
  ::unsetenv("LD_LIBRARY_PATH");
}

// The record does not fit, so the process is in no list; it goes on.
TEST_F(Guarded, ALimitOfFileSizeEndsNoProgram) {
  const Ran ran =
      guard({"--cpu"}, {"sh", "-c", "ulimit -f 100; \"$0\" use; echo \"$?\"", HOST_PROGRAM});
  EXPECT_EQ(ran.out, "0\n") << ran;
}

TEST_F(Guarded, OneRunShowsAllOfTheCpu) {
  const Json json = report({"--cpu", "--on-error", "continue"}, {HOST_PROGRAM, "several"}, 1);
  EXPECT_EQ(json["findings"].size(), 4u);
  EXPECT_EQ(json["exit_code"], 6);
  EXPECT_EQ(json["counters"]["faults_survived"], 4);
}

TEST_F(Guarded, WhatCannotBeGuarded) {
  const auto line = [&](const Arguments& command, int exit, const std::string& word) {
    const Ran ran = guard({}, command);
    EXPECT_EQ(ran.exit, exit) << ran;
    EXPECT_TRUE(has(ran.err, word)) << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  };
  line({"/no/such/program"}, 127, "no such program");
  line({folder_.path().string()}, 126, "not executable");
  line({STATIC_PROGRAM}, 125, "statically linked");
}

TEST_F(Guarded, WrongFlagsAreErrorsOfTheGuard) {
  for (const Arguments& wrong :
       {Arguments{"--align", "3"}, Arguments{"--align", "8192"}, Arguments{"--placement", "both"},
        Arguments{"--retire", "none"}, Arguments{"--poison", "256"}, Arguments{"--poison", "red"},
        Arguments{"--min-bytes", "0"}, Arguments{"--max-memory", "0"},
        Arguments{"--error-exitcode", "0"}, Arguments{"--error-exitcode", "256"},
        Arguments{"--launch", "late"}, Arguments{"--check", "often"},
        Arguments{"--on-error", "ignore"}, Arguments{"--seed", "-1"},
        Arguments{"--seed", "9223372036854775808"}, Arguments{"--seed", "18446744073709551615"},
        Arguments{"--framework", "tensorflow"}, Arguments{"--colour"}}) {
    const Ran ran = guard(wrong, {"true"});
    EXPECT_EQ(ran.exit, 125) << wrong[0] << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  }
  EXPECT_EQ(guard({}, {}).exit, 125);
}

TEST_F(Guarded, NothingRunsWhoseReportCannotBeWritten) {
  const Ran ran = guard({"--cpu", "--output", folder_ / "none/report"}, {"/bin/echo", "ran"});
  EXPECT_EQ(ran.exit, 125) << ran;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "none/report: cannot be written")) << ran;
}

TEST_F(Guarded, FlagsOfTheProgramAreNotTheGuards) {
  const Ran ran =
      guard({"--cpu"}, {"sh", "-c", "echo \"$@\"", "x", "--help", "--", "--json", "-v"});
  EXPECT_EQ(ran.out, "--help -- --json -v\n") << ran;
}

}  // namespace
}  // namespace redzone::e2e
