// The pool with workers that behave, and with workers that die in ways that count as data.
#include <map>
#include <set>

#include "pool_fixture.h"

namespace redzone::exec::testing {
namespace {

TEST(Pool, RunsTheTrialsOfAJobInOrder) {
  Pool pool(fake_options());
  const JobResult result = run_one(pool, job_of("ok", 4, 77));
  EXPECT_EQ(result.id, 77u);
  ASSERT_EQ(result.observations.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.observations[i].end, End::completed);
    EXPECT_EQ(result.observations[i].bytes, i);
    EXPECT_EQ(pid_of(result.observations[i]), pid_of(result.observations[0]));
  }
  EXPECT_EQ(pool.stats().trials, 4u);
  EXPECT_EQ(pool.stats().workers_lost, 0u);
  EXPECT_EQ(pool.in_flight(), 0u);
}

TEST(Pool, SaysWhatTheDeviceIs) {
  Pool pool(fake_options());
  const auto hello = pool.wait_ready(std::chrono::minutes(1));
  ASSERT_TRUE(hello.has_value()) << hello.error().message;
  EXPECT_EQ(*hello, (Hello{"fake", "1.2.3", 90, "13.0", 1 << 30}));
}

TEST(Pool, NextAnswersNothingWhenNothingIsInFlight) {
  Pool pool(fake_options());
  EXPECT_FALSE(pool.next(std::chrono::hours(1)).has_value());
}

TEST(Pool, NextGivesUpAfterItsTimeout) {
  Pool pool(fake_options());
  pool.submit(job_of("hang"));
  EXPECT_FALSE(pool.next(std::chrono::milliseconds(20)).has_value());
  EXPECT_EQ(pool.in_flight(), 1u);
}

// With two jobs per worker, the second would wait behind the hanging one for the whole deadline.
TEST(Pool, WithOneJobAWorkerNoOtherWaitsForOneThatHangs) {
  PoolOptions options = fake_options(2, 0);
  options.jobs_per_worker = 1;
  Pool pool(options);
  EXPECT_EQ(pool.max_in_flight(), 2u);
  Job hang = job_of("hang", 1, 1);
  hang.deadline = std::chrono::hours(1);
  pool.submit(hang);
  constexpr std::uint64_t kOthers = 20;
  for (std::uint64_t id = 2; id < 2 + kOthers; ++id) pool.submit(job_of("ok", 1, id));
  for (std::uint64_t i = 0; i < kOthers; ++i)
    ASSERT_TRUE(pool.next(std::chrono::minutes(1)).has_value()) << i;
  EXPECT_EQ(pool.in_flight(), 1u);
}

TEST(Pool, AJobWithoutTrialsIsDoneAtOnce) {
  Pool pool(fake_options());
  EXPECT_TRUE(run_one(pool, job_of("ok", 0)).observations.empty());
}

TEST(Pool, ThousandsOfTinyJobsEachGiveOneResult) {
  Pool pool(fake_options(3, 1));
  const std::uint64_t kJobs = 5000;
  std::set<std::uint64_t> seen;
  std::set<int> pids;
  for (std::uint64_t sent = 0; seen.size() < kJobs;) {
    while (sent < kJobs && pool.in_flight() < pool.max_in_flight())
      pool.submit(job_of("ok", 2, sent++));
    const auto result = pool.next(std::chrono::minutes(1));
    ASSERT_TRUE(result.has_value());
    ASSERT_EQ(result->observations.size(), 2u);
    ASSERT_EQ(result->observations[1].end, End::completed);
    pids.insert(pid_of(result->observations[1]));
    ASSERT_TRUE(seen.insert(result->id).second);
  }
  EXPECT_LE(pids.size(), 3u);
  EXPECT_EQ(pool.stats().trials, 2 * kJobs);
  EXPECT_LE(pool.stats().workers_started, 4u);
}

TEST(Pool, TheLogHoldsWhatTheWorkerRanBefore) {
  Pool pool(fake_options());
  const std::vector<std::string> targets = {"ok", "ok+ok", "ok+ok+ok"};
  std::map<std::uint64_t, JobResult> results;
  for (std::uint64_t i = 0; i < targets.size(); ++i) pool.submit(job_of(targets[i], i + 1, i));
  while (pool.in_flight() > 0) {
    auto result = pool.next(std::chrono::minutes(1));
    results[result->id] = std::move(*result);
  }
  for (std::uint64_t i = 0; i < targets.size(); ++i) {
    ASSERT_EQ(results[i].log_size, i);
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_EQ((*results[i].log)[k].plan->target, targets[k]);
      EXPECT_EQ((*results[i].log)[k].trials.size(), k + 1);
    }
  }
  EXPECT_EQ(results[0].log, results[2].log);
}

