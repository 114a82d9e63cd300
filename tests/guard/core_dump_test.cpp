// The driver's core dumps of guarded processes, with a stand-in for cuda-gdb.
#include "guard/core_dump.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/temporary_folder.h"
#include "guard/program_run.h"
#include "interpose/record.h"

namespace redzone::guard {
namespace {

constexpr const char* kGdb =
    "CUDA Exception: Warp Illegal Address\n"
    "The exception was triggered at PC 0x7fff10  fill(float*, long, float)  (q.cu:4)\n"
    "=> 0x7fff10 <_Z4fillPflf+144>:\tSTG.E desc[UR4][R2.64], R7\n"
    "R2    0x1003    4099\nR3    0x0    0\n";

KernelLaunch launch(std::uint64_t ordinal, const char* kernel) {
  KernelLaunch out;
  out.ordinal = ordinal;
  out.kernel = kernel;
  return out;
}

class CoreDumps : public testing::Test {
 protected:
  // A process with an error, and a live block of 4,096 bytes that ends at 0x1000.
  std::vector<ProcessRecord> processes() {
    ProcessRecord out;
    out.pid = 77;
    out.file = folder_->path() / "77.0.record";
    Finding error;
    error.kind = FindingKind::device_error;
    error.on_device = true;
    error.code = 700;
    error.call = "cuCtxSynchronize";
    out.findings = {error};
    out.unfinished = {launch(9, "scan(int)"), launch(8, "fill(float*, long, float)")};
    interpose::BlockRecord block;
    block.address = 0;
    block.bytes = 0x1000;
    block.ordinal = 3;
    block.allocated.count = 1;
    block.allocated.addresses[0] = 0x20;
    write("77.0.blocks", {reinterpret_cast<const char*>(&block), sizeof block});
    return {out};
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_->path() / name, std::ios::binary) << text;
  }
  std::string tool(const std::string& script) const {
    write("gdb", "#!/bin/sh\n" + script);
    const auto file = folder_->path() / "gdb";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }
  const Finding& read(const std::string& script) {
    write("core.77", "a core dump");
    found_ = processes();
    was_read_ = read_core_dumps(found_, tool(script));
    return found_[0].findings[0];
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("core-dump-test");
  std::vector<ProcessRecord> found_;
  bool was_read_ = false;
};

TEST_F(CoreDumps, NameTheKernelTheAccessAndTheBlock) {
  const Finding& found = read("cat <<'END'\n" + std::string(kGdb) + "END\n");
  EXPECT_EQ(found.kernel, "fill");
  EXPECT_EQ(found.location, "q.cu:4");
  EXPECT_EQ(found.exception, "Warp Illegal Address");
  EXPECT_EQ(found.launch.ordinal, 8u);
  EXPECT_EQ(found.access, Access::write);
  EXPECT_EQ(found.address, 0x1003u);
  EXPECT_EQ(found.block.ordinal, 3u);
  EXPECT_EQ(found.side, Side::after);
  EXPECT_EQ(found.distance_bytes, 4u);
  EXPECT_EQ(found.allocated.size(), 1u);
  EXPECT_EQ(signature(found), "device-error: error 700 in fill");
}

TEST_F(CoreDumps, AreGivenToTheToolInTheOrderOfItsCommands) {
  read("echo \"$@\" > " + (folder_->path() / "words").string());
  std::string words;
  std::getline(std::ifstream(folder_->path() / "words") >> std::ws, words);
  EXPECT_EQ(words.find("-nx -batch -ex target cudacore " + (folder_->path() / "core.77").string()),
            0u);
}

TEST_F(CoreDumps, WithoutAnAddressTheKernelIsKnown) {
  const std::string all(kGdb);
  const Finding& found = read("cat <<'END'\n" + all.substr(0, all.find("=>")) + "END\n");
  EXPECT_EQ(found.kernel, "fill");
  EXPECT_EQ(found.block.ordinal, 0u);
  EXPECT_EQ(signature(found), "device-error: error 700 in fill");
}

// The driver has told that it had completed.
TEST_F(CoreDumps, ALaunchThatIsNotUnfinishedIsFoundAmongTheLast) {
  auto all = processes();
  all[0].launches = std::exchange(all[0].unfinished, {});
  complete(all[0], kGdb);
  EXPECT_EQ(all[0].findings[0].launch.ordinal, 8u);
}

TEST_F(CoreDumps, ATwiceLaunchedKernelIsNotOneLaunch) {
  auto all = processes();
  all[0].launches = all[0].unfinished;
  all[0].launches.push_back(launch(7, "fill(float*, long, float)"));
  all[0].unfinished.push_back(launch(7, "fill(float*, long, float)"));
  complete(all[0], kGdb);
  EXPECT_EQ(all[0].findings[0].kernel, "fill");
  EXPECT_EQ(all[0].findings[0].launch.ordinal, 0u);
}

TEST_F(CoreDumps, ALaunchThatIsNoLongerKnownMayHaveBeenOfThatKernel) {
  auto all = processes();
  all[0].unfinished_lost = 1;
  complete(all[0], kGdb);
  EXPECT_EQ(all[0].findings[0].kernel, "fill");
  EXPECT_EQ(all[0].findings[0].launch.ordinal, 0u);
}

// What is known without a dump stays.
TEST_F(CoreDumps, WhatToolsDoNotSayChangesNothing) {
  for (const char* script : {"exit 1", "echo No core file", "kill -9 $$"}) {
    const Finding& found = read(script);
    EXPECT_EQ(signature(found), "device-error: error 700 from cuCtxSynchronize") << script;
  }
  found_ = processes();
  read_core_dumps(found_, "");
  read_core_dumps(found_, "/no/such/tool");
  found_[0].findings.clear();
  complete(found_[0], kGdb);
  EXPECT_TRUE(found_[0].findings.empty());
}

// Ctrl-C reaches this process, which goes on without what the tool would have printed.
TEST_F(CoreDumps, AnInterruptEndsTheTool) {
  const auto begun = std::chrono::steady_clock::now();
  const Finding& found = read("kill -INT $PPID\nexec sleep 60\n");
  EXPECT_EQ(signature(found), "device-error: error 700 from cuCtxSynchronize");
  EXPECT_EQ(found.exception, "");
  EXPECT_FALSE(was_read_);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(50));
  read("exit 0");
  EXPECT_TRUE(was_read_);
}

// As in a background job of a script.
TEST_F(CoreDumps, AnIgnoredInterruptStaysIgnored) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  const Finding& found = read("kill -INT $PPID\ncat <<'END'\n" + std::string(kGdb) + "END\n");
  std::signal(SIGINT, before);
  EXPECT_EQ(found.kernel, "fill");
  EXPECT_TRUE(was_read_);
}

