// RZ_CHECK ends the process by _Exit, which would make libFuzzer lose the input. The harnesses are
// linked with this replacement (--wrap).
#include <cstdio>
#include <cstdlib>

extern "C" [[noreturn]] void __wrap__ZN7redzone12check_failedEPKcS1_i(const char* expression,
                                                                      const char* file, int line) {
  std::fprintf(stderr, "internal check failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}