TEST(Pool, ANewWorkerHasAnEmptyLog) {
  Pool pool(fake_options());
  EXPECT_EQ(run_one(pool, job_of("ok")).log_size, 0u);
  EXPECT_EQ(run_one(pool, job_of("segv")).log_size, 1u);
  EXPECT_EQ(run_one(pool, job_of("ok")).log_size, 0u);
}

TEST(Pool, RetiresAWorkerAfterItsShareOfPlans) {
  PoolOptions options = fake_options();
  options.recycle_after_plans = 10;
  Pool pool(options);
  std::map<int, int> jobs_of_pid;
  for (int i = 0; i < 35; ++i) {
    const JobResult result = run_one(pool, job_of("ok"));
    ++jobs_of_pid[pid_of(result.observations[0])];
    EXPECT_LT(result.log_size, 10u);
  }
  EXPECT_EQ(jobs_of_pid.size(), 4u);
  for (const auto& [pid, jobs] : jobs_of_pid) EXPECT_LE(jobs, 10);
  EXPECT_EQ(pool.stats().workers_lost, 0u);
}

TEST(PoolFresh, ResultsComeInTheOrderOfTheJobs) {
  Pool pool(fake_options(1, 3));
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < 12; ++i) jobs.push_back(job_of(i % 3 == 0 ? "segv" : "ok", 1, i));
  const auto results = pool.run_fresh(jobs);
  ASSERT_EQ(results.size(), jobs.size());
  for (std::uint64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(results[i].id, i);
    EXPECT_EQ(results[i].observations.at(0).end, i % 3 == 0 ? End::fault : End::completed);
    EXPECT_EQ(results[i].log_size, 0u);
  }
}

TEST(PoolFresh, NoWorkerRunsTwoJobs) {
  for (const auto& [workers, spares] : {std::pair{1, 2}, std::pair{0, 1}, std::pair{1, 0}}) {
    Pool pool(fake_options(std::size_t(workers), std::size_t(spares)));
    if (workers > 0) run_one(pool, job_of("ok"));
    std::set<int> pids;
    const auto results = pool.run_fresh(std::vector<Job>(8, job_of("ok", 2)));
    for (const auto& result : results) {
      EXPECT_EQ(runs_of(result.observations.at(0)), 1);
      EXPECT_EQ(runs_of(result.observations.at(1)), 2);
      pids.insert(pid_of(result.observations[0]));
    }
    EXPECT_EQ(pids.size(), 8u);
  }
}

// A job that is linked to the one before it has the same worker, up to a loss.
TEST(PoolFresh, LinkedJobsShareAWorkerThatRunsNothingElse) {
  Pool pool(fake_options(1, 3));
  std::vector<Job> jobs(7, job_of("ok"));
  jobs[4].plan = job_of("segv").plan;
  for (const std::size_t i : {1, 2, 4, 5, 6}) jobs[i].behind = true;
  const auto results = pool.run_fresh(jobs);
  std::vector<int> pids, runs;
  for (const auto& result : results) {
    pids.push_back(pid_of(result.observations.at(0)));
    runs.push_back(result.observations[0].end == End::completed ? runs_of(result.observations[0])
                                                                : -1);
  }
  EXPECT_EQ(runs, (std::vector<int>{1, 2, 3, 1, -1, 1, 2}));
  EXPECT_EQ(pids[0], pids[2]);
  EXPECT_NE(pids[0], pids[3]);
  EXPECT_EQ(pids[5], pids[6]);
  EXPECT_EQ(results[2].log_size, 2u);
}

