#include "trial/placement.h"

#include <algorithm>
#include <cstdint>

#include "device/buffer_job.h"

namespace redzone::trial {
namespace {

std::byte* align_down(std::byte* p, std::size_t align) {
  return p - (reinterpret_cast<std::uintptr_t>(p) & (align - 1));
}

// The first address at or after `p` that is `skew` bytes after a multiple of `align`.
std::byte* align_up(std::byte* p, std::size_t align, std::size_t skew) {
  return p + ((skew - reinterpret_cast<std::uintptr_t>(p)) & (align - 1));
}

// The canaries cover the region outside the buffer, up to a limit. Bytes before element 0 in its
// own storage count as outside.
void set_windows(const device::Region& region, std::size_t lead_bytes, Place& p) {
  const auto room = [](const std::byte* from, const std::byte* to) {
    return static_cast<std::size_t>(to - from);
  };
  p.before_bytes = std::min(room(region.base, p.data), lead_bytes + device::kCanaryWindowBytes);
  p.before = p.data - p.before_bytes;
  p.after_bytes =
      std::min<std::size_t>(room(p.after, region.base + region.bytes), device::kCanaryWindowBytes);
}

}  // namespace

std::size_t region_bytes(const Storage& storage) {
  const std::size_t to_align = storage.align_bytes > kRegionAlign ? storage.align_bytes - 1 : 0;
  const std::size_t slack = to_align + storage.skew_bytes;
  return std::max<std::size_t>(storage.bytes + slack, 1) + 2 * storage.margin_bytes;
}

Place place(const device::Region& region, const Storage& storage, const Mode& mode) {
  const bool guarded = mode.allocator == Allocator::guard;
  const bool tail = storage.bytes == 0 || (guarded && mode.placement == Placement::guard_after);
  std::byte* const begin = region.base + storage.margin_bytes;
  std::byte* const end = region.base + region.bytes - storage.margin_bytes;
  Place p;
  p.region = region;
  p.storage = tail ? align_down(end - storage.bytes - storage.skew_bytes, storage.align_bytes) +
                         storage.skew_bytes
                   : align_up(begin, storage.align_bytes, storage.skew_bytes);
  p.data = p.storage + storage.lead_bytes;
  p.before = p.data;
  p.after = p.storage + storage.bytes;
  if (!guarded) return p;
  set_windows(region, storage.lead_bytes, p);
  return p;
}

std::size_t host_region_bytes(std::size_t bytes) {
  return 2 * device::kCanaryWindowBytes + bytes;
}

Place place_host(const device::Region& region, std::size_t bytes) {
  Place p;
  p.region = region;
  p.storage = p.data = p.before = region.base + device::kCanaryWindowBytes;
  p.after = p.storage + bytes;
  set_windows(region, 0, p);
  return p;
}

}  // namespace redzone::trial
