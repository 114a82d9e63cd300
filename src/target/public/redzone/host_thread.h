// The interface between a kernel on the host device and the scheduler that runs it.
//
// Each shared object has its own `self`: the registers of the CUDA thread that is running now. The
// device writes `self` at every thread switch, through the pointer that `kernel_ref` puts into the
// KernelRef, so a plugin needs no symbol of the harness, and kernels in the harness itself work the
// same way. One operating-system thread runs all kernels, so `self` needs no lock.
#pragma once

#include <cstdint>

namespace redzone::host {

// CUDA's uint3; kernel sources use that name.
struct Index3 {
  unsigned x, y, z;
};

// Result of a block barrier: the number of threads that arrived, and the number of those with a
// nonzero predicate.
struct BarrierResult {
  int arrived;
  int holding;
};

// Result of a warp-wide exchange for one lane.
struct WarpResult {
  std::uint64_t value;    // of the source lane; poison if that lane took no part
  std::uint32_t ballot;   // lanes whose value was not 0
  std::uint32_t arrived;  // lanes that took part
};

// A bulk copy of a tile that was issued; calling `arrive` performs the copy.
struct BulkCopy {
  void (*arrive)(const BulkCopy& copy) = nullptr;
  void* barrier = nullptr;
  void* to = nullptr;
  std::int32_t at[5] = {};
  alignas(64) unsigned char map[128] = {};
};

// Implemented by the host device. The running CUDA thread calls all members; each may switch to
// other threads before it returns.
class Runtime {
 public:
  virtual BarrierResult sync_block(int predicate) = 0;
  // Waits for all lanes of `mask` that have not exited.
  virtual WarpResult sync_warp(std::uint32_t mask, std::uint64_t value, unsigned source_lane) = 0;
  virtual std::uint32_t live_lanes() = 0;
  // Lets other threads and blocks run; renews Thread::quantum.
  virtual void yield() = 0;
  // Like yield(), for a thread that waits for something that only its own block can do. `again`:
  // since its last stall, the thread has only checked once more. If this holds for all threads of a
  // block, the block is in a deadlock.
  virtual void stall(bool again) = 0;
  virtual long long clock() = 0;
  // Issues a bulk copy, which arrives at any time from now on, at the latest when a thread of the
  // block waits for it (await()). Without a seed it arrives only then.
  virtual void issue(const BulkCopy& copy) = 0;
  // Makes the copies that complete on `barrier` arrive.
  virtual void await(const void* barrier) = 0;
  // Ends the kernel with a fault with this code; both strings are copied.
  [[noreturn]] virtual void refuse(const char* code, const char* detail) = 0;
  // Returns once the grids on which this one depends have ended; see <redzone/kernel.h>.
  virtual void wait_for_producer() = 0;
  // Lets the grids that depend on this one start, once all blocks of this grid have called this or
  // ended.
  virtual void trigger_dependents() = 0;

 protected:
  ~Runtime() = default;
};

struct Thread {
  Index3 thread_idx;
  Index3 block_idx;
  Index3 block_dim;
  Index3 grid_dim;
  unsigned lane;  // in its warp
  int quantum;    // yield points (atomics, fences) left until a thread must yield
  void* dynamic_shared;
  Runtime* runtime;  // null outside a kernel
};

// Hidden, so that every shared object has its own and reaches it without indirection.
__attribute__((visibility("hidden"))) inline Thread self = {};

}  // namespace redzone::host
