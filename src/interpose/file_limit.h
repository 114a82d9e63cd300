// Makes writes beyond the file size limit of the process (ulimit -f) fail without a signal.
#pragma once

#include <signal.h>

namespace redzone::interpose {

// While an object lives, such a write of this thread fails, and SIGXFSZ does not end the program.
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
    // Consume the signal of the write, which was sent to this thread.
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
