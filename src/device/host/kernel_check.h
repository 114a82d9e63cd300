// A check of running kernels. It is notified by the kernel's code (host_checks.h) and by the
// engine.
#pragma once

#include <redzone/host_checks.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace redzone::device {

class KernelCheck : public host::AccessSink {
 public:
  virtual ~KernelCheck() = default;

  // A launch of blocks with `threads_of_block` threads. `code`: base address of the shared object
  // of the kernel; `statics`: its static shared memory.
  virtual void begin_launch(unsigned threads_of_block, const std::byte* code,
                            std::span<std::byte> statics) = 0;
  virtual void start_block(std::uint32_t block) = 0;
  virtual void end_block(std::uint32_t block) = 0;
  // The threads of `block` run from now on; `dynamic_shared` is its dynamic shared memory.
  virtual void enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) = 0;
  // This thread of the block runs from now on.
  virtual void run(int thread) = 0;
  // All threads of the block that have not ended have arrived at the barrier.
  virtual void barrier() = 0;
  // Call it after barrier() if `threads` threads of the block had ended.
  virtual void passed_without(unsigned threads) = 0;
  // These lanes of a warp have taken part in one operation.
  virtual void sync_lanes(unsigned warp, std::uint32_t lanes) = 0;
  // In that operation, this thread of the block read the value of a lane that took no part.
  virtual void asked_absent_lane(unsigned thread) = 0;
  // Until this is called with false, accesses belong to a bulk copy instead of a thread.
  virtual void pause(bool paused) = 0;
  // All threads have ended, or the launch was abandoned.
  virtual void end_launch() = 0;
};

}  // namespace redzone::device
