#include "exec/trial/placement.h"

#include <algorithm>
#include <cstdint>

#include "device/buffer_job.h"

namespace redzone::exec {
namespace {

// Every region starts on a multiple of this, whatever the device and the allocator.
constexpr std::size_t kRegionAlign = 256;

std::byte* align_down(std::byte* p, std::size_t align) {
  return p - (reinterpret_cast<std::uintptr_t>(p) & (align - 1));
}

std::byte* align_up(std::byte* p, std::size_t align) {
  return align_down(p + (align - 1), align);
}

}  // namespace

std::size_t region_bytes(const Storage& storage) {
  const std::size_t slack = storage.align_bytes > kRegionAlign ? storage.align_bytes - 1 : 0;
  return std::max<std::size_t>(storage.bytes + slack, 1);
}

Place place(const device::Region& region, const Storage& storage, const Mode& mode) {
  const bool guarded = mode.allocator == Allocator::guard;
  const bool tail = storage.bytes == 0 || (guarded && mode.placement == Placement::tail);
  std::byte* const end = region.base + region.bytes;
  Place p;
  p.storage = tail ? align_down(end - storage.bytes, storage.align_bytes)
                   : align_up(region.base, storage.align_bytes);
  p.data = p.storage + storage.lead_bytes;
  p.before = p.data;
  p.after = p.storage + storage.bytes;
  if (!guarded) return p;
  const auto window = [](std::ptrdiff_t room) {
    return std::min<std::size_t>(static_cast<std::size_t>(room), device::kCanaryWindowBytes);
  };
  p.before_bytes = window(p.data - region.base);
  p.before -= p.before_bytes;
  p.after_bytes = window(end - p.after);
  return p;
}

}  // namespace redzone::exec
