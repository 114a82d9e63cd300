// Finds threads that end while others of their block wait for them at a barrier, and lanes that ask
// for the value of a lane which takes no part in the operation. The first is allowed since compute
// capability 7.0, where ended threads do not count, and hangs or is undefined at barriers of other
// kinds; the second gives an undefined value everywhere (CUDA C++ Programming Guide,
// "Synchronization Functions" and "Warp Shuffle Functions").
#pragma once

#include <unordered_map>
#include <vector>

#include "device/host/sighting_check.h"

namespace redzone::device {

class SyncCheck final : public SightingCheck {
 public:
  void begin_launch(unsigned threads_of_block, const std::byte* code,
                    std::span<std::byte> statics) override;
  void start_block(std::uint32_t block) override;
  void end_block(std::uint32_t block) override { waits_.erase(block); }
  void left(unsigned threads) override;
  void astray(unsigned thread) override;
  void waits(const void* code) override;

 private:
  struct Waits {
    std::vector<const void*> code;  // where each thread has waited last; null: nowhere
    std::uint32_t last = 0;         // the thread that came last
  };

  unsigned threads_ = 0;
  std::unordered_map<std::uint32_t, Waits> waits_;  // of each block that has started
};

}  // namespace redzone::device
