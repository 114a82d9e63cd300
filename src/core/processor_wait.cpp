#include "core/processor_wait.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>

namespace redzone {

std::chrono::nanoseconds waited_for_processor(pid_t process) {
  // The file has: time on a processor, time runnable without a processor, number of time slices.
  std::ifstream file(fmt::format("/proc/{}/schedstat", process));
  std::int64_t ran = 0, waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds(file ? waited : 0);
}

}  // namespace redzone
