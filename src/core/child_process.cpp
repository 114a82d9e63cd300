#include "core/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace redzone {

ChildProcess::ChildProcess(pid_t pid) : pid_(pid) {
  ::setpgid(pid, pid);  // as the child does: whichever of the two runs first
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  ::kill(pid_, SIGKILL);  // it may not have made its group yet
  wait();
}

std::optional<int> ChildProcess::poll(bool wait) {
  if (status_) return status_;
  siginfo_t info = {};
  const int how = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, how) != 0)
    if (errno != EINTR) return status_ = 0xff00;  // another caller reaped it: its status is lost
  if (info.si_pid == 0) return std::nullopt;
  // Its number cannot be that of another group before it is reaped.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return status_ = status;
}

}  // namespace redzone
