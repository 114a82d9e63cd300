// Runs a program to its end or for a limited time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace redzone::bench {

struct LimitedRun {
  int exit_code = 0;        // 128 + signal if a signal ended it
  bool over_time = false;   // it was killed because its time was over or `stop` returned true
  std::string output = {};  // standard output and standard error
};

// Finds the program by PATH. The processes that it has started end with it. Calls `stop` several
// times a second. A harness error if the program cannot be started.
Result<LimitedRun> run_limited(const std::vector<std::string>& words,
                               std::chrono::milliseconds limit, const std::function<bool()>& stop);

}  // namespace redzone::bench
