// Launches of a guarded process, as stored in its record (record.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::interpose {

inline constexpr std::size_t kLaunchesKept = 64;  // the last ones of the process
inline constexpr std::size_t kKernelNameBytes = 512;
inline constexpr std::size_t kParametersKept = 32;
inline constexpr std::size_t kArgumentBytes = 384;
inline constexpr std::size_t kPointersKept = 16;

enum class LaunchState : std::uint32_t {
  calling,    // the driver's call has not returned
  launched,   // the call has returned: the kernel may run, wait, or be finished
  completed,  // a wait for its stream or its context has returned since
  captured,   // a node of a graph, which runs when the graph is launched
  refused,    // the driver returned an error
};
enum class LaunchKind : std::uint32_t { kernel, graph };

// An argument of pointer size that points into a block, or to its end.
struct PointerRecord {
  std::uint32_t offset_bytes = 0;  // within the arguments
  std::uint32_t block_freed = 0;
  std::uint64_t block_address = 0, block_bytes = 0, block_ordinal = 0;
};

struct LaunchRecord {
  std::uint64_t ordinal = 0;   // 1 for the first launch of the process; 0: unused, or being written
  std::uint64_t returned = 0;  // its call was the n-th to return; 0: it has not returned
  LaunchState state = LaunchState::calling;
  LaunchKind kind = LaunchKind::kernel;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;  // 0: the stream was destroyed
  std::uint64_t blocks = 0;  // number of blocks that the process had allocated
  std::uint32_t thread = 0;
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t shared_bytes = 0;
  std::uint32_t parameters = 0;  // number of parameters with known offsets
  std::uint32_t argument_bytes = 0, pointers_found = 0;
  std::uint16_t offsets[kParametersKept] = {}, sizes[kParametersKept] = {};
  char name[kKernelNameBytes] = {};  // linker name, truncated; "": unknown
  unsigned char arguments[kArgumentBytes] = {};
  PointerRecord pointers[kPointersKept] = {};
};

}  // namespace redzone::interpose
