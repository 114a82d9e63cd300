// Workers that are forked from one that has loaded its targets.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "pool_fixture.h"

namespace redzone::exec::testing {
namespace {

PoolOptions options_with_zygote(const std::string& start = "") {
  PoolOptions options = fake_options(1, 1);
  if (!start.empty()) options.command.argv = {FAKE_WORKER, "--start", start};
  options.has_zygote = true;
  return options;
}

bool is_fork(const Observation& seen) {
  return seen.message.ends_with(" forked");
}

std::string after_last_space(const std::string& text) {
  return text.substr(text.rfind(' ') + 1);
}

JobResult run_fresh(Pool& pool, const std::string& target) {
  const Job job = job_of(target);
  return std::move(pool.run_fresh({&job, 1}).at(0));
}

// Fresh jobs until one runs in a fork, at most for a minute: the workers before are programs.
JobResult first_in_fork(Pool& pool) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    JobResult result = run_fresh(pool, "ok");
    if (is_fork(result.observations.at(0))) return result;
    if (std::chrono::steady_clock::now() >= until) {
      ADD_FAILURE() << "no fork within a minute";
      return result;
    }
  }
}

// Children of this process, the zygote and its forks, which have its words.
std::vector<int> zygote_and_forks() {
  std::vector<int> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream words(entry.path() / "cmdline"), status(entry.path() / "status");
    const std::string all{std::istreambuf_iterator<char>(words), {}};
    if (all.find(FAKE_WORKER) == std::string::npos || all.find("--zygote") == std::string::npos)
      continue;
    for (std::string line; std::getline(status, line);)
      if (line == "PPid:\t" + std::to_string(::getpid())) out.push_back(pid);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(ForkedWorkers, AreChildrenOfTheDriverAndFresh) {
  Pool pool(options_with_zygote());
  std::set<int> pids{pid_of(first_in_fork(pool).observations.at(0))};
  for (int i = 0; i < 20; ++i) {
    const auto result = run_fresh(pool, "ok");
    const Observation& seen = result.observations.at(0);
    EXPECT_EQ(seen.end, End::completed);
    EXPECT_TRUE(is_fork(seen));
    EXPECT_EQ(runs_of(seen), 1);
    EXPECT_TRUE(pids.insert(pid_of(seen)).second) << "ran before";
  }
  EXPECT_EQ(pool.stats().workers_lost, 0u);
  pool.stop();
  EXPECT_TRUE(childless());
}

TEST(ForkedWorkers, EndAsOthersDo) {
  Pool pool(options_with_zygote());
  first_in_fork(pool);
  const auto killed = run_fresh(pool, "segv").observations.at(0);
  EXPECT_EQ(killed.end, End::fault);
  ASSERT_TRUE(killed.fault.has_value());
  EXPECT_EQ(killed.fault->code, "SIGSEGV");
  const auto exited = run_fresh(pool, "exit-3").observations.at(0);
  EXPECT_EQ(exited.end, End::exited);
  const auto aborted = run_fresh(pool, "abort").observations.at(0);
  EXPECT_EQ(aborted.end, End::fault);
  EXPECT_NE(aborted.message.find("assertion `x < n` failed"), std::string::npos) << aborted.message;
  Job slow = job_of("hang-ignoring-term");
  slow.deadline = std::chrono::milliseconds(50);
  EXPECT_EQ(pool.run_fresh({&slow, 1}).at(0).observations.at(0).end, End::hang);
}

TEST(ForkedWorkers, AreChildrenOfThisProcessAndLeadGroups) {
  PoolOptions options = options_with_zygote();
  options.spares = 2;
  Pool pool(options);
  first_in_fork(pool);
  const auto all = zygote_and_forks();
  EXPECT_GE(all.size(), 2u);
  for (const int pid : all) EXPECT_EQ(::getpgid(pid), pid);
}

TEST(ForkedWorkers, MapAtOtherAddressesThanEachOther) {
  Pool pool(options_with_zygote());
  first_in_fork(pool);
  std::set<std::string> addresses;
  for (int i = 0; i < 4; ++i)
    addresses.insert(after_last_space(run_fresh(pool, "maps-much").observations.at(0).message));
  EXPECT_GT(addresses.size(), 1u);
}

TEST(ForkedWorkers, AreStartedAsProgramsWithoutTheZygote) {
  const std::string parent = "answers-" + std::to_string(::getppid());
  for (const std::string& start :
       {std::string("never-ready"), std::string("dies-when-asked"), std::string("answers-0"),
        std::string("answers-1"), parent, std::string("threads")}) {
    Pool pool(options_with_zygote(start));
    for (int i = 0; i < 12; ++i) {
      const auto result = run_fresh(pool, "ok");
      EXPECT_EQ(result.observations.at(0).end, End::completed) << start;
      EXPECT_FALSE(is_fork(result.observations.at(0))) << start;
    }
    EXPECT_EQ(pool.stats().workers_lost, 0u) << start;
  }
  EXPECT_TRUE(childless());
}

TEST(ForkedWorkers, AZygoteThatDoesNotAnswerIsGivenUp) {
  Pool pool(options_with_zygote("mute"));
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(run_fresh(pool, "ok").observations.at(0).end, End::completed);
}

TEST(ForkedWorkers, TheEndOfTheZygoteCostsNoTrial) {
  Pool pool(options_with_zygote());
  first_in_fork(pool);
  for (const int pid : zygote_and_forks()) ::kill(pid, SIGKILL);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(run_fresh(pool, "ok").observations.at(0).end, End::completed);
}

TEST(ForkedWorkers, EndWithTheDriver) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t driver = ::fork();
  if (driver == 0) {
    PoolOptions options = options_with_zygote();
    options.spares = 4;
    Pool pool(options);
    first_in_fork(pool);
    for (const int pid : zygote_and_forks())
      if (::write(ends[1], &pid, sizeof pid) < 0) ::_exit(1);
    ::raise(SIGKILL);
  }
  ::close(ends[1]);
  std::vector<int> left;
  for (int pid = 0; ::read(ends[0], &pid, sizeof pid) == ssize_t(sizeof pid);) left.push_back(pid);
  ::close(ends[0]);
  ::waitpid(driver, nullptr, 0);
  EXPECT_GE(left.size(), 2u);
  // The test's timeout ends this loop.
  const auto is_gone = [](int pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(in), {}};
    return stat.empty() || stat.find(") Z") != std::string::npos;
  };
  while (!left.empty()) std::erase_if(left, is_gone);
}

}  // namespace
}  // namespace redzone::exec::testing
