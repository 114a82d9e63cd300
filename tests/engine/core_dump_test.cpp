// A core dump from start to end, with stand-ins for the worker and for cuda-gdb.
#include "engine/core_dump.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/temporary_folder.h"
#include "sanitizer/cuda_gdb_golden.h"

namespace redzone::engine {
namespace {

namespace fs = std::filesystem;

using sanitizer::kCudaGdbGolden;

// No trial may run here: the tool starts a worker of its own.
class Waiter final : public exec::Runner {
 public:
  std::vector<exec::JobResult> run_fresh(std::span<const exec::Job>,
                                         const exec::RunOptions&) override {
    ADD_FAILURE() << "no trial was asked for";
    return {};
  }
  void wait_until(const std::function<bool()>& done) override {
    while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

class CoreDump : public ::testing::Test {
 protected:
  std::string script(const std::string& name, const std::string& text) {
    const fs::path file = folder_.path() / name;
    std::ofstream(file) << "#!/bin/sh\n" << text;
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  // Attributes with a worker that runs the script `first` and then becomes the fake worker, whose
  // trial aborts.
  std::vector<Attribution> attribute(const std::string& first, const std::string& gdb,
                                     FailKind kind = FailKind::illegal_access) {
    const std::string worker = script("worker", first + "\nexec " FAKE_WORKER " \"$@\"\n");
    CoreDumpAttributor attributor({{worker}}, gdb, std::chrono::seconds(10), {});
    Plan plan;
    plan.target = "abort";
    plan.steps = {CallStep{}, CallStep{}};
    Signature signature;
    signature.kind = kind;
    Waiter waiter;
    return attributor.attribute(waiter, plan, {}, signature, {});
  }

  TemporaryFolder folder_ = TemporaryFolder::create("core-dump").value();
};

TEST_F(CoreDump, IsWrittenByTheWorkerAndReadByTheDebugger) {
  // The debugger prints its input and crashes, as the real one may.
  const std::string gdb = script("cuda-gdb", "cat \"${4#target cudacore }\"\nkill -SEGV $$\n");
  // The worker that replaces the lost one writes no dump.
  const auto said = attribute(
      "test $CUDA_ENABLE_COREDUMP_ON_EXCEPTION = 1 && test ! -e \"$CUDA_COREDUMP_FILE\" && cat > "
      "\"$CUDA_COREDUMP_FILE\" <<'END'\n" +
          std::string(kCudaGdbGolden) + "END",
      gdb);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(text_of(said[0]), "in farkernel at q.cu:4; Warp Illegal Address");
}

TEST_F(CoreDump, ThatIsNotWrittenIsSaid) {
  const auto said = attribute("", script("cuda-gdb", "echo never\n"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(text_of(said[0]), "the driver wrote no core dump");
}

TEST_F(CoreDump, NeedsTheDebugger) {
  const auto said = attribute("touch " + (folder_.path() / "ran").string(), "");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(text_of(said[0]), "cuda-gdb was not found");
  EXPECT_FALSE(fs::exists(folder_.path() / "ran"));
}

TEST_F(CoreDump, IsAskedForEveryAccessOfTheDevice) {
  for (auto kind : {FailKind::illegal_access, FailKind::misaligned})
    EXPECT_EQ(attribute("", script("cuda-gdb", ""), kind).size(), 1u) << name_of(kind);
}

TEST_F(CoreDump, IsNotAskedForWhatIsNoFault) {
  for (auto kind : {FailKind::fault, FailKind::hang, FailKind::redzone, FailKind::history})
    EXPECT_TRUE(attribute("", script("cuda-gdb", ""), kind).empty());
}

}  // namespace
}  // namespace redzone::engine
