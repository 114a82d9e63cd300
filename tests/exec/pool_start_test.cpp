// Workers that do not start: the pool reports it and stops trying.
#include "pool_fixture.h"

namespace redzone::exec::testing {
namespace {

void expect_refused(Pool& pool, const std::string& reason) {
  const auto warm = run_one(pool, job_of("ok", 2, 5));
  EXPECT_EQ(warm.id, 5u);
  const Job job = job_of("ok", 2);
  const auto fresh = pool.run_fresh({&job, 1}).at(0);
  for (const auto& result : {warm, fresh}) {
    ASSERT_EQ(result.observations.size(), 2u);
    for (const auto& seen : result.observations) {
      EXPECT_EQ(seen.end, End::worker_error);
      EXPECT_NE(seen.message.find(reason), std::string::npos) << seen.message;
    }
  }
  const auto hello = pool.wait_ready(std::chrono::minutes(1));
  if (!hello) {
    EXPECT_NE(hello.error().message.find(reason), std::string::npos);
  }
}

TEST(PoolStart, AWorkerThatFailsIsQuoted) {
  Pool pool(fake_options_starting("fails"));
  expect_refused(pool,
                 "exited with code 4 before its first trial: no device: the driver is too old");
  EXPECT_LE(pool.stats().workers_started, 8u);
}

TEST(PoolStart, AProgramThatIsNotThereIsNamed) {
  PoolOptions options = fake_options();
  options.command.argv = {"/nowhere/redzone"};
  Pool pool(options);
  expect_refused(pool, "cannot start /nowhere/redzone: No such file or directory");
}

TEST(PoolStart, AProgramThatIsNoWorkerIsNoticed) {
  Pool pool(fake_options_starting("rubbish"));
  expect_refused(pool, "bytes that are not a message");
}

TEST(PoolStart, AWorkerThatDiesBeforeItsFirstTrialIsNotReplacedForEver) {
  Pool pool(fake_options_starting("dies-idle"));
  expect_refused(pool, "exited with code 6 before");
  EXPECT_LE(pool.stats().workers_started, 12u);
}

TEST(PoolStart, SilenceHasADeadline) {
  PoolOptions options = fake_options_starting("silent");
  options.start_deadline = std::chrono::milliseconds(100);
  Pool pool(options);
  expect_refused(pool, "did not send Hello within 100 ms");
}

TEST(PoolStart, WaitingForItCanBeInterrupted) {
  PoolOptions options = fake_options_starting("silent");
  int asked = 0;
  options.interrupted = [&] { return ++asked > 2; };
  Pool pool(options);
  const auto hello = pool.wait_ready(std::chrono::hours(1));
  ASSERT_FALSE(hello.has_value());
  EXPECT_NE(hello.error().message.find("interrupted"), std::string::npos);
}

TEST(PoolStart, NoMoreWorkersStartAtOnceThanAllowed) {
  PoolOptions options = fake_options(2, 3);
  options.most_starting = 2;
  Pool pool(options);
  EXPECT_EQ(pool.stats().workers_started, 2u);
  // The others follow as these come up.
  const Job job = job_of("ok");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool.run_fresh({&job, 1}).at(0).observations.size(), 1u);
  const auto until = Clock::now() + std::chrono::minutes(1);
  while (pool.stats().workers_started < 10 && Clock::now() < until)
    pool.poll(std::chrono::milliseconds(10));
  EXPECT_EQ(pool.stats().workers_started, 10u);

  PoolOptions silent = fake_options_starting("silent");
  silent.spares = 8;
  silent.most_starting = 2;
  Pool stuck(silent);
  stuck.poll(std::chrono::milliseconds(50));
  EXPECT_EQ(stuck.stats().workers_started, 2u);
}

TEST(PoolStop, IsBoundedWhateverTheWorkersDo) {
  for (const char* act : {"ok", "hang", "hang-ignoring-term", "flood-forever"}) {
    Pool pool(fake_options(2, 1));
    pool.submit(job_of(act));
    pool.next(std::chrono::milliseconds(100));
    pool.stop();
    EXPECT_TRUE(childless()) << act;
  }
}

TEST(PoolStop, WorksBeforeAnyWorkerIsUp) {
  for (int i = 0; i < 20; ++i) Pool pool(fake_options(2, 2));
  EXPECT_TRUE(childless());
}

}  // namespace
}  // namespace redzone::exec::testing
