// The guard arena: one large range of inaccessible addresses, in which regions are opened. At least
// 8 MiB before and after each region stay inaccessible. An access past a buffer therefore faults,
// is attributed to its own buffer up to half that distance, and is distinguishable from a wild
// pointer.
//
// Pages are committed when they are touched: a region of several GiB costs only the used part.
#pragma once

#include <map>
#include <unordered_map>

#include "device/host/region_cache.h"

namespace redzone::device {

class GuardMemory final : public RegionCache {
 public:
  GuardMemory();
  ~GuardMemory() override;
  GuardMemory(const GuardMemory&) = delete;
  GuardMemory& operator=(const GuardMemory&) = delete;

  const std::byte* begin() const { return base_; }
  const std::byte* end() const { return base_ + bytes_; }
  bool contains(const void* at) const { return at >= base_ && at <= base_ + bytes_; }
  // An address without accessible memory near it, for buffers of 0 bytes.
  void* hole() const { return base_ + kHoleBytes / 2; }

 private:
  static constexpr std::size_t kHoleBytes = std::size_t{8} << 20;
  // Before the first region: an offset that wrapped in 32 bits goes up to 2^31 elements back, and
  // must not reach other mappings of the process.
  static constexpr std::size_t kLeadBytes = std::size_t{16} << 30;

  Region make(std::size_t bytes) override;
  void destroy(Region region) override;
  void drop_pages(Region region) override;
  std::byte* place(std::size_t bytes);

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = kLeadBytes;                // bytes from `base_`; the rest was never used
  std::multimap<std::size_t, std::byte*> free_;  // closed ranges by capacity
  std::unordered_map<std::byte*, std::size_t> opened_;  // capacity of the range of each region
};

}  // namespace redzone::device
