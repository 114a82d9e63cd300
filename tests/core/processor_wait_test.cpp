#include "core/processor_wait.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace redzone {
namespace {

using std::chrono::nanoseconds;

// A process that keeps one processor busy.
class Busy {
 public:
  explicit Busy(const cpu_set_t& where) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::sched_setaffinity(0, sizeof where, &where) != 0) ::_exit(1);
    for (volatile unsigned i = 0;;) i = i + 1;
  }
  ~Busy() { end(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0 && std::exchange(running_, false) && ::kill(pid_, SIGKILL) == 0)
      ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
  bool running_ = true;
};

TEST(ProcessorWait, GrowsWhereProcessesShareAProcessor) {
  if (::access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "the kernel does not say";
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  Busy first(one);
  Busy second(one);
  ASSERT_GT(first.pid(), 0);
  ASSERT_GT(second.pid(), 0);
  const auto some = std::chrono::milliseconds(20);
  while (waited_for_processor(first.pid()) < some || waited_for_processor(second.pid()) < some)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  first.end();
  EXPECT_EQ(waited_for_processor(first.pid()), nanoseconds(0)) << "it is gone";
}

}  // namespace
}  // namespace redzone