TEST(PoolFresh, ACancelledBatchEndsLinkedJobsToo) {
  Pool pool(fake_options(0, 1));
  std::vector<Job> jobs{job_of("hang"), job_of("ok"), job_of("ok")};
  jobs[0].deadline = std::chrono::hours(1);
  jobs[1].behind = jobs[2].behind = true;
  const auto batch = pool.submit_fresh(jobs);
  while (pool.fresh_room(Job{})) pool.poll(std::chrono::milliseconds(10));
  pool.cancel_fresh(batch, "enough");
  ASSERT_TRUE(pool.fresh_done(batch));
  for (const auto& result : pool.take_fresh(batch))
    EXPECT_EQ(result.observations.at(0).message, "enough");
}

TEST(PoolFresh, LeavesSubmittedJobsAlone) {
  Pool pool(fake_options(1, 1));
  pool.submit(job_of("ok", 3, 42));
  EXPECT_EQ(pool.run_fresh(std::vector<Job>(2, job_of("ok"))).size(), 2u);
  const auto result = pool.next(std::chrono::minutes(1));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->id, 42u);
  EXPECT_EQ(result->observations.size(), 3u);
}

TEST(PoolFresh, AnInterruptEndsWhatIsNotDone) {
  PoolOptions options = fake_options(0, 1);
  int asked = 0;
  options.interrupted = [&] { return ++asked > 2; };
  Pool pool(options);
  Job slow = job_of("hang");
  slow.deadline = std::chrono::hours(1);
  const auto results = pool.run_fresh(std::vector<Job>(3, slow));
  ASSERT_EQ(results.size(), 3u);
  for (const auto& result : results) {
    ASSERT_EQ(result.observations.size(), 1u);
    EXPECT_EQ(result.observations[0].end, End::worker_error);
    EXPECT_EQ(result.observations[0].message, "interrupted");
  }
}

TEST(PoolLoss, TheTrialsBehindACrashRunElsewhere) {
  Pool pool(fake_options(1, 1));
  pool.submit(job_of("segv+ok", 3, 1));
  pool.submit(job_of("ok", 2, 2));
  std::map<std::uint64_t, JobResult> results;
  while (pool.in_flight() > 0) {
    auto result = pool.next(std::chrono::minutes(1));
    ASSERT_TRUE(result.has_value());
    results[result->id] = std::move(*result);
  }
  const auto& crashed = results[1].observations;
  ASSERT_EQ(crashed.size(), 3u);
  EXPECT_EQ(crashed[0].end, End::fault);
  EXPECT_EQ(crashed[0].fault->code, "SIGSEGV");
  EXPECT_EQ(crashed[0].fault->call, 1);
  EXPECT_EQ(crashed[0].fault->kernel, "fake_kernel");
  for (std::size_t i : {1u, 2u}) {
    EXPECT_EQ(crashed[i].end, End::completed);
    EXPECT_EQ(crashed[i].bytes, i);
  }
  EXPECT_EQ(runs_of(crashed[1]), 1);
  ASSERT_EQ(results[2].observations.size(), 2u);
  EXPECT_EQ(results[2].observations[1].end, End::completed);
  EXPECT_EQ(pool.stats().workers_lost, 1u);
  EXPECT_EQ(pool.stats().trials, 5u);
}

