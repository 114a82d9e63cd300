#include "core/uid.h"

#include <fmt/format.h>

#include <random>

namespace redzone {

std::string new_uid() {
  std::random_device random;
  std::string uid;
  for (int i = 0; i < 4; ++i) uid += fmt::format("{:08x}", random());
  return uid;
}

}  // namespace redzone
