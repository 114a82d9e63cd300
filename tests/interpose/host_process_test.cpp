// Programs on the CPU with the library preloaded.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "interpose/guarded.h"

namespace redzone::interpose {
namespace {

using guard::Finding;

Settings on_the_cpu() {
  Settings out;
  out.cpu = true;
  return out;
}

Guarded run(const char* deed, const Settings& settings = on_the_cpu()) {
  return run_guarded({HOST_PROGRAM, deed}, settings);
}

Finding only(const Guarded& ran) {
  EXPECT_EQ(ran.findings.size(), 1u);
  return ran.findings.empty() ? Finding() : ran.findings[0];
}

bool has_function(const std::vector<guard::Frame>& frames, const std::string& name) {
  for (const auto& frame : frames)
    if (frame.function.find(name) != std::string::npos) return true;
  return false;
}

TEST(HostProcess, AllocationsWorkAsTheyDoWithoutIt) {
  EXPECT_EQ(run_guarded({HOST_PROGRAM, "use"}, {}, {}, false).exit, 0);
  for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
    Settings settings = on_the_cpu();
    settings.placement = placement;
    const auto ran = run("use", settings);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_TRUE(ran.findings.empty());
    ASSERT_EQ(ran.processes.size(), 1u);
    EXPECT_TRUE(ran.processes[0].is(Fact::cpu_proven));
    EXPECT_TRUE(ran.processes[0].is(Fact::ended));
    EXPECT_GT(ran.processes[0].count(Counter::host_blocks), 1000u);
  }
}

// One run shows them all, and the program ends as it would have.
TEST(HostProcess, WithOnErrorContinueTheProgramGoesOn) {
  Settings settings = on_the_cpu();
  settings.on_error = OnError::go_on;
  const auto ran = run("several", settings);
  EXPECT_EQ(ran.exit, 6);
  ASSERT_EQ(ran.findings.size(), 4u);
  const auto is = [&](std::size_t i, FindingKind kind, Access access, Side side) {
    EXPECT_EQ(ran.findings[i].kind, kind) << i;
    EXPECT_EQ(ran.findings[i].access, access) << i;
    EXPECT_EQ(ran.findings[i].side, side) << i;
  };
  is(0, FindingKind::guard_page, Access::write, Side::after);
  is(1, FindingKind::guard_page, Access::read, Side::after);
  is(2, FindingKind::guard_page, Access::read, Side::before);
  is(3, FindingKind::after_free, Access::read, Side::inside);
  EXPECT_EQ(ran.processes.at(0).count(Counter::faults_survived), 4u);
}

TEST(HostProcess, MemoryThatTheProgramProtectsIsNotReplaced) {
  Settings settings = on_the_cpu();
  settings.on_error = OnError::go_on;
  EXPECT_EQ(run("protected", settings).exit, 128 + SIGSEGV);
}

TEST(HostProcess, AnAccessThatCannotBeRepeatedEndsTheProgram) {
  Settings settings = on_the_cpu();
  settings.on_error = OnError::go_on;
  const auto jump = run("jump", settings);
  EXPECT_EQ(jump.exit, 128 + SIGSEGV);
  EXPECT_EQ(only(jump).access, Access::execute);
  EXPECT_EQ(run("protected_later", settings).exit, 128 + SIGSEGV);
}

TEST(HostProcess, MemoryThatNoBlockHasHadYetIsNotReplaced) {
  Settings settings = on_the_cpu();
  settings.on_error = OnError::go_on;
  EXPECT_EQ(run("far", settings).exit, 128 + SIGSEGV);
}

TEST(HostProcess, ThreadsThatFaultOnOnePageKeepTheirWrites) {
  Settings settings = on_the_cpu();
  settings.on_error = OnError::go_on;
  EXPECT_EQ(run("together", settings).exit, 0);
}

// `main` lets `make` allocate a block, and writes past its end.
TEST(HostProcess, AnAllocationOfAPythonProgramHasItsLines) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import ctypes\n"
      "def make():\n"
      "    return ctypes.create_string_buffer(4000)\n"
      "def main():\n"
      "    block = make()\n"
      "    ctypes.memset(ctypes.addressof(block) + 4000, 1, 1)\n"
      "main()\n";
  for (const bool wanted : {true, false}) {
    Settings settings = on_the_cpu();
    settings.python = wanted;
    const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, settings);
    EXPECT_EQ(ran.exit, 128 + SIGSEGV);
    const Finding found = only(ran);
    EXPECT_EQ(found.kind, FindingKind::guard_page);
    EXPECT_EQ(found.block.bytes, 4000u);
    std::vector<std::string> lines;  // those that are not of ctypes
    for (const auto& line : found.python_allocated)
      if (line.file == "<string>") lines.push_back(line.function + " " + std::to_string(line.line));
    const std::vector<std::string> expected{"make 3", "main 5", "<module> 7"};
    EXPECT_EQ(lines, wanted ? expected : std::vector<std::string>());
  }
}