TEST(PoolLoss, AJobThatEndsAtALossIsNotRunElsewhere) {
  for (const char* act : {"segv+ok", "device-lost+ok", "hang+ok", "exit-3+ok"}) {
    Pool pool(fake_options());
    Job job = job_of(act, 3);
    job.end_at_loss = true;
    job.deadline = std::chrono::milliseconds(act[0] == 'h' ? 200 : 10000);
    const auto result = run_one(pool, std::move(job));
    ASSERT_EQ(result.observations.size(), 1u) << act;
    EXPECT_NE(result.observations[0].end, End::completed) << act;
    EXPECT_EQ(pool.stats().trials, 1u) << act;
    EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed) << act;
  }
}

TEST(PoolLoss, AJobThatComesBackAtALossIsNotRunBehindOneOfItsTarget) {
  for (const char* act : {"segv", "device-lost", "hang", "exit-3"}) {
    Pool pool(fake_options(1, 1));
    Job first = job_of(act, 1, 1);
    first.end_at_loss = true;
    first.back_at_loss = true;
    first.deadline = std::chrono::milliseconds(act[0] == 'h' ? 200 : 10000);
    Job second = first;
    second.id = 2;
    pool.submit(first);
    pool.submit(second);
    std::map<std::uint64_t, JobResult> results;
    while (auto result = pool.next(std::chrono::minutes(1))) results[result->id] = *result;
    ASSERT_EQ(results.size(), 2u) << act;
    ASSERT_EQ(results[1].observations.size(), 1u) << act;
    EXPECT_NE(results[1].observations[0].end, End::completed) << act;
    EXPECT_TRUE(results[2].observations.empty()) << act;
    EXPECT_EQ(pool.stats().workers_lost, 1u) << act;
  }
}

TEST(PoolLoss, AJobThatComesBackAtALossIsRunBehindOneOfAnotherTarget) {
  Pool pool(fake_options(1, 1));
  Job second = job_of("ok", 1, 2);
  second.back_at_loss = true;
  pool.submit(job_of("segv", 1, 1));
  pool.submit(second);
  std::map<std::uint64_t, JobResult> results;
  while (auto result = pool.next(std::chrono::minutes(1))) results[result->id] = *result;
  EXPECT_EQ(results[1].observations.at(0).end, End::fault);
  EXPECT_EQ(results[2].observations.at(0).end, End::completed);
}

TEST(PoolLoss, AJobThatEndsAtALossRunsAllTrialsWhereThereIsNone) {
  Pool pool(fake_options());
  Job job = job_of("ok+segv", 2);
  job.end_at_loss = true;
  const auto result = run_one(pool, std::move(job));
  ASSERT_EQ(result.observations.size(), 2u);
  EXPECT_EQ(result.observations[0].end, End::completed);
  EXPECT_EQ(result.observations[1].end, End::fault);
}

TEST(PoolFresh, BatchesAreDoneByThemselvesBesideSubmittedJobs) {
  Pool pool(fake_options(1, 2));
  const std::vector<Job> slow{job_of("slow-with-signs")}, quick(3, job_of("ok"));
  const auto first = pool.submit_fresh(slow), second = pool.submit_fresh(quick);
  pool.submit(job_of("ok", 2));
  while (!pool.fresh_done(second) || pool.in_flight() > 0) {
    pool.poll(std::chrono::seconds(1));
    EXPECT_FALSE(pool.fresh_done(first));
    pool.next(std::chrono::milliseconds(0));
  }
  for (const auto& result : pool.take_fresh(second))
    EXPECT_EQ(result.observations.at(0).end, End::completed);
  while (!pool.fresh_done(first)) pool.poll(std::chrono::seconds(1));
  EXPECT_EQ(pool.take_fresh(first).at(0).observations.at(0).end, End::completed);
}

TEST(PoolFresh, ACancelledBatchLeavesTheOthersAlone) {
  Pool pool(fake_options(0, 1));
  const std::vector<Job> slow(3, job_of("slow-with-signs")), quick(2, job_of("ok"));
  const auto cancelled = pool.submit_fresh(slow), kept = pool.submit_fresh(quick);
  while (pool.stats().workers_started == 0) pool.poll(std::chrono::milliseconds(1));
  pool.cancel_fresh(cancelled, "enough");
  ASSERT_TRUE(pool.fresh_done(cancelled));
  for (const auto& result : pool.take_fresh(cancelled))
    EXPECT_EQ(result.observations.at(0).message, "enough");
  while (!pool.fresh_done(kept)) pool.poll(std::chrono::seconds(1));
  for (const auto& result : pool.take_fresh(kept))
    EXPECT_EQ(result.observations.at(0).end, End::completed);
}

