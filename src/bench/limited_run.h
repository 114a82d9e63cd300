// A program that is run to its end, or for a limited time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace redzone::bench {

struct LimitedRun {
  int exit_code = 0;        // 128 + signal if one has ended it
  bool over_time = false;   // it was killed because its time was over, or `stop` was true
  std::string output = {};  // of standard output and standard error
};

// The program is found by PATH. What it has started ends with it. `stop` is asked several times a
// second. A harness error if it cannot be started.
Result<LimitedRun> run_limited(const std::vector<std::string>& words,
                               std::chrono::milliseconds limit, const std::function<bool()>& stop);

}  // namespace redzone::bench
