// Workers with one hardware queue beside those with several.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "exec/pool_fixture.h"

namespace redzone::exec {
namespace {

using namespace testing;

PoolOptions options_with_both(std::size_t workers, std::size_t spares) {
  PoolOptions options = fake_options(workers, spares);
  options.one_queue = {{FAKE_WORKER, "--start", "one-queue"}};
  return options;
}

Job one_queue_job() {
  Job job = job_of("ok");
  job.one_queue = true;
  return job;
}

bool ran_with_one_queue(const JobResult& result) {
  return result.observations.at(0).message.ends_with("one-queue");
}

// How many of the jobs a worker with one queue ran.
std::ptrdiff_t with_one_queue(Pool& pool, const std::vector<Job>& jobs) {
  const auto results = pool.run_fresh(jobs);
  EXPECT_EQ(results.size(), jobs.size());
  return std::count_if(results.begin(), results.end(), ran_with_one_queue);
}

TEST(PoolQueues, AJobForWhichOneQueueWillDoRunsThereOnceSuchWorkersAreUp) {
  Pool pool(options_with_both(1, 3));
  EXPECT_GT(with_one_queue(pool, std::vector<Job>(40, one_queue_job())), 20);
}

TEST(PoolQueues, OtherJobsHaveSeveral) {
  Pool pool(options_with_both(1, 3));
  std::vector<Job> jobs(40, one_queue_job());
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i] = job_of("ok");
  const auto results = pool.run_fresh(jobs);
  for (std::size_t i = 0; i < results.size(); i += 2) EXPECT_FALSE(ran_with_one_queue(results[i]));
}

TEST(PoolQueues, ScreeningHasSeveralThoughItLosesItsWorkers) {
  Pool pool(options_with_both(1, 3));
  const auto batch = pool.submit_fresh(std::vector<Job>(40, one_queue_job()));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run_one(pool, job_of("segv")).observations.at(0).end, End::fault);
    EXPECT_FALSE(ran_with_one_queue(run_one(pool, job_of("ok"))));
  }
  while (!pool.fresh_done(batch)) pool.poll(std::chrono::seconds(1));
}

// With a single spare there is no room for both kinds.
TEST(PoolQueues, ASingleSpareServesAllJobs) {
  Pool pool(options_with_both(0, 1));
  std::vector<Job> jobs(10, one_queue_job());
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i] = job_of("ok");
  EXPECT_EQ(with_one_queue(pool, jobs), 0);
}

TEST(PoolQueues, WithoutSuchWorkersAllJobsRunInTheOthers) {
  Pool pool(fake_options(0, 3));
  EXPECT_EQ(with_one_queue(pool, std::vector<Job>(10, one_queue_job())), 0);
}

// Otherwise each job that needs several would wait for a start beside idle spares with one.
TEST(PoolQueues, HalfOfTheSparesHaveSeveral) {
  PoolOptions options = options_with_both(0, 4);
  Pool pool(options);
  while (pool.wait_ready(std::chrono::seconds(10)) && pool.stats().workers_up < 4)
    pool.poll(std::chrono::milliseconds(1));
  // Two jobs that need several run without a further start.
  const auto pair = pool.run_fresh(std::vector<Job>(2, job_of("ok")));
  EXPECT_NE(pid_of(pair[0].observations.at(0)), pid_of(pair[1].observations.at(0)));
  EXPECT_EQ(with_one_queue(pool, std::vector<Job>(2, one_queue_job())), 2);
}

TEST(PoolQueues, AJobThatWaitsForSeveralLeavesRoomForOneThatDoesNot) {
  PoolOptions options = options_with_both(0, 1);
  options.command = {{FAKE_WORKER, "--start", "silent"}};
  Pool pool(options);
  pool.submit_fresh(std::vector<Job>(2, job_of("ok")));
  EXPECT_FALSE(pool.fresh_room(job_of("ok")));
  EXPECT_TRUE(pool.fresh_room(one_queue_job()));
}

// A used worker with one queue serves jobs of its kind, and gives way to one that serves all.
TEST(PoolQueues, OfUsedWorkersThoseWithSeveralQueuesAreKept) {
  PoolOptions options = options_with_both(0, 3);
  options.most_used = 1;
  Job one = one_queue_job(), several = job_of("ok");
  one.reuse = several.reuse = Reuse::any;
  std::optional<Pool> pool;
  do {  // until a worker with one queue is up first
    pool.emplace(options);
  } while (with_one_queue(*pool, {one}) == 0);
  EXPECT_EQ(with_one_queue(*pool, {one}), 1);
  EXPECT_EQ(with_one_queue(*pool, {several}), 0);
  EXPECT_EQ(with_one_queue(*pool, {one}), 0);
}

}  // namespace
}  // namespace redzone::exec