// The path and the function are not ASCII.
TEST(HostProcess, LinesOfPythonHaveTheNamesOfTheProgram) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import ctypes\n"
      "names = {'ctypes': ctypes}\n"
      "exec(compile('def gr\\u00f6\\u00dfe():\\n return ctypes.create_string_buffer(4000)\\n',\n"
      "             '/tmp/j\\u00fcrgen/\\u6f22\\U0001d11e.py', 'exec'), names)\n"
      "block = names['gr\\u00f6\\u00dfe']()\n"
      "ctypes.memset(ctypes.addressof(block) + 4000, 1, 1)\n";
  const Finding found = only(run_guarded({PYTHON, "-S", "-E", "-c", program}, on_the_cpu()));
  const auto is_named = [](const auto& line) {
    return line.file == "/tmp/j\u00fcrgen/\u6f22\U0001d11e.py" &&
           line.function == "gr\u00f6\u00dfe" && line.line == 2;
  };
  const auto& lines = found.python_allocated;
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_named), 1);
}

// The code, its path and its name get the addresses of one whose line is known and which is gone.
// The size of the block tells which code it was.
TEST(HostProcess, LinesOfPythonAreOfTheCodeThatRuns) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import ctypes, sys, types\n"
      "libc = ctypes.CDLL(None)\n"
      "libc.malloc.restype = ctypes.c_void_p\n"
      "libc.malloc.argtypes = [ctypes.c_size_t]\n"
      "names = {'malloc': libc.malloc}\n"
      "seen = set()\n"
      "for i in range(3000):\n"
      "    code = compile('def stage_%05d(n):\\n return malloc(n)\\n' % i,\n"
      "                   '/kernels/%05d.py' % i, 'exec')\n"
      "    f = types.FunctionType(code.co_consts[0], names)\n"
      "    del code\n"
      "    where = f.__code__\n"
      "    where = (id(where), id(where.co_filename), id(where.co_qualname))\n"
      "    block = f(4000 + 16 * i)\n"
      "    if where in seen: ctypes.memset(block + 4000 + 16 * i, 1, 1)\n"
      "    seen.add(where)\n"
      "    del f\n";
  const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, on_the_cpu());
  if (ran.exit == 0) GTEST_SKIP() << "this interpreter has used no address twice";
  const Finding found = only(ran);
  ASSERT_FALSE(found.python_allocated.empty());
  char expected[32];
  std::snprintf(expected, sizeof expected, "/kernels/%05d.py",
                static_cast<int>((found.block.bytes - 4000) / 16));
  EXPECT_EQ(found.python_allocated[0].file, expected);
}

