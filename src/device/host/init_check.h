// Finds reads of shared memory that neither a thread of the block nor a bulk copy has written. Such
// a read returns poison, or what an earlier block left there. A read counts only if none of its
// bytes has been written, because it may include padding that nobody writes.
#pragma once

#include <unordered_map>
#include <vector>

#include "device/host/sighting_check.h"

namespace redzone::device {

class InitCheck final : public SightingCheck {
 public:
  void begin_launch(unsigned threads_of_block, const std::byte* code,
                    std::span<std::byte> statics) override;
  void start_block(std::uint32_t block) override { blocks_[block] = {}; }
  void end_block(std::uint32_t block) override { blocks_.erase(block); }
  void enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) override;
  void pause(bool paused) override { paused_ = paused; }
  void access(const void* at, std::size_t bytes, host::AccessKind kind, const void* code) override;

 private:
  struct Written {
    std::vector<bool> dynamic, statics;  // by byte
  };
  void take_in(std::vector<bool>& written, std::span<const std::byte> memory, const std::byte* at,
               std::size_t bytes, host::AccessKind kind, const void* code);

  std::unordered_map<std::uint32_t, Written> blocks_;
  Written* current_ = nullptr;
  std::span<const std::byte> dynamic_, statics_;
  bool paused_ = false;
};

}  // namespace redzone::device
