// A forked child that leads a process group of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/processor_wait.h"

namespace redzone {

// A program to be started.
struct ProgramStart {
  std::vector<std::string> words;      // its file, or a name that PATH has, and its arguments
  char* const* environment = nullptr;  // for execve(); null: that of this process
  int input = -1;                      // takes the place of standard input; -1: it stays
  int output = -1;                     // and of standard output and standard error
  int passed_on = -1;  // the only further descriptor that it inherits; -1: those of this process
};

// The child and its group, which end at the latest with this: also what the child has started, as
// long as it has not left the group.
class ChildProcess {
 public:
  // `pid`: a child of this process that makes itself the leader of a group (setpgid(0, 0)) before
  // it runs code of others.
  explicit ChildProcess(pid_t pid);
  // Runs the program in a child, with the signals as a shell would start it. It ends with the
  // thread that started it, also where that is killed. A harness error if it cannot be run.
  static Result<ChildProcess> start(ProgramStart program);
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(other.pid_), status_(std::exchange(other.status_, 0)) {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // The wait status once it has ended. Its group has then ended, too.
  std::optional<int> ended() { return poll(/*wait=*/false); }
  // Waits for that.
  int wait() { return *poll(/*wait=*/true); }
  // See processor_wait.h.
  std::chrono::nanoseconds waited_for_processor() const {
    return status_ ? std::chrono::nanoseconds(0) : redzone::waited_for_processor(pid_);
  }
  // To the child alone, unless it has ended.
  void signal(int number);

 private:
  std::optional<int> poll(bool wait);

  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace redzone
