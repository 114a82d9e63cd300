// Tasks that wait for their trials side by side: unwinding, order, and exclusive use of the device.
#include "campaign/tasks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <stdexcept>

#include "campaign/fakes.h"

namespace redzone::campaign {
namespace {

using namespace testing;

exec::Job job_of(std::int64_t n) {
  exec::Job job;
  job.id = static_cast<std::uint64_t>(n);
  job.plan = plain_plan({call_of(n, 16)});
  job.trials = {TrialSpec{}};
  return job;
}

TEST(Coroutine, GoesOnWhereItStopped) {
  std::vector<int> seen;
  Coroutine* self = nullptr;
  Coroutine coroutine([&] {
    for (int i = 0; i < 3; ++i) {
      seen.push_back(i);
      self->suspend();
    }
  });
  self = &coroutine;
  EXPECT_TRUE(seen.empty());
  while (!coroutine.ended()) {
    coroutine.resume();
    seen.push_back(-1);
  }
  EXPECT_EQ(seen, (std::vector<int>{0, -1, 1, -1, 2, -1, -1}));
}

TEST(Coroutine, ThrowsWhatItsBodyThrows) {
  Coroutine coroutine([] { throw std::runtime_error("no such shape"); });
  EXPECT_THROW(coroutine.resume(), std::runtime_error);
  EXPECT_TRUE(coroutine.ended());
}

TEST(Coroutine, AnExceptionThatIsCaughtInsideStaysThere) {
  bool caught = false;
  Coroutine* self = nullptr;
  Coroutine coroutine([&] {
    try {
      self->suspend();
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
      caught = true;
    }
  });
  self = &coroutine;
  coroutine.resume();
  coroutine.resume();
  EXPECT_TRUE(caught);
}

TEST(Coroutine, DestroysWhatABodyHasThatDidNotEnd) {
  const auto held = std::make_shared<int>(0);
  bool after = false;
  {
    Coroutine* self = nullptr;
    Coroutine coroutine([&] {
      const auto mine = held;
      self->suspend();
      after = true;
    });
    self = &coroutine;
    coroutine.resume();
    EXPECT_EQ(held.use_count(), 2);
    Coroutine never_begun([mine = held, &after] { after = true; });
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(after);
}

class TasksTest : public ::testing::Test {
 protected:
  // A task that runs `batches` batches of one job, one after another.
  Tasks::Task asks(std::string name, int stage, int batches, exec::RunOptions options = {}) {
    Tasks::Task task;
    task.body = [=, this](exec::Runner& runner) {
      for (int i = 0; i < batches; ++i) {
        const exec::Job job = job_of(i + 1);
        const auto results = runner.run_fresh(std::span(&job, 1), options);
        ran_.push_back(name + (results.at(0).observations.at(0).message == "stopped" ? "!" : ""));
      }
    };
    task.rank = [=] { return Tasks::Rank{.stage = stage}; };
    task.ended = [this, name] { ended_.push_back(name); };
    return task;
  }
  void run_all() {
    for (int i = 0; i < 1000 && tasks_.size() > 0; ++i) {
      tasks_.advance();
      executor_.poll({});
    }
    EXPECT_EQ(tasks_.size(), 0u);
  }

  FakeExecutor executor_{[](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return all_right(plan, trial);
  }};
  Tasks tasks_{executor_};
  std::vector<std::string> ran_, ended_;
};

TEST_F(TasksTest, RunSideBySide) {
  tasks_.add(asks("a", 0, 3));
  tasks_.add(asks("b", 0, 3));
  run_all();
  EXPECT_EQ(ran_, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
}

TEST_F(TasksTest, AnEarlierStageComesFirst) {
  for (const char* name : {"late", "later"}) tasks_.add(asks(name, 2, 2));
  for (const char* name : {"soon", "sooner"}) tasks_.add(asks(name, 1, 2));
  run_all();
  // There are two fresh workers: while both early tasks need one, no other task gets one.
  const std::vector<std::string> first(ran_.begin(), ran_.begin() + 4);
  EXPECT_EQ(std::count(first.begin(), first.end(), "late"), 0);
  EXPECT_EQ(std::count(first.begin(), first.end(), "later"), 0);
  EXPECT_EQ(ended_.size(), 4u);
}

TEST_F(TasksTest, AreToldOfTheirTrialsAndMayAddMore) {
  std::size_t trials = 0;
  Tasks::Task task = asks("a", 0, 2);
  task.ran = [&](auto jobs, auto results) {
    EXPECT_EQ(jobs.size(), results.size());
    trials += results.size();
  };
  task.ended = [&] { tasks_.add(asks("b", 0, 1)); };
  tasks_.add(std::move(task));
  run_all();
  EXPECT_EQ(trials, 2u);
  EXPECT_EQ(ran_, (std::vector<std::string>{"a", "a", "b"}));
}

TEST_F(TasksTest, ATaskOfManyTrialsLetsOthersPassBetweenItsParts) {
  Tasks tasks(executor_, 2);
  std::vector<std::size_t> parts;
  std::size_t had = 0;
  Tasks::Task many;
  many.body = [this](exec::Runner& runner) {
    const std::vector<exec::Job> jobs{job_of(1), job_of(2), job_of(3), job_of(4), job_of(5)};
    const auto results = runner.run_fresh(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(results.at(i).id, jobs[i].id);
    ran_.push_back("many");
  };
  many.rank = [&] { return Tasks::Rank{.due = static_cast<double>(had)}; };
  many.ran = [&](auto jobs, auto results) {
    EXPECT_EQ(jobs.size(), results.size());
    parts.push_back(jobs.size());
    had += jobs.size();
  };
  tasks.add(std::move(many));
  tasks.add(asks("one", 0, 1));
  for (int i = 0; i < 100 && tasks.size() > 0; ++i) {
    tasks.advance();
    executor_.poll({});
  }
  EXPECT_EQ(ran_, (std::vector<std::string>{"one", "many"}));
  EXPECT_EQ(parts, (std::vector<std::size_t>{2, 2, 1}));
}

TEST_F(TasksTest, WhatIsLinkedIsSubmittedTogether) {
  Tasks tasks(executor_, 2);
  std::vector<std::size_t> parts;
  Tasks::Task task;
  task.body = [](exec::Runner& runner) {
    std::vector<exec::Job> jobs;
    for (int i = 0; i < 8; ++i) jobs.push_back(job_of(i));
    for (const std::size_t i : {1, 2, 3}) jobs[i].behind = true;
    for (const std::size_t i : {5, 6}) jobs[i].side_by_side = true;
    runner.run_fresh(jobs);
  };
  task.ran = [&](auto jobs, auto) { parts.push_back(jobs.size()); };
  tasks.add(std::move(task));
  for (int i = 0; i < 100 && tasks.size() > 0; ++i) {
    tasks.advance();
    executor_.poll({});
  }
  EXPECT_EQ(parts, (std::vector<std::size_t>{4, 3, 1}));
}

TEST_F(TasksTest, StopBetweenTwoPartsLeavesTheRestOutOfTheDevice) {
  Tasks tasks(executor_, 2);
  bool stop = false;
  std::vector<std::string> messages;
  Tasks::Task task;
  task.body = [&](exec::Runner& runner) {
    const std::vector<exec::Job> jobs{job_of(1), job_of(2), job_of(3), job_of(4), job_of(5)};
    for (const auto& result : runner.run_fresh(jobs, {.stop = [&] { return stop; }}))
      messages.push_back(result.observations.at(0).message);
  };
  tasks.add(std::move(task));
  tasks.advance();
  executor_.poll({});
  tasks.advance();  // submits the second part
  stop = true;
  tasks.advance();
  EXPECT_EQ(tasks.size(), 0u);
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(std::count(messages.begin(), messages.end(), "stopped"), 3);
  EXPECT_EQ(executor_.trials(), 2u);
}

TEST_F(TasksTest, WhatWantsTheDeviceAloneWaitsForAllOthers) {
  tasks_.add(asks("alone", 0, 2, {.alone = true}));
  tasks_.add(asks("a", 0, 3));
  executor_.submit(job_of(9));  // a job of the screen
  for (int i = 0; i < 10 && tasks_.size() > 1; ++i) {
    EXPECT_FALSE(tasks_.want_quiet());
    tasks_.advance();
    executor_.poll({});
  }
  for (int i = 0; i < 10; ++i) {
    tasks_.advance();
    executor_.poll({});
    EXPECT_TRUE(tasks_.want_quiet());
  }
  EXPECT_EQ(ran_, (std::vector<std::string>{"a", "a", "a"})) << "the screen is still running";
  executor_.next({});
  run_all();
  EXPECT_EQ(ran_, (std::vector<std::string>{"a", "a", "a", "alone", "alone"}));
  EXPECT_FALSE(tasks_.want_quiet());
}

TEST_F(TasksTest, StopEndsWhatWaitsAndWhatRuns) {
  bool stop = false;
  const exec::RunOptions options{.stop = [&] { return stop; }};
  for (int i = 0; i < 5; ++i) tasks_.add(asks("a", 0, 1, options));
  tasks_.advance();
  stop = true;
  tasks_.advance();
  EXPECT_EQ(ran_, std::vector<std::string>(5, "a!"));
  EXPECT_EQ(executor_.trials(), 0u);
}

TEST_F(TasksTest, OnceNoMoreIsSubmittedOnlyWhatRunsIsWaitedFor) {
  for (int i = 0; i < 5; ++i) tasks_.add(asks("a", 0, 2));
  tasks_.advance();
  tasks_.submit_no_more();
  run_all();
  EXPECT_EQ(executor_.trials(), 2u) << "those that a worker was free for";
  EXPECT_EQ(ran_.size(), 10u);
}

TEST_F(TasksTest, ThoseThatHaveNotEndedAreUnwound) {
  const auto held = std::make_shared<int>(0);
  {
    Tasks tasks(executor_);
    Tasks::Task task;
    task.body = [held](exec::Runner& runner) {
      const auto mine = held;
      const exec::Job job = job_of(1);
      runner.run_fresh(std::span(&job, 1));
      FAIL() << "nobody ran it";
    };
    tasks.add(std::move(task));
    tasks.advance();
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
}

// In any order of waiting, all tasks end and each batch gets its own results.
TEST(TasksLaws, EachGetsItsOwnResultsAndAllEnd) {
  EXPECT_TRUE(rc::check("any number of tasks and batches", [] {
    const auto sizes = *rc::gen::container<std::vector<std::vector<int>>>(
        rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5)));
    FakeExecutor executor([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      return all_right(plan, trial);
    });
    Tasks tasks(executor, *rc::gen::inRange<std::size_t>(1, 6));
    std::size_t ended = 0;
    for (std::size_t t = 0; t < sizes.size(); ++t) {
      Tasks::Task task;
      task.body = [&, t](exec::Runner& runner) {
        for (const int size : sizes[t]) {
          std::vector<exec::Job> jobs;
          for (int i = 0; i < size; ++i)
            jobs.push_back(job_of(static_cast<std::int64_t>(100 * (t + 1)) + i));
          const auto results = runner.run_fresh(jobs);
          RC_ASSERT(results.size() == jobs.size());
          for (std::size_t i = 0; i < jobs.size(); ++i) RC_ASSERT(results[i].id == jobs[i].id);
        }
      };
      task.ended = [&] { ++ended; };
      tasks.add(std::move(task));
    }
    for (int i = 0; i < 100000 && tasks.size() > 0; ++i) {
      tasks.advance();
      executor.poll({});
    }
    RC_ASSERT(ended == sizes.size());
  }));
}

}  // namespace
}  // namespace redzone::campaign
