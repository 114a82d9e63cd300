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

// A program to start.
struct ProgramStart {
  std::vector<std::string> words;      // file, or a name to look up in PATH, then the arguments
  char* const* environment = nullptr;  // for execve(); null: inherited from this process
  int input = -1;                      // becomes standard input; -1: inherited
  int output = -1;                     // becomes standard output and standard error; -1: inherited
  int passed_on = -1;  // the only other descriptor to inherit; -1: all without close-on-exec
};

// Owns the child and its process group: the destructor kills both, including all processes that the
// child has started, unless they have left the group.
class ChildProcess {
 public:
  // `pid`: a child of this process that makes itself the leader of a group (setpgid(0, 0)) before
  // it runs code of others.
  explicit ChildProcess(pid_t pid);
  // Runs the program in a child, with default signal handlers and no signal blocked, as a shell
  // starts it. The child is killed when the thread that started it ends, even if that thread is
  // killed. A harness error if the program cannot be executed.
  static Result<ChildProcess> start(ProgramStart program);
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(other.pid_), status_(std::exchange(other.status_, 0)) {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // The wait status if the child has ended; its process group has then been killed, too.
  std::optional<int> ended() { return poll(/*wait=*/false); }
  // Waits until the child ends; returns its wait status.
  int wait() { return *poll(/*wait=*/true); }
  // See processor_wait.h.
  std::chrono::nanoseconds waited_for_processor() const {
    return status_ ? std::chrono::nanoseconds(0) : redzone::waited_for_processor(pid_);
  }
  // Sends the signal to the child alone, not to its group, unless the child has ended.
  void signal(int number);

 private:
  std::optional<int> poll(bool wait);

  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace redzone
