// Regions of the guard arena, cached by size. At least 8 MiB before and after each region stay
// inaccessible.
#pragma once

#include "device/host/guard_arena.h"
#include "device/host/region_cache.h"

namespace redzone::device {

class GuardMemory final : public RegionCache {
 public:
  GuardMemory();

  const std::byte* begin() const { return arena_.begin(); }
  const std::byte* end() const { return arena_.end(); }
  bool contains(const void* at) const { return arena_.contains(at); }
  // An address without accessible memory near it, for buffers of 0 bytes.
  void* inaccessible() const { return const_cast<std::byte*>(arena_.begin()) + kGuardBytes / 2; }

 private:
  static constexpr std::size_t kGuardBytes = std::size_t{8} << 20;

  Region make(std::size_t bytes) override;
  void destroy(Region region) override;
  void drop_pages(Region region) override;

  GuardArena arena_;
};

}  // namespace redzone::device