TEST_F(CoreDumps, ThePathOfTheToolMayHaveAnEqualsSign) {
  write("core.77", "a core dump");
  found_ = processes();
  const auto named = folder_->path() / "cuda=13-gdb";
  std::filesystem::rename(tool("cat <<'END'\n" + std::string(kGdb) + "END\n"), named);
  EXPECT_TRUE(read_core_dumps(found_, named.string()));
  EXPECT_EQ(found_[0].findings[0].kernel, "fill");
}

TEST_F(CoreDumps, TheEnvironmentAsksForThemUnlessItDoesSoAlready) {
  ::unsetenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
  const auto asked = dump_environment("/folder");
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].second, "1");
  EXPECT_NE(asked[1].second.find("skip_abort"), std::string::npos);
  EXPECT_EQ(asked[2].second, "/folder/core.%p");
  ::setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
  EXPECT_TRUE(dump_environment("/folder").empty());
  ::unsetenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
  for (const char* own : {"CUDA_COREDUMP_FILE", "CUDA_COREDUMP_GENERATION_FLAGS"}) {
    ::setenv(own, "mine", 1);
    EXPECT_TRUE(dump_environment("/folder").empty()) << own;
    ::unsetenv(own);
  }
  ::unsetenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
}

}  // namespace
}  // namespace redzone::guard
