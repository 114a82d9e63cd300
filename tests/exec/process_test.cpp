// What a worker process inherits, and what happens to it when its driver dies.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>

#include "exec/shared_box.h"
#include "exec/worker_process.h"
#include "pool_fixture.h"

namespace redzone::exec::testing {
namespace {

// Runs a shell script as a worker and returns what it wrote.
std::string output_of(const std::string& script, Exit* exit = nullptr) {
  auto process = WorkerProcess::start({{"/bin/sh", "-c", script, "sh"}});
  EXPECT_TRUE(process.has_value());
  std::string text;
  for (;;) {
    pollfd fd = {process->output_fd(), POLLIN, 0};
    ::poll(&fd, 1, -1);
    char chunk[4096];
    const ssize_t n = ::read(process->output_fd(), chunk, sizeof chunk);
    if (n <= 0) break;
    text.append(chunk, std::size_t(n));
  }
  for (;;)
    if (const auto ended = process->poll_exit()) {
      if (exit != nullptr) *exit = *ended;
      return text;
    }
}

TEST(WorkerProcess, InheritsTheSocketAndTheBlackBoxAndNothingElse) {
  // A descriptor that is not marked close-on-exec.
  const Fd careless(::open("/dev/null", O_RDONLY));
  const std::string script =
      "[ \"$1 $3\" = '--socket-fd --black-box-fd' ] || echo flags; "
      "for f in /proc/$$/fd/*; do n=${f##*/}; case $n in 0|1|2|$2|$4) ;; *) [ -e $f ] && echo fd "
      "$n; esac; "
      "done; "
      "readlink /proc/$$/fd/0";
  EXPECT_EQ(output_of(script), "/dev/null\n");
}

TEST(WorkerProcess, SaysHowItEnded) {
  Exit exit;
  output_of("exit 7", &exit);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(describe(exit), "exited with code 7");
  output_of("kill -ABRT $$", &exit);
  EXPECT_EQ(exit.signal, SIGABRT);
  EXPECT_EQ(describe(exit), "was killed by SIGABRT");
}

TEST(WorkerProcess, LeadsItsOwnGroupWithSignalsAtTheirDefaults) {
  ::signal(SIGTERM, SIG_IGN);
  Exit exit;
  EXPECT_EQ(
      output_of("[ $(ps -o pgid= -p $$) = $$ ] || echo group; kill -TERM $$; echo alive", &exit),
      "");
  ::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(exit.signal, SIGTERM);
}

TEST(WorkerProcess, DiesWithItsDriver) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t driver = ::fork();
  if (driver == 0) {
    Pool pool(fake_options(1, 0));
    pool.submit(job_of("ok"));
    const auto result = pool.next(std::chrono::minutes(1));
    const int pid = pid_of(result->observations.at(0));
    pool.submit(job_of("hang-ignoring-term"));
    pool.next(std::chrono::milliseconds(50));
    if (::write(ends[1], &pid, sizeof pid) < 0) ::_exit(1);
    ::raise(SIGKILL);
  }
  ::close(ends[1]);
  int worker = 0;
  ASSERT_EQ(::read(ends[0], &worker, sizeof worker), ssize_t(sizeof worker));
  ::close(ends[0]);
  ::waitpid(driver, nullptr, 0);
  // Ended, or a zombie that its new parent has not reaped. The test's timeout ends this loop.
  for (bool gone = false; !gone;) {
    gone = ::kill(worker, 0) != 0;
    std::string stat(256, '\0');
    const Fd file(::open(("/proc/" + std::to_string(worker) + "/stat").c_str(), O_RDONLY));
    if (!file || ::read(file.get(), stat.data(), stat.size()) <= 0) break;
    gone = gone || stat.find(") Z") != std::string::npos;
  }
  SUCCEED();
}

TEST(SharedBox, IsSeenByBothSidesAndCannotBeCutOff) {
  auto driver = SharedBox::create();
  ASSERT_TRUE(driver.has_value());
  auto worker = SharedBox::attach(::dup(driver->fd()));
  ASSERT_TRUE(worker.has_value());
  worker->box().call_begun = 41;
  // A corrupted worker may leave names without a terminator.
  std::memset(worker->box().kernel, 'k', sizeof worker->box().kernel);
  EXPECT_EQ(driver->snapshot().call_begun, 41);
  EXPECT_EQ(std::strlen(driver->snapshot().kernel), sizeof driver->box().kernel - 1);
  EXPECT_NE(::ftruncate(driver->fd(), 0), 0);
}

TEST(SharedBox, RefusesAnotherFile) {
  const auto box = SharedBox::attach(::open("/dev/null", O_RDWR));
  ASSERT_FALSE(box.has_value());
  EXPECT_NE(box.error().message.find("not a black box"), std::string::npos);
}

}  // namespace
}  // namespace redzone::exec::testing
