// Warm workers whose job makes no progress, and those that take their place.
#include <gtest/gtest.h>

#include <set>

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
  pool.submit(job_with_deadline("hang", 1, seconds(2)));
  EXPECT_EQ(pool.max_in_flight(), 1u);
  for (std::uint64_t id = 2; id < 10; ++id) {
    wait_for_room(pool);
    pool.submit(job_of("ok", 1, id));
    const auto result = pool.next(minutes(1));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->id, id);
  }
  const auto hung = pool.next(minutes(1));
  ASSERT_TRUE(hung);
  EXPECT_EQ(hung->observations.at(0).end, End::hang);
  EXPECT_EQ(pool.max_in_flight(), 1u);
  EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed);
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
  std::set<int> later;
  for (int i = 0; i < 20; ++i) later.insert(pid_of(run_one(pool, job_of("ok")).observations.at(0)));
  EXPECT_EQ(later.size(), 1u);
  EXPECT_FALSE(later.contains(slow));
  EXPECT_EQ(pool.stats().workers_lost, 0u);
}

// A spare is needed to take the place: that the worker is held up starts one.
TEST(PoolHeldUp, WithoutSparesAWorkerIsStartedInItsPlace) {
  PoolOptions options = options_of_one_worker();
  options.spares = 0;
  Pool pool(options);
  pool.submit(job_with_deadline("hang", 1, seconds(2)));
  wait_for_room(pool);
  pool.submit(job_of("ok", 1, 2));
  EXPECT_EQ(pool.next(minutes(1))->id, 2u);
  EXPECT_EQ(pool.next(minutes(1))->id, 1u);
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