// A screen that loses a worker with each job, and a long queue of fresh jobs: both get their share
// of the workers that start.
TEST(PoolFresh, NeitherTheWarmWorkersNorFreshJobsStarve) {
  Pool pool(fake_options(1, 1));
  const auto batch = pool.submit_fresh(std::vector<Job>(40, job_of("ok")));
  int screened = 0;
  while (!pool.fresh_done(batch)) {
    if (pool.in_flight() == 0) pool.submit(job_of("segv"));
    pool.poll(std::chrono::seconds(1));
    while (pool.next(std::chrono::milliseconds(0))) ++screened;
  }
  EXPECT_GE(screened, 10);
}

// Jobs that wait for a fresh worker, which may start slowly, do not delay jobs that can use a warm
// one.
TEST(PoolFresh, AJobForAUsedWorkerPassesThoseThatNeedAFreshOne) {
  PoolOptions options = fake_options(0, 1);
  options.most_used = 1;
  Pool pool(options);
  Job reuse = job_of("ok");
  reuse.reuse = Reuse::any;
  const auto used = pool.run_fresh(std::span(&reuse, 1)).at(0);
  const std::vector<Job> many(40, job_of("ok"));
  const auto waiting = pool.submit_fresh(many), passing = pool.submit_fresh(std::span(&reuse, 1));
  while (!pool.fresh_done(passing)) {
    pool.poll(std::chrono::seconds(1));
    EXPECT_FALSE(pool.fresh_done(waiting));
  }
  EXPECT_EQ(pid_of(pool.take_fresh(passing).at(0).observations.at(0)),
            pid_of(used.observations.at(0)));
  while (!pool.fresh_done(waiting)) pool.poll(std::chrono::seconds(1));
}

// What others have loaded and mapped in a worker is not lost by a job that is known to fault.
TEST(PoolFresh, AJobThatWillLoseItsWorkerDoesNotTakeOneOfOtherJobs) {
  PoolOptions options = fake_options(0, 2);
  options.most_used = 2;
  Pool pool(options);
  Job other = job_of("ok"), losing = job_of("ok");
  other.reuse = losing.reuse = Reuse::any;
  losing.will_lose = true;
  const auto run = [&](const Job& job) {
    return pid_of(pool.run_fresh(std::span(&job, 1)).at(0).observations.at(0));
  };
  const int used = run(other);
  const int apart = run(losing);
  EXPECT_NE(apart, used);
  EXPECT_EQ(run(losing), apart) << "it has survived, and there is nothing to protect";
  losing.plan.target = "segv";
  pool.run_fresh(std::span(&losing, 1));
  EXPECT_EQ(run(other), used);
}

// Its C++ statics are those of a new process to a target that has not run there.
TEST(PoolFresh, AWorkerThatHasRunOtherTargetsOnlyServesAJobThatAllowsThat) {
  PoolOptions options = fake_options(0, 2);
  options.most_used = 4;
  Pool pool(options);
  const auto run = [&](const char* target, Reuse reuse) {
    Job job = job_of(target);
    job.reuse = reuse;
    const JobResult result = pool.run_fresh(std::span(&job, 1)).at(0);
    return std::pair(pid_of(result.observations.at(0)), result.log_size);
  };
  const auto [first, before] = run("ok", Reuse::none);
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(run("also-ok", Reuse::of_other_targets), std::pair(first, std::size_t{1}));
  const auto [second, nothing] = run("ok", Reuse::of_other_targets);
  EXPECT_NE(second, first);
  EXPECT_EQ(nothing, 0u);
  // One that has run the target is taken first, and leaves the other one to those that have not.
  EXPECT_EQ(run("also-ok", Reuse::any).first, first);
  EXPECT_EQ(run("also-ok", Reuse::of_other_targets).first, second);
}

