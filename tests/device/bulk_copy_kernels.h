// The kernel of the bulk copy tests: one source, compiled by g++ and by nvcc.
#pragma once

#include <redzone/target.h>

namespace redzone::device::testing {

struct TileAt {
  int at[2][5];  // coordinates of both tiles, innermost first
};

// (TensorMap map, TileAt at, unsigned bytes, unsigned char* to): copies two tiles of `bytes` one
// after the other through the same barrier and shared memory, and writes both to `to`. Requires
// tile_shared_bytes() of shared memory.
KernelRef copy_tiles_kernel(int rank);
inline std::size_t tile_shared_bytes(unsigned bytes) {
  return bytes + 1024;
}
// The same arguments; issues one copy and ends without it.
KernelRef leave_tile_kernel();
// The same arguments; initializes a barrier between two multiples of 8 bytes.
KernelRef misplace_barrier_kernel();

}  // namespace redzone::device::testing
