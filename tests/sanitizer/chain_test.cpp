// `redzone sanitized-worker` becomes the tool, which becomes a worker: the real binary, on the host
// device, under a tool that reports nothing.
#include <filesystem>

#include "core/temporary_folder.h"
#include "sanitizer/tier_fixture.h"

namespace redzone::exec {
namespace {

class Chain : public testing::Test {
 protected:
  ~Chain() override { ::unsetenv("FAKE_SANITIZER"); }

  Observation run(const std::string& compute_sanitizer, SanitizerTool of_trial) {
    PoolOptions options;
    options.command.argv = {REDZONE_BINARY,
                            "sanitized-worker",
                            "--device",
                            "host",
                            "--plugin",
                            SELFTEST_PLUGIN,
                            "--sanitizer",
                            "memcheck",
                            "--compute-sanitizer",
                            compute_sanitizer,
                            "--logs",
                            folder_.path().string()};
    options.spares = 0;
    options.most_failed_starts = 2;
    Pool pool(std::move(options));
    Job job;
    job.plan.target = "selftest.clean";
    job.plan.steps = {CallStep{Call{{{"N", 64}}, {}, {}, 1}}};
    job.trials.resize(1);
    job.trials[0].mode.sanitizer = of_trial;
    job.deadline = milliseconds(20000);
    pool.submit(job);
    const auto result = pool.next(milliseconds(60000));
    EXPECT_TRUE(result);
    return result ? result->observations.at(0) : Observation{};
  }
  std::size_t logs() const {
    const std::filesystem::directory_iterator files(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  TemporaryFolder folder_ = TemporaryFolder::create("sanitizer").value();
};

TEST_F(Chain, AWorkerKnowsItsToolAndReadsItsLog) {
  const auto seen = run(FAKE_SANITIZER, SanitizerTool::memcheck);
  EXPECT_EQ(seen.end, End::completed) << seen.message;
  ASSERT_TRUE(seen.sanitizer);
  EXPECT_EQ(seen.sanitizer->tool, SanitizerTool::memcheck);
  EXPECT_EQ(seen.sanitizer->problem, "");
  EXPECT_TRUE(seen.sanitizer->records.empty());
  EXPECT_EQ(logs(), 1u);
}

TEST_F(Chain, EachProcessHasALogOfItsOwn) {
  run(FAKE_SANITIZER, SanitizerTool::memcheck);
  run(FAKE_SANITIZER, SanitizerTool::memcheck);
  EXPECT_EQ(logs(), 2u);
}

TEST_F(Chain, ATrialThatAsksForAnotherToolIsRefused) {
  for (const auto tool : {SanitizerTool::none, SanitizerTool::racecheck}) {
    const auto seen = run(FAKE_SANITIZER, tool);
    EXPECT_EQ(seen.end, End::worker_error) << name_of(tool);
    EXPECT_NE(seen.message.find("came to a worker under 'memcheck'"), std::string::npos)
        << seen.message;
  }
}

TEST_F(Chain, AToolThatWritesNoLogIsAProblem) {
  ::setenv("FAKE_SANITIZER", "silent", 1);
  const auto seen = run(FAKE_SANITIZER, SanitizerTool::memcheck);
  ASSERT_TRUE(seen.sanitizer);
  EXPECT_NE(seen.sanitizer->problem, "");
}

TEST_F(Chain, AToolThatCannotBeStartedIsSaid) {
  const auto seen = run("/nowhere/compute-sanitizer", SanitizerTool::memcheck);
  EXPECT_EQ(seen.end, End::worker_error);
  EXPECT_NE(seen.message.find("cannot start /nowhere/compute-sanitizer"), std::string::npos)
      << seen.message;
}

}  // namespace
}  // namespace redzone::exec