// Or else each question about a plan that passes would cost a worker, because those that are kept
// for other jobs take all places.
TEST(PoolFresh, AWorkerThatSurvivesAJobThatWouldLoseItIsKeptBesideThoseOfOthers) {
  PoolOptions options = fake_options(0, 4);
  options.most_used = 4;
  Pool pool(options);
  std::vector<Job> others(3, job_of("ok")), losing(1, job_of("ok"));
  for (auto& job : others) job.reuse = Reuse::any;
  losing[0].reuse = Reuse::any;
  losing[0].will_lose = true;
  // A job that ends before the next begins leaves its worker to that one: three workers only are
  // there for certain when each job of a batch has had its own.
  std::set<int> used;
  for (int i = 0; i < 100 && used.size() < others.size(); ++i) {
    used.clear();
    for (const auto& result : pool.run_fresh(others))
      used.insert(pid_of(result.observations.at(0)));
  }
  ASSERT_EQ(used.size(), others.size());
  const int kept = pid_of(pool.run_fresh(losing).at(0).observations.at(0));
  for (int i = 0; i < 3; ++i) {
    pool.run_fresh(others);
    EXPECT_EQ(pid_of(pool.run_fresh(losing).at(0).observations.at(0)), kept);
  }
}

// What the driver refuses is a fault of the target and leaves the worker alive.
TEST(PoolLoss, CountsTheWorkersThatAJobCost) {
  Pool pool(fake_options(1, 2));
  EXPECT_EQ(run_one(pool, job_of("ok")).lost_workers, 0u);
  EXPECT_EQ(run_one(pool, job_of("segv", 1)).lost_workers, 1u);
  EXPECT_EQ(run_one(pool, job_of("device-lost")).lost_workers, 1u);
  const JobResult refused = run_one(pool, job_of("refused"));
  EXPECT_EQ(refused.observations.at(0).end, End::fault);
  EXPECT_EQ(refused.lost_workers, 0u);
}

PoolOptions options_with_turns() {
  PoolOptions options = fake_options(1, 3);
  options.most_in_turn = 1;
  options.turn = std::chrono::hours(1);
  return options;
}

void wait_for(Pool& pool, BatchId batch) {
  const auto until = Clock::now() + std::chrono::minutes(1);
  while (!pool.fresh_done(batch) && Clock::now() < until) pool.poll(std::chrono::milliseconds(10));
  ASSERT_TRUE(pool.fresh_done(batch));
}

Job hanging_job() {
  Job job = job_of("hang");
  job.deadline = std::chrono::milliseconds(300);
  return job;
}

// The second job gets its worker when the first, which hangs, is lost.
TEST(PoolTurns, OneFreshJobRunsAtATimeAndTheScreenGoesOn) {
  Pool pool(options_with_turns());
  const auto hanging = pool.submit_fresh(std::vector<Job>{hanging_job()});
  const auto next = pool.submit_fresh(std::vector<Job>{job_of("ok")});
  while (!pool.fresh_done(hanging)) {
    EXPECT_FALSE(pool.fresh_done(next));
    EXPECT_FALSE(pool.fresh_room(Job{}));
    EXPECT_EQ(run_one(pool, job_of("ok")).observations.at(0).end, End::completed);
  }
  wait_for(pool, next);
  EXPECT_EQ(pool.take_fresh(next).at(0).observations.at(0).end, End::completed);
}

TEST(PoolTurns, AJobThatTakesLongerThanItsTurnHoldsUpNoOther) {
  PoolOptions options = options_with_turns();
  options.turn = std::chrono::milliseconds(20);
  Pool pool(options);
  Job hanging = hanging_job();
  hanging.deadline = std::chrono::hours(1);
  const auto stuck = pool.submit_fresh(std::vector<Job>{hanging});
  wait_for(pool, pool.submit_fresh(std::vector<Job>{job_of("ok")}));
  EXPECT_FALSE(pool.fresh_done(stuck));
}