// Whatever of the interpreter's allocator is in the midst of an allocation when it is guarded.
TEST(HostProcess, TheInterpretersAllocatorIsNotEnteredTwice) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import os\n"
      "for _ in range(200):\n"
      "    os.listdir('/')\n"
      "exec(compile('x = [' + '1, ' * 5000 + ']', 'generated', 'exec'))\n";
  for (const std::size_t least : {1, 1024, 16000, 32000, 64000}) {
    Settings settings = on_the_cpu();
    settings.min_bytes = least;
    for (int i = 0; i < 4; ++i) {
      const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, settings);
      EXPECT_EQ(ran.exit, 0) << least;
      EXPECT_TRUE(ran.findings.empty()) << least;
    }
  }
}

// Threads without the interpreter's lock, a fork, and what runs while the interpreter ends.
TEST(HostProcess, PythonProgramsWorkAsTheyDoWithoutTheGuard) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  const std::string program =
      "import os, sys, threading, gc, atexit, json, zlib\n"
      "class Last:\n"
      "    def __del__(self):\n"
      "        self.more = bytearray(5000)\n"
      "keep = Last()\n"
      "def work(n):\n"
      "    for i in range(100):\n"
      "        zlib.compress(bytearray(20000 + n))\n"
      "        json.loads(json.dumps([{'a': [1] * 500}] * 5))\n"
      "    gc.collect()\n"
      "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
      "for t in threads: t.start()\n"
      "for t in threads: t.join()\n"
      "pid = os.fork()\n"
      "if pid == 0:\n"
      "    work(1)\n"
      "    os._exit(5)\n"
      "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5\n"
      "atexit.register(work, 1)\n"
      "try:\n"
      "    raise ValueError(bytearray(9000))\n"
      "except ValueError as error:\n"
      "    assert len(error.args[0]) == 9000\n"
      "sys.exit(4)\n";
  const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, on_the_cpu());
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(ran.findings.empty());
}

TEST(HostProcess, AWriteAfterABlock) {
  const auto ran = run("write_after");
  EXPECT_EQ(ran.exit, 128 + SIGSEGV) << "as without the guard";
  const Finding found = only(ran);
  EXPECT_EQ(found.kind, FindingKind::guard_page);
  EXPECT_EQ(found.access, Access::write);
  EXPECT_EQ(found.side, Side::after);
  EXPECT_EQ(found.distance_bytes, 1u);
  EXPECT_EQ(found.block.bytes, 4000u);
  EXPECT_FALSE(found.block.freed);
  EXPECT_EQ(found.code, SIGSEGV);
  ASSERT_FALSE(found.where.empty());
  EXPECT_NE(found.where[0].function.find("write_at"), std::string::npos) << found.where[0].function;
  EXPECT_TRUE(has_function(found.where, "main"));
  ASSERT_FALSE(found.allocated.empty());
  EXPECT_NE(found.allocated[0].function.find("make_buffer"), std::string::npos);
  EXPECT_TRUE(found.freed.empty());
}

// The plain program reads what is there.
TEST(HostProcess, AReadAfterABlock) {
  EXPECT_LT(run_guarded({HOST_PROGRAM, "read_after"}, {}, {}, false).exit, 128);
  const Finding found = only(run("read_after"));
  EXPECT_EQ(found.access, Access::read);
  EXPECT_EQ(found.side, Side::after);
  EXPECT_EQ(found.distance_bytes, 8u);
}

TEST(HostProcess, AReadBeforeABlock) {
  Settings settings = on_the_cpu();
  EXPECT_TRUE(run("read_before", settings).findings.empty()) << "the guard page is behind it";
  settings.placement = Placement::guard_before;
  const Finding found = only(run("read_before", settings));
  EXPECT_EQ(found.side, Side::before);
  EXPECT_EQ(found.distance_bytes, 1u);
}

