// Finds lanes that take part in a warp operation whose mask does not name them, and lanes of one
// warp that meet at __syncthreads() of different lines, which is undefined on every device. If an
// error depends on facts that the check does not know, it is a warning:
// * Threads that have ended when the other threads of their block pass a barrier: allowed since
//   compute capability 7.0, but a bug before it, and at barriers with a number of threads.
// * Lanes that read the value of a lane which takes no part in the operation: the value is
//   undefined, but a kernel may not use it.
// * Warps that meet at __syncthreads() of different lines: undefined in CUDA C++, but the barrier
//   of the hardware counts them nevertheless.
// * Lanes that take part in one warp operation from different lines: correct if both lines have the
//   same operation.
// (CUDA C++ Programming Guide, "Synchronization Functions" and "Warp Shuffle Functions".)
#pragma once

#include <unordered_map>
#include <vector>

#include "device/host/sighting_check.h"
#include "device/host/source_lines.h"

namespace redzone::device {

class SyncCheck final : public SightingCheck {
 public:
  // `lines` distinguishes places and must outlive the check.
  explicit SyncCheck(SourceLines& lines) : lines_(lines) {}

  void begin_launch(unsigned threads_of_block, const std::byte* code,
                    std::span<std::byte> statics) override;
  void start_block(std::uint32_t block) override;
  void end_block(std::uint32_t block) override { waits_.erase(block); }
  void barrier() override;
  void passed_without(unsigned threads) override;
  void sync_lanes(unsigned warp, std::uint32_t lanes) override;
  void asked_absent_lane(unsigned thread) override;
  void at_barrier(const void* code) override;
  void in_warp(std::uint32_t mask, const void* code) override;

 private:
  struct Waits {
    std::vector<const void*> in_warp;  // place of each thread's last operation; null: none
    const void* at_barrier = nullptr;  // place of the last thread to arrive; all live ones did
    std::uint32_t last = 0;            // that thread
    // Threads that wait at the barrier now:
    const void* first = nullptr;             // place of the first of them
    std::vector<const void*> first_of_warp;  // place of the first of each warp; null: none
  };

  SourceLines& lines_;
  unsigned threads_ = 0;
  std::unordered_map<std::uint32_t, Waits> waits_;  // for each block that has started
};

}  // namespace redzone::device
