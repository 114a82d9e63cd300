// Refuses launches over a device's limits in 64 bits, before an extent could be clipped. Both
// devices answer with it, so that a finding reads the same.
#pragma once

#include <fmt/format.h>

#include <optional>

#include "device/device.h"

namespace redzone::device {

// A Failure of kind launch_refused that names the value and its limit, or nothing.
inline std::optional<Failure> refused_launch(const LaunchLimits& limits, const LaunchShape& shape) {
  const auto refused = [](std::string detail) {
    return Failure{Failure::Kind::launch_refused, "invalid-launch", std::move(detail)};
  };
  constexpr char kAxis[] = {'x', 'y', 'z'};
  const std::int64_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
  const std::int64_t block[] = {shape.block.x, shape.block.y, shape.block.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 1 || grid[i] > limits.grid[i])
      return refused(
          fmt::format("grid.{} is {}, must be in 1..{}", kAxis[i], grid[i], limits.grid[i]));
    if (block[i] < 1 || block[i] > limits.block[i])
      return refused(
          fmt::format("block.{} is {}, must be in 1..{}", kAxis[i], block[i], limits.block[i]));
  }
  const std::int64_t threads = block[0] * block[1] * block[2];
  if (threads > limits.threads_per_block)
    return refused(
        fmt::format("a block has {} threads, at most {}", threads, limits.threads_per_block));
  if (shape.shared_bytes > static_cast<std::uint64_t>(limits.shared_bytes))
    return refused(fmt::format("a block has {} bytes of dynamic shared memory, at most {}",
                               shape.shared_bytes, limits.shared_bytes));
  return std::nullopt;
}

}  // namespace redzone::device
