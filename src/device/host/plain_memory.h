// The ordinary allocator of a device: buffers are adjacent, aligned to 256 bytes, without guard
// pages. An overrun reaches a neighbour, or unused memory, as under cudaMalloc or a caching
// allocator, but never the heap of the harness. The range before the buffers is inaccessible, so an
// offset that wrapped in 32 bits faults.
#pragma once

#include <map>

#include "device/host/region_cache.h"

namespace redzone::device {

class PlainMemory final : public RegionCache {
 public:
  PlainMemory();
  ~PlainMemory() override;
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  const std::byte* begin() const { return base_; }
  const std::byte* end() const;
  // Whether these bytes lie in the reserved addresses, mapped or not.
  bool contains(const void* begin, std::size_t bytes) const;

 private:
  static constexpr std::size_t kLeadBytes = std::size_t{16} << 30;

  Region make(std::size_t bytes) override;
  void destroy(Region region) override;
  void drop_pages(Region region) override;

  std::byte* base_ = nullptr;                    // reserved addresses
  std::size_t open_ = kLeadBytes;                // accessible up to here, except for the lead
  std::size_t used_ = kLeadBytes;                // allocated at some time
  std::size_t regions_ = 0;                      // created and not destroyed
  std::multimap<std::size_t, std::byte*> free_;  // by size
};

}  // namespace redzone::device
