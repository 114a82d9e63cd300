// Warm workers whose job makes no progress, and those that take their place.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "exec/pool_fixture.h"

namespace redzone::exec {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

PoolOptions options_of_one_worker() {
  PoolOptions options = fake_options(1, 1);
  options.jobs_per_worker = 1;
  options.held_up_after = milliseconds(100);
  return options;
}

Job job_with_deadline(std::string target, std::uint64_t id, milliseconds deadline) {
  Job job = job_of(std::move(target), 1, id);
  job.deadline = deadline;
  return job;
}

void wait_for_room(Pool& pool) {
  for (int i = 0; i < 1000 && pool.in_flight() == pool.max_in_flight(); ++i)
    pool.poll(milliseconds(10));
}

TEST(PoolHeldUp, OtherJobsRunWhileOneHangs) {
  Pool pool(options_of_one_worker());
  pool.submit(job_with_deadline("hang", 1, minutes(10)));
  EXPECT_EQ(pool.max_in_flight(), 1u);
  for (std::uint64_t id = 2; id < 10; ++id) {
    wait_for_room(pool);
    pool.submit(job_of("ok", 1, id));
    const auto result = pool.next(minutes(1));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->id, id);
  }
  EXPECT_EQ(pool.stats().workers_lost, 0u) << "it hangs still";
}

TEST(PoolHeldUp, OnceItHasEndedThereIsOneWorkerAgain) {
  Pool pool(options_of_one_worker());
  pool.submit(job_with_deadline("hang", 1, seconds(1)));
  EXPECT_EQ(pool.next(minutes(1))->observations.at(0).end, End::hang);
  EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed);
  EXPECT_EQ(pool.max_in_flight(), 1u);
}

// The job that is queued in the worker that hangs waits for it; those that are not, do not.
TEST(PoolHeldUp, OfTheQueuedJobsOnlyTheNextIsHeldUp) {
  PoolOptions options = options_of_one_worker();
  options.jobs_per_worker = 2;
  Pool pool(options);
  pool.submit(job_with_deadline("hang", 1, minutes(10)));
  for (std::uint64_t id = 2; id < 6; ++id) pool.submit(job_of("ok", 1, id));
  for (std::uint64_t id = 3; id < 6; ++id) EXPECT_EQ(pool.next(minutes(1))->id, id);
}

// What keeps the driver from reading is not what keeps the worker from working.
TEST(PoolHeldUp, APauseOfTheDriverHoldsUpNoWorker) {
  Pool pool(options_of_one_worker());
  const int pid = pid_of(run_one(pool, job_of("ok")).observations.at(0));
  for (std::uint64_t id = 1; id < 4; ++id) {
    pool.submit(job_of("ok", 1, id));
    std::this_thread::sleep_for(milliseconds(150));
    const auto result = pool.next(minutes(1));
    EXPECT_EQ(pid_of(result->observations.at(0)), pid);
  }
}

TEST(PoolHeldUp, OneThatWasOnlySlowIsOneTooManyAndGetsNoMore) {
  Pool pool(options_of_one_worker());
  const int slow = [&] {
    pool.submit(job_with_deadline("sign-then-silence", 1, seconds(60)));
    wait_for_room(pool);
    pool.submit(job_of("ok", 1, 2));
    int pid = 0;
    for (int i = 0; i < 2; ++i) {
      const auto result = pool.next(minutes(1));
      EXPECT_TRUE(result);
      EXPECT_EQ(result->observations.at(0).end, End::completed);
      if (result->id == 1) pid = pid_of(result->observations.at(0));
    }
    return pid;
  }();
  EXPECT_EQ(pool.max_in_flight(), 1u);
  for (int i = 0; i < 20; ++i)
    EXPECT_NE(pid_of(run_one(pool, job_of("ok")).observations.at(0)), slow);
  EXPECT_EQ(pool.stats().workers_lost, 0u);
}

TEST(PoolHeldUp, OfSeveralThatHangAtATimeAsManyAreReplacedAsWorkersAreWarm) {
  Pool pool(options_of_one_worker());
  for (std::uint64_t id = 1; id <= 2; ++id) {
    pool.submit(job_with_deadline("hang", id, minutes(10)));
    for (int i = 0; i < 50 && pool.max_in_flight() == id; ++i) pool.poll(milliseconds(10));
  }
  EXPECT_EQ(pool.in_flight(), 2u);
  EXPECT_EQ(pool.max_in_flight(), 2u);
}

// A spare is needed to take the place: that the worker is held up starts one.
TEST(PoolHeldUp, WithoutSparesAWorkerIsStartedInItsPlace) {
  PoolOptions options = options_of_one_worker();
  options.spares = 0;
  Pool pool(options);
  pool.submit(job_with_deadline("hang", 1, minutes(10)));
  wait_for_room(pool);
  pool.submit(job_of("ok", 1, 2));
  EXPECT_EQ(pool.next(minutes(1))->id, 2u);
}

TEST(PoolHeldUp, ByDefaultNoWorkerIs) {
  PoolOptions options = options_of_one_worker();
  options.held_up_after = PoolOptions().held_up_after;
  Pool pool(options);
  pool.submit(job_with_deadline("hang", 1, seconds(1)));
  pool.submit(job_of("ok", 1, 2));
  EXPECT_EQ(pool.next(minutes(1))->id, 1u);
  EXPECT_EQ(pool.next(minutes(1))->id, 2u);
}

}  // namespace
}  // namespace redzone::exec
