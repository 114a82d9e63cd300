// A check of the kernels that run: what their code announces (host_checks.h), and what the engine
// knows.
#pragma once

#include <redzone/host_checks.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace redzone::device {

class KernelCheck : public host::AccessSink {
 public:
  virtual ~KernelCheck() = default;

  // A launch of blocks with so many threads. `code`: where the shared object of the kernel begins;
  // `statics`: its static shared memory.
  virtual void begin_launch(unsigned threads_of_block, const std::byte* code,
                            std::span<std::byte> statics) = 0;
  virtual void start_block(std::uint32_t block) = 0;
  virtual void end_block(std::uint32_t block) = 0;
  // The block whose threads run from now on, and its dynamic shared memory.
  virtual void enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) = 0;
  // Its thread that runs from now on.
  virtual void run(int thread) = 0;
  // All threads of the block that have not ended have arrived at the barrier ...
  virtual void barrier() = 0;
  // ... and so many had ended.
  virtual void passed_without(unsigned threads) = 0;
  // These lanes of a warp have taken part in one operation ...
  virtual void sync_lanes(unsigned warp, std::uint32_t lanes) = 0;
  // ... in which this thread of the block asked for the value of a lane that did not.
  virtual void asked_absent_lane(unsigned thread) = 0;
  // Accesses are those of a bulk copy, and no thread's, until it is false again.
  virtual void pause(bool paused) = 0;
  // All threads have ended, or the launch was given up.
  virtual void end_launch() = 0;
};

}  // namespace redzone::device
