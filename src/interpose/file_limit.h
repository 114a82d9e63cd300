// Writes to files that may be larger than the limit of the process (ulimit -f) allows.
#pragma once

#include <signal.h>

namespace redzone::interpose {

// While it lives, such a write of this thread fails, and no signal ends the program.
class FileLimitAsError {
 public:
  FileLimitAsError() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileLimitAsError() {
    sigset_t pending;
    ::sigpending(&pending);
    const timespec now{0, 0};
    // The one of the write, which was sent to this thread.
    if (!was_pending_ && ::sigismember(&pending, SIGXFSZ) == 1)
      ::sigtimedwait(&signal_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileLimitAsError(const FileLimitAsError&) = delete;
  FileLimitAsError& operator=(const FileLimitAsError&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

}  // namespace redzone::interpose
