#include "core/error.h"

#include <cstdio>
#include <cstdlib>

namespace redzone {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "redzone: internal check failed: %s (%s:%d)\n", expression, file, line);
  std::_Exit(kCheckFailedExit);
}

}  // namespace redzone
