// The ordinary allocator of a device: buffers lie side by side, aligned to 256 bytes, and nothing
// between them is guarded. An overrun lands in a neighbour, or in nobody's memory, as it would
// under cudaMalloc or a caching allocator; it does not reach the heap of the harness. Nor does what
// lies before the buffers: an offset that wrapped in 32 bits faults there.
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

  // Whether these bytes lie in the reserved addresses, mapped or not.
  bool contains(const void* begin, std::size_t bytes) const;

 private:
  static constexpr std::size_t kLeadBytes = std::size_t{16} << 30;

  Region make(std::size_t bytes) override;
  void destroy(Region region) override;
  void drop_pages(Region region) override;

  std::byte* base_ = nullptr;                    // reserved addresses
  std::size_t open_ = kLeadBytes;                // accessible up to here, but for the lead
  std::size_t used_ = kLeadBytes;                // given out at some time
  std::size_t regions_ = 0;                      // made and not destroyed
  std::multimap<std::size_t, std::byte*> free_;  // by size
};

}  // namespace redzone::device
