#include "core/error.h"

#include <cstdio>
#include <cstdlib>

#include "core/check_failure.h"

namespace redzone {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s%s (%s:%d)\n", kCheckFailedText.data(), expression, file, line);
  std::_Exit(kCheckFailedExit);
}

}  // namespace redzone
