// Linked between libFuzzer and a harness (--wrap): no input may take a second of processor time.
// Wall time does not count, so other work on the machine cannot fail an input; libFuzzer itself
// ends an input that waits forever.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/harness.h"

extern "C" int __real_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::int64_t kMostMicroseconds = 1'000'000;

std::int64_t used_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

// Printed at a normal end of the process, in the form of libFuzzer's own figures (scripts/fuzz).
struct Slowest {
  std::int64_t us = 0;
  ~Slowest() {
    std::fprintf(stderr, "stat::slowest_unit_cpu_us: %lld\n", static_cast<long long>(us));
  }
};

}  // namespace

int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Slowest slowest;
  const std::int64_t began = used_us();
  const int result = __real_LLVMFuzzerTestOneInput(data, size);
  const std::int64_t took = used_us() - began;
  slowest.us = std::max(slowest.us, took);
  redzone::fuzz::require(took < kMostMicroseconds, "an input takes less than a second");
  return result;
}
