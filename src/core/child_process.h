// A forked child that leads a process group of its own.
#pragma once

#include <sys/types.h>

#include <optional>

namespace redzone {

// The child and its group, which end at the latest with this: also what the child has started, as
// long as it has not left the group.
class ChildProcess {
 public:
  // `pid`: a child of this process that makes itself the leader of a group (setpgid(0, 0)) before
  // it runs code of others.
  explicit ChildProcess(pid_t pid);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // The wait status once it has ended. Its group has then ended, too.
  std::optional<int> ended() { return poll(/*wait=*/false); }
  // Waits for that.
  int wait() { return *poll(/*wait=*/true); }

 private:
  std::optional<int> poll(bool wait);

  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace redzone
