// A pool over the fake worker, and queries about its process.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "exec/pool.h"

namespace redzone::exec::testing {

inline PoolOptions fake_options(std::size_t workers = 1, std::size_t spares = 1) {
  PoolOptions options;
  options.command = {{FAKE_WORKER}};
  options.workers = workers;
  options.spares = spares;
  options.close_grace = std::chrono::milliseconds(1000);
  return options;
}

inline PoolOptions fake_options_starting(const std::string& start) {
  PoolOptions options = fake_options();
  options.command.argv = {FAKE_WORKER, "--start", start};
  return options;
}

// A plan of three calls; its trials differ in their poison: 0, 1, ...
inline Job job_of(std::string target, std::size_t trials = 1, std::uint64_t id = 0) {
  Job job;
  job.id = id;
  job.plan.target = std::move(target);
  job.plan.steps = {CallStep{}, CallStep{}, CallStep{}};
  for (std::size_t i = 0; i < trials; ++i) {
    TrialSpec trial;
    trial.mode.poison = static_cast<std::uint32_t>(i);
    job.trials.push_back(trial);
  }
  return job;
}

inline JobResult run_one(Executor& pool, Job job) {
  pool.submit(std::move(job));
  auto result = pool.next(std::chrono::minutes(1));
  EXPECT_TRUE(result.has_value());
  return result.value_or(JobResult{});
}

// The process that made the observation, as the fake worker reports it.
inline int pid_of(const Observation& seen) {
  return std::atoi(seen.message.c_str());
}
inline int runs_of(const Observation& seen) {
  return std::atoi(seen.message.substr(seen.message.find(' ')).c_str());
}

inline std::size_t open_descriptors() {
  std::size_t n = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir) != nullptr) ++n;
  ::closedir(dir);
  return n;
}

// True when this process has neither children nor zombies.
inline bool childless() {
  siginfo_t info = {};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

}  // namespace redzone::exec::testing
