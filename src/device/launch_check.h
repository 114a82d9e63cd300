// Refuses launches that exceed a device's limits, computed in 64 bits so that no extent is clipped
// before, and copies that would block the host. All devices use these functions, so that their
// findings have the same text.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "core/refused_launch.h"
#include "device/device.h"

namespace redzone::device {

// Returns a Failure of kind launch_refused that names the kernel, the value and its limit, or
// nullopt.
inline std::optional<Failure> refused_launch(const LaunchLimits& limits, std::string_view kernel,
                                             const LaunchShape& shape) {
  const auto refused = [&](std::string detail) {
    return Failure{Failure::Kind::launch_refused, std::string(kRefusedLaunchCode),
                   fmt::format("{}: {}", kernel, detail)};
  };
  const auto outside = [&](std::string_view what, std::int64_t value, std::int64_t most) {
    return refused(fmt::format("{} is {}, allowed are 1 to {}", what, value, most));
  };
  constexpr std::string_view kGrid[] = {"grid.x", "grid.y", "grid.z"};
  constexpr std::string_view kBlock[] = {"block.x", "block.y", "block.z"};
  const std::int64_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
  const std::int64_t block[] = {shape.block.x, shape.block.y, shape.block.z};
  for (int k = 0; k < 3; ++k) {
    if (grid[k] < 1 || grid[k] > limits.grid[k]) return outside(kGrid[k], grid[k], limits.grid[k]);
    if (block[k] < 1 || block[k] > limits.block[k])
      return outside(kBlock[k], block[k], limits.block[k]);
  }
  const std::int64_t cluster[] = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  for (int k = 0; k < 3; ++k) {
    if (cluster[k] < 1 || cluster[k] > limits.cluster)
      return outside("an extent of a cluster", cluster[k], limits.cluster);
    if (grid[k] % cluster[k] != 0)
      return refused(
          fmt::format("{} is {}, no multiple of the cluster's {}", kGrid[k], grid[k], cluster[k]));
  }
  if (const auto ctas = cluster[0] * cluster[1] * cluster[2]; ctas > limits.cluster)
    return outside("blocks of a cluster", ctas, limits.cluster);
  const std::int64_t threads = block[0] * block[1] * block[2];
  if (threads > limits.threads_per_block)
    return outside("threads of a block", threads, limits.threads_per_block);
  if (shape.shared_bytes > static_cast<std::uint64_t>(limits.shared_bytes))
    return refused(fmt::format("dynamic shared memory is {} bytes, allowed are 0 to {}",
                               shape.shared_bytes, limits.shared_bytes));
  return std::nullopt;
}

// A copy (`operation`) from or to (`end`: "source" or "destination") pageable memory would block
// the host until the stream reaches the copy, forever if the stream is held. A memset of pageable
// memory is refused as well, so that both have the same rule.
inline Failure pageable(std::string_view operation, std::string_view end) {
  return {
      Failure::Kind::launch_refused, std::string(kTargetErrorCode),
      fmt::format("{}: the {} is neither device memory nor from pinned_memory()", operation, end)};
}

}  // namespace redzone::device