TEST(HostProcess, AReadOfFreedMemory) {
  const Finding found = only(run("after_free"));
  EXPECT_EQ(found.kind, FindingKind::after_free);
  EXPECT_EQ(found.side, Side::inside);
  EXPECT_TRUE(found.block.freed);
  ASSERT_FALSE(found.freed.empty());
  EXPECT_NE(found.freed[0].function.find("drop_buffer"), std::string::npos);
}

TEST(HostProcess, AWriteIntoTheSlack) {
  for (const char* deed : {"slack", "slack_live"}) {
    const auto ran = run(deed);
    EXPECT_EQ(ran.exit, 0) << deed;
    const Finding found = only(ran);
    EXPECT_EQ(found.kind, FindingKind::canary);
    EXPECT_EQ(found.distance_bytes, 3u);
    EXPECT_EQ(found.wrong_bytes, 1u);
    EXPECT_EQ(found.block.freed, std::string(deed) == "slack");
  }
}

TEST(HostProcess, ASharperAlignmentLeavesNoSlack) {
  Settings settings = on_the_cpu();
  settings.align_bytes = 1;
  const Finding found = only(run("slack", settings));
  EXPECT_EQ(found.kind, FindingKind::guard_page);
  EXPECT_EQ(found.distance_bytes, 3u);
}

TEST(HostProcess, OnlyTheChosenBlocksAreGuarded) {
  const std::uint64_t block = only(run("slack")).block.ordinal;
  Settings settings = on_the_cpu();
  settings.only = {block, block};
  EXPECT_EQ(only(run("slack", settings)).block.ordinal, block);
  settings.only = {block + 1, block + 9};
  const auto others = run("slack", settings);
  EXPECT_TRUE(others.findings.empty());
  ASSERT_EQ(others.processes.size(), 1u);
  EXPECT_TRUE(others.processes[0].is(guard::Fact::cpu_proven));
  EXPECT_GT(others.processes[0].count(Counter::left_out_chosen), 0u);
}

TEST(HostProcess, AProcessTellsHowItWasStarted) {
  const auto ran = run("use");
  ASSERT_EQ(ran.processes.size(), 1u);
  const auto& started = ran.processes[0].started;
  EXPECT_EQ(started.argv, (std::vector<std::string>{HOST_PROGRAM, "use"}));
  EXPECT_EQ(started.folder, std::filesystem::current_path().string());
  const auto has = [&](const char* name) {
    return std::any_of(started.environment.begin(), started.environment.end(),
                       [&](const auto& variable) { return variable.name == name; });
  };
  EXPECT_TRUE(has("LD_LIBRARY_PATH"));
  EXPECT_FALSE(has("HOME")) << "not in the list";
}

TEST(HostProcess, WhetherPyTorchWasLoadedIsKnown) {
  if (std::string(PYTHON).empty()) GTEST_SKIP() << "no CPython 3.11 to 3.13 was found";
  for (const bool loads : {true, false}) {
    const std::string program =
        loads ? "import ctypes\nctypes.CDLL('" TORCH_LIBRARY "')\n" : "import ctypes\n";
    const auto ran = run_guarded({PYTHON, "-S", "-E", "-c", program}, on_the_cpu());
    ASSERT_EQ(ran.processes.size(), 1u);
    EXPECT_EQ(ran.processes[0].is(guard::Fact::torch_present), loads);
  }
}

TEST(HostProcess, WrongFrees) {
  const auto twice = run("double_free");
  EXPECT_EQ(twice.exit, 5);
  EXPECT_EQ(only(twice).kind, FindingKind::bad_free);
  EXPECT_TRUE(only(twice).block.freed);
  EXPECT_EQ(only(twice).call, "free");
  const Finding inner = only(run("inner_free"));
  EXPECT_EQ(inner.side, Side::inside);
  EXPECT_FALSE(inner.block.freed);
}

TEST(HostProcess, FaultsOfTheProgramAreItsOwn) {
  for (const char* deed : {"null", "sent"}) {
    const auto ran = run(deed);
    EXPECT_EQ(ran.exit, 128 + SIGSEGV) << deed;
    EXPECT_TRUE(ran.findings.empty()) << deed;
  }
}

