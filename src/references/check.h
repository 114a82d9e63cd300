// Size checks of references before they index tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace redzone::references {

// Throws std::invalid_argument if the product of `extents` is not `has`, the tensor's number of
// elements.
inline void check_size(const char* tensor, std::size_t has,
                       std::initializer_list<std::int64_t> extents) {
  std::size_t expected = 1;
  for (const std::int64_t extent : extents) expected *= static_cast<std::size_t>(extent);
  if (has != expected)
    throw std::invalid_argument(std::string(tensor) + " has " + std::to_string(has) +
                                " elements, the reference expects " + std::to_string(expected));
}

}  // namespace redzone::references
