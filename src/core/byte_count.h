// A number of bytes as text.
#pragma once

#include <concepts>
#include <string>

namespace redzone {

// "1 byte", "12 bytes".
std::string byte_count(std::integral auto n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

}  // namespace redzone
