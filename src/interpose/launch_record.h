// Launches of a guarded process, as its record (record.h) keeps them.
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
  launched,   // it has: the kernel may run, wait, or be over
  completed,  // a wait for its stream or its context has returned since
  captured,   // a node of a graph, which runs when the graph is launched
  refused,    // by the driver
};
enum class LaunchKind : std::uint32_t { kernel, graph };

// An argument of pointer size that points into a block, or to its end.
struct PointerRecord {
  std::uint32_t offset_bytes = 0;  // within the arguments
  std::uint32_t block_freed = 0;
  std::uint64_t block_address = 0, block_bytes = 0, block_ordinal = 0;
};

struct LaunchRecord {
  std::uint64_t ordinal = 0;   // 1 for the first of the process; 0: none, or being written
  std::uint64_t returned = 0;  // its call was the n-th to return; 0: it has not
  LaunchState state = LaunchState::calling;
  LaunchKind kind = LaunchKind::kernel;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;  // 0: it was destroyed
  std::uint64_t blocks = 0;  // that the process had allocated
  std::uint32_t thread = 0;
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t shared_bytes = 0;
  std::uint32_t parameters = 0;  // of which the place is known; 0 if none is
  std::uint32_t argument_bytes = 0, pointers_found = 0;
  std::uint16_t offsets[kParametersKept] = {}, sizes[kParametersKept] = {};
  char name[kKernelNameBytes] = {};  // as the linker has it, cut off; "": unknown
  unsigned char arguments[kArgumentBytes] = {};
  PointerRecord pointers[kPointersKept] = {};
};

}  // namespace redzone::interpose