// A caller that waits may then have another job for the device.
TEST(PoolTurns, TheEndOfATurnEndsAPoll) {
  PoolOptions options = options_with_turns();
  options.turn = std::chrono::milliseconds(250);
  Pool pool(options);
  Job hanging = hanging_job();
  hanging.deadline = std::chrono::hours(1);
  pool.submit_fresh(std::vector<Job>{hanging});
  while (pool.fresh_room(Job{})) pool.poll(std::chrono::milliseconds(1));
  const auto begun = Clock::now();
  for (int polls = 0; polls < 3 && !pool.fresh_room(Job{}); ++polls)
    pool.poll(std::chrono::seconds(20));
  EXPECT_TRUE(pool.fresh_room(Job{}));
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(15));
}

// Also if all workers that are kept for such jobs are stuck.
TEST(PoolTurns, AUsedWorkerThatIsStuckIsNotWaitedFor) {
  PoolOptions options = options_with_turns();
  options.turn = std::chrono::milliseconds(20);
  options.most_used = 1;
  Pool pool(options);
  Job hanging = hanging_job(), next = job_of("ok");
  hanging.deadline = std::chrono::hours(1);
  hanging.reuse = next.reuse = Reuse::any;
  const auto stuck = pool.submit_fresh(std::vector<Job>{hanging});
  wait_for(pool, pool.submit_fresh(std::vector<Job>{next}));
  EXPECT_FALSE(pool.fresh_done(stuck));
}

TEST(PoolTurns, JobsThatAreToRunSideBySideDoSo) {
  Pool pool(options_with_turns());
  Job hanging = hanging_job(), beside = job_of("ok");
  hanging.deadline = std::chrono::hours(1);
  beside.side_by_side = true;
  const auto stuck = pool.submit_fresh(std::vector<Job>{hanging});
  wait_for(pool, pool.submit_fresh(std::vector<Job>{beside}));
  EXPECT_FALSE(pool.fresh_done(stuck));
}

TEST(PoolLoss, ADeviceFaultIsReportedByTheWorkerItself) {
  Pool pool(fake_options());
  const auto result = run_one(pool, job_of("device-lost+ok", 2));
  EXPECT_EQ(result.observations.at(0).end, End::fault);
  EXPECT_EQ(result.observations[0].fault->code, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(result.observations[0].fault->detail, "kernel.cu:7: Assertion `i < n` failed.");
  EXPECT_EQ(result.observations.at(1).end, End::completed);
  EXPECT_NE(pid_of(result.observations[0]), pid_of(result.observations[1]));
  EXPECT_EQ(pool.stats().workers_lost, 1u);
}

TEST(PoolLoss, AHundredCrashesLeaveNoZombiesAndNoDescriptors) {
  Pool pool(fake_options(2, 2));
  const char* const kinds[] = {"segv", "abort", "exit-3", "device-lost", "fault-record"};
  // Runs jobs until `done`; gives up after so many that there must be a leak.
  const auto run_until = [&](const auto& done) {
    for (int i = 0; i < 20000 && !done(); ++i) run_one(pool, job_of("ok"));
  };
  const auto all_up = [&] { return pool.stats().workers_started >= pool.stats().workers_lost + 4; };
  run_until(all_up);
  const auto before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    const auto result = run_one(pool, job_of(kinds[i % 5]));
    EXPECT_NE(result.observations.at(0).end, End::completed);
  }
  EXPECT_EQ(pool.stats().workers_lost, 100u);
  run_until([&] { return all_up() && open_descriptors() <= before; });
  EXPECT_LE(open_descriptors(), before);
  pool.stop();
  EXPECT_TRUE(childless());
}

}  // namespace
}  // namespace redzone::exec::testing
