// Workers that hang, flood, and send wrong or malformed messages. The pool must still work after
// each.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/temporary_folder.h"
#include "pool_fixture.h"

namespace redzone::exec::testing {
namespace {

struct Hostile {
  const char* act;
  End end;
  const char* code;     // of the fault; "" for none
  const char* message;  // must be part of the message
};

void PrintTo(const Hostile& hostile, std::ostream* os) {
  *os << hostile.act;
}

class PoolHostile : public ::testing::TestWithParam<Hostile> {};

TEST_P(PoolHostile, IsObservedAndSurvived) {
  const Hostile& hostile = GetParam();
  const auto before = open_descriptors();
  {
    Pool pool(fake_options(1, 1));
    run_one(pool, job_of("ok"));
    // The other trials of the job are not affected, in warm and in fresh workers.
    Job job = job_of(std::string(hostile.act) + "+ok", 2);
    job.deadline = std::chrono::milliseconds(1000);
    Job twin = job;
    JobResult results[] = {run_one(pool, std::move(job)), {}};
    results[1] = pool.run_fresh({&twin, 1}).at(0);
    for (const auto& result : results) {
      ASSERT_EQ(result.observations.size(), 2u);
      const Observation& seen = result.observations[0];
      EXPECT_EQ(seen.end, hostile.end) << seen.message;
      EXPECT_EQ(seen.fault ? seen.fault->code : "", hostile.code);
      EXPECT_NE(seen.message.find(hostile.message), std::string::npos) << seen.message;
      EXPECT_EQ(result.observations[1].end, End::completed);
    }
    EXPECT_EQ(pool.stats().workers_lost, 2u);
    EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed);
  }
  EXPECT_TRUE(childless());
  EXPECT_EQ(open_descriptors(), before);
}

// As a proxy does whose worker still sends results: its exit code alone may be a program's own.
TEST(PoolHostileWorker, ThatToldOfAFailedCheckBeforeItsLastResultIsNoFault) {
  Pool pool(fake_options(1, 1));
  const auto result = run_one(pool, job_of("tell-of-a-check+exit-of-a-check", 2));
  ASSERT_EQ(result.observations.size(), 2u);
  EXPECT_EQ(result.observations[0].end, End::completed);
  EXPECT_EQ(result.observations[1].end, End::worker_error) << result.observations[1].message;
  const auto own = run_one(pool, job_of("ok+exit-of-a-check", 2));
  EXPECT_EQ(own.observations.at(1).end, End::exited);
}

INSTANTIATE_TEST_SUITE_P(
    All, PoolHostile,
    ::testing::Values(
        Hostile{"segv", End::fault, "SIGSEGV", "killed by SIGSEGV"},
        Hostile{"abort", End::fault, "SIGABRT", "assertion `x < n` failed"},
        Hostile{"fault-record", End::fault, "SIGSEGV", ""},
        Hostile{"exit-3", End::exited, "exit", "exited with code 3"},
        Hostile{"killed", End::fault, "SIGKILL", "killed by SIGKILL"},
        Hostile{"orphan", End::exited, "exit", "exited with code 5"},
        Hostile{"hang", End::hang, "hang", "did not end within 1000 ms"},
        Hostile{"hang-ignoring-term", End::hang, "hang", "did not end within 1000 ms"},
        Hostile{"flood-forever", End::hang, "hang", "did not end within 1000 ms"},
        Hostile{"rubbish", End::worker_error, "", "bytes that are not a message"},
        Hostile{"wrong-version", End::worker_error, "", "protocol version 2, this build uses 1"},
        Hostile{"wrong-checksum", End::worker_error, "", "wrong checksum"},
        Hostile{"bad-payload", End::worker_error, "", "malformed payload"},
        Hostile{"unknown-type", End::worker_error, "", "unknown type 999"},
        Hostile{"huge-length", End::worker_error, "", "length of 4294967280 bytes"},
        Hostile{"truncated", End::hang, "hang", ""},
        Hostile{"truncated-exit", End::exited, "exit", "exited with code 0"},
        Hostile{"close-socket", End::worker_error, "", "closed its socket but is still running"},
        Hostile{"wrong-job", End::worker_error, "", "a result of trial 0 of job 100"},
        Hostile{"wrong-call", End::worker_error, "", "results of call 1000000"},
        Hostile{"two-in-a-bool", End::worker_error, "", "malformed payload"},
        Hostile{"wrong-marks", End::fault, "signal -5", ""},
        Hostile{"wrong-trial", End::worker_error, "", "which it was not running"},
        Hostile{"second-hello", End::worker_error, "", "Hello twice"},
        Hostile{"early-job-done", End::worker_error, "",
                "which it does not have or has not completed"}),
    [](const auto& info) {
      std::string name = info.param.act;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

TEST(PoolFlood, TheWorkerIsNotBlockedWhileNobodyReads) {
  Pool pool(fake_options());
  run_one(pool, job_of("ok"));
  const TemporaryFolder folder = TemporaryFolder::create("flood").value();
  const std::string path = (folder.path() / "flooded").string();
  Job job = job_of("flood");
  std::get<CallStep>(job.plan.steps[0]).call.config["touch"] = path;
  pool.submit(std::move(job));
  // The pool is not polled meanwhile. If the worker blocked, this loop would run into the test's
  // timeout.
  while (::access(path.c_str(), F_OK) != 0) ::usleep(1000);
  const auto result = pool.next(std::chrono::minutes(1));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->observations.at(0).end, End::completed);
  EXPECT_EQ(pool.stats().workers_lost, 0u);
}

TEST(PoolHost, AnExceptionOfTheTrialRunnerIsAHarnessError) {
  Pool pool(fake_options());
  const auto result = run_one(pool, job_of("throw"));
  EXPECT_EQ(result.observations.at(0).end, End::worker_error);
  EXPECT_EQ(result.observations[0].message, "the trial runner threw: no such thing");
  EXPECT_EQ(pool.stats().workers_lost, 0u);
}

TEST(PoolHang, IsBlamedOnTheCallWithTheMarks) {
  Pool pool(fake_options());
  Job job = job_of("hang");
  job.deadline = std::chrono::milliseconds(50);
  const auto result = run_one(pool, std::move(job));
  ASSERT_TRUE(result.observations.at(0).fault.has_value());
  EXPECT_EQ(result.observations[0].fault->call, 1);
  EXPECT_EQ(result.observations[0].fault->kernel, "fake_kernel");
}

TEST(PoolHang, IsNoneAsLongAsThereAreSignsOfLife) {
  Pool pool(fake_options());
  Job job = job_of("slow-with-signs");
  job.deadline = std::chrono::milliseconds(1500);
  EXPECT_EQ(run_one(pool, std::move(job)).observations.at(0).end, End::completed);
}

// The hang is reported one deadline after the last sign of life; a deadline later the trial would
// have ended.
// On one processor with nine others: a trial that needs 300 ms of it takes three seconds.
TEST(PoolHang, IsNoneWhileTheWorkerWaitsForAProcessor) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // what is started inherits it
  Pool pool(fake_options(1, 0));
  ASSERT_TRUE(pool.wait_ready(std::chrono::minutes(1)));
  std::vector<pid_t> others;
  for (int i = 0; i < 9; ++i) {
    others.push_back(::fork());
    // A loop that does nothing is undefined: Clang removes it, and the child would go on.
    if (others.back() == 0)
      for (volatile bool busy = true; busy;) continue;
  }
  Job job = job_of("busy");
  job.deadline = std::chrono::milliseconds(1200);
  pool.submit(job);
  const auto result = pool.next(std::chrono::minutes(1));
  for (const pid_t pid : others) ::kill(pid, SIGKILL);
  for (const pid_t pid : others) ::waitpid(pid, nullptr, 0);
  ::sched_setaffinity(0, sizeof all, &all);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->observations.at(0).end, End::completed);
}

