// Detects functions of a spec that do not return.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/spec_calls.h"

namespace redzone {

// The functions of a spec run in the driver, which calls them often and has no supervisor.
// Therefore a thread checks periodically whether the same call of a function is still running. It
// counts its own checks instead of time, so that stopping the process for a while causes no false
// report.
//
// One thread at a time should call the functions: if two threads call them at once, a stuck
// function may be missed, but a function that returns is never reported.
class SpecWatch : public SpecCalls {
 public:
  // Called once, on the watch's own thread, with the function that has not returned for `limit`.
  using Stuck = std::function<void(const std::string& function)>;
  SpecWatch(std::chrono::milliseconds limit, Stuck stuck);
  ~SpecWatch();

  // The name of the function that runs now; null if none does.
  const std::string* running_name() const {
    const Function* const now = running();
    return now == nullptr ? nullptr : &now->name();
  }

 private:
  void look(const std::stop_token& stop);

  std::chrono::milliseconds limit_;
  Stuck stuck_;
  std::mutex mutex_;  // guards the thread's sleep
  std::condition_variable_any wake_;
  std::jthread thread_;  // last member: it uses the others
};

}  // namespace redzone