TEST(HostProcess, TheProgramsHandlerIsCalled) {
  const auto ran = run("signal_handler");
  EXPECT_EQ(ran.exit, 9);
  EXPECT_EQ(only(ran).kind, FindingKind::guard_page);
  const auto twice = run("action");
  EXPECT_EQ(twice.exit, 0);
  EXPECT_EQ(only(twice).times, 2u) << "the same access";
}

TEST(HostProcess, AChildOfForkHasItsOwnRecord) {
  const auto ran = run("fork");
  EXPECT_EQ(ran.exit, 6);
  ASSERT_EQ(ran.processes.size(), 2u);
  EXPECT_EQ(only(ran).kind, FindingKind::guard_page);
  for (const auto& process : ran.processes)
    EXPECT_EQ(process.findings.empty(), process.is(Fact::ended)) << "the child was killed";
}

TEST(HostProcess, AChildOfVforkChangesNothing) {
  const auto ran = run("vfork");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 2u) << "the parent, and the program that the child has become";
  for (const auto& process : ran.processes) EXPECT_TRUE(process.is(Fact::ended));
}

TEST(HostProcess, AProgramAfterExecIsGuarded) {
  const auto ran = run("exec");
  EXPECT_EQ(ran.exit, 128 + SIGSEGV);
  ASSERT_EQ(ran.processes.size(), 2u);
  EXPECT_EQ(ran.processes[0].pid, ran.processes[1].pid);
  EXPECT_EQ(only(ran).kind, FindingKind::guard_page);
}

TEST(HostProcess, WhereTheSystemAllowsNoMoreMappingsTheRestIsCounted) {
  const auto ran = run("many");
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.processes.size(), 1u);
  const auto& process = ran.processes[0];
  EXPECT_GE(process.count(Counter::host_blocks) + process.count(Counter::left_out_mappings),
            40000u);
  EXPECT_TRUE(ran.findings.empty());
}

TEST(HostProcess, SmallBlocksAreLeftAlone) {
  Settings settings = on_the_cpu();
  settings.min_bytes = 1 << 20;
  const auto ran = run("", settings);
  ASSERT_EQ(ran.processes.size(), 1u);
  EXPECT_TRUE(ran.processes[0].is(Fact::cpu_proven));
  EXPECT_EQ(ran.processes[0].count(Counter::host_blocks), 0u) << "not the proof's own";
}

// The handlers interrupt allocations, whose lock they would wait for.
TEST(HostProcess, ForksAndEndsInASignalHandler) {
  EXPECT_EQ(run("fork_in_handler").exit, 0);
  EXPECT_EQ(run("exit_in_handler").exit, 7);
}

TEST(HostProcess, NoBlockIsAlignedToLessThanMallocPromises) {
  EXPECT_EQ(run("alignment").exit, 0);
}

TEST(HostProcess, ABlockThatGrowsIsGuarded) {
  const Finding found = only(run("grown"));
  EXPECT_EQ(found.kind, FindingKind::guard_page);
  EXPECT_EQ(found.block.bytes, 4000u);
}

TEST(HostProcess, AFaultThatIsSentAndIgnoredIsIgnored) {
  EXPECT_EQ(run("ignored").exit, 9);
}

TEST(HostProcess, AHandlerOfStandardCIsKept) {
  const auto ran = run("sysv_handler");
  EXPECT_EQ(ran.exit, 9);
  EXPECT_EQ(only(ran).kind, FindingKind::guard_page);
}

TEST(HostProcess, WithoutItsVariablesTheLibraryDoesNothing) {
  const auto ran = run_guarded({HOST_PROGRAM, "use"}, on_the_cpu(), {{kSettingsVariable, "cpu=7"}});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.processes.empty());
}

}  // namespace
}  // namespace redzone::interpose