TEST(PoolHang, IsGivenUpADeadlineAfterTheLastSignOfLife) {
  Pool pool(fake_options());
  Job job = job_of("sign-then-silence");
  job.deadline = std::chrono::milliseconds(2000);
  EXPECT_EQ(run_one(pool, std::move(job)).observations.at(0).end, End::hang);
}

// The time for a call does not count what is done before it.
TEST(PoolHang, OfACallMayEndSoonerThanThatOfItsPreparation) {
  Pool pool(fake_options());
  for (const char* what : {"hang", "mapping-slow"}) {
    Job job = job_of(what);
    job.deadline = std::chrono::minutes(5);
    job.call_deadline = std::chrono::milliseconds(300);
    const bool hangs = job.plan.target == "hang";
    EXPECT_EQ(run_one(pool, std::move(job)).observations.at(0).end,
              hangs ? End::hang : End::completed)
        << what;
  }
}

TEST(PoolHang, IsNoneWhileAReferenceRuns) {
  Pool pool(fake_options());
  Job job = job_of("reference-slow");
  job.deadline = std::chrono::milliseconds(1000);
  EXPECT_EQ(run_one(pool, std::move(job)).observations.at(0).end, End::completed);
}

TEST(PoolHang, OfAReferenceIsNoFailureOfTheTarget) {
  Pool pool(fake_options());
  Job job = job_of("reference-forever");
  job.deadline = std::chrono::milliseconds(50);
  const Observation seen = run_one(pool, std::move(job)).observations.at(0);
  EXPECT_EQ(seen.end, End::spec_error);
  EXPECT_NE(seen.message.find("did not end within 1500 ms"), std::string::npos) << seen.message;
}

TEST(PoolSize, APlanThatIsTooLargeForTheWireIsRefusedBeforeItIsSent) {
  Pool pool(fake_options());
  Job job = job_of("ok", 2);
  std::get<CallStep>(job.plan.steps[0]).call.config["k"] = std::string(kMaxPayloadBytes, 'x');
  Job twin = job;
  for (const auto& result : {run_one(pool, std::move(job)), pool.run_fresh({&twin, 1}).at(0)}) {
    ASSERT_EQ(result.observations.size(), 2u);
    EXPECT_EQ(result.observations[1].end, End::worker_error);
    EXPECT_NE(result.observations[1].message.find("limit"), std::string::npos);
  }
  EXPECT_EQ(pool.stats().workers_lost, 0u);
  EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed);
}

// What a worker says of its progress moves its deadline, but not for ever.
TEST(PoolHostileProgress, HasAnEnd) {
  for (const auto& [act, end] :
       {std::pair{"drip", End::hang}, std::pair{"endless-reference", End::spec_error}}) {
    Pool pool(fake_options(1, 1));
    Job job = job_of(std::string(act) + "+ok", 2);
    job.deadline = std::chrono::milliseconds(50);
    const JobResult result = run_one(pool, std::move(job));
    ASSERT_EQ(result.observations.size(), 2u) << act;
    EXPECT_EQ(result.observations[0].end, end) << act << ": " << result.observations[0].message;
    EXPECT_EQ(result.observations[1].end, End::completed) << act;
  }
}

}  // namespace
}  // namespace redzone::exec::testing
