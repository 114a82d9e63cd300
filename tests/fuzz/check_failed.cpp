// RZ_CHECK ends a process by _Exit, at which libFuzzer would lose the input. The harnesses are
// linked with this in its place (--wrap).
#include <cstdio>
#include <cstdlib>

extern "C" [[noreturn]] void __wrap__ZN7redzone12check_failedEPKcS1_i(const char* expression,
                                                                      const char* file, int line) {
  std::fprintf(stderr, "internal check failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}
