#include "fuzz/harness.h"

#include <cstdio>
#include <cstdlib>

namespace redzone::fuzz {

void require(bool holds, std::string_view law) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(law.size()), law.data());
  std::abort();
}

}  // namespace redzone::fuzz
