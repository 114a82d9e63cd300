#include "core/processor_wait.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>

namespace redzone {

std::chrono::nanoseconds waited_for_processor(pid_t process) {
  // Time on a processor, time ready to run without one, and how often it got one.
  std::ifstream file(fmt::format("/proc/{}/schedstat", process));
  std::int64_t ran = 0, waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds(file ? waited : 0);
}

}  // namespace redzone
