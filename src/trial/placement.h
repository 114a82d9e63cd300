// Position of a buffer in its region, and its canaries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"
#include "device/device.h"

namespace redzone::trial {

// Every region starts at a multiple of this, for every device and allocator.
inline constexpr std::size_t kRegionAlign = 256;

// The storage of a buffer: `bytes` long, with an aligned start. Element 0 is at offset
// `lead_bytes`; the bytes before element 0 belong to the rest of a larger tensor (a slice).
struct Storage {
  std::size_t bytes = 0;
  std::size_t lead_bytes = 0;
  std::size_t align_bytes = 1;  // a power of two
  // Offset of the start of the storage from a multiple of align_bytes; less than align_bytes.
  std::size_t skew_bytes = 0;
  // Space for canaries between the buffer and each end of its region: a multiple of 256.
  std::size_t margin_bytes = 0;
};

// Canary windows are adjacent to the data; without canaries they are empty.
struct Place {
  std::byte* storage = nullptr;
  std::byte* data = nullptr;  // element 0
  std::byte* before = nullptr;
  std::size_t before_bytes = 0;
  std::byte* after = nullptr;
  std::size_t after_bytes = 0;
  device::Region region = {};  // the region that contains the buffer
};

// Bytes to request from device::Memory for this storage; at least 1.
std::size_t region_bytes(const Storage& storage);

// guard_after: the storage ends at the end of the region less the margin, or as near as its
// alignment allows. guard_before: it starts at the base plus margin and skew. An empty storage
// always lies at the end, so that any access to it leaves the region. Allocators other than `guard`
// place buffers at the base and have no canaries.
Place place(const device::Region& region, const Storage& storage, const Mode& mode);

// Pinned host memory: canaries on both sides in every mode and on every device, and guard pages
// beyond the canaries if the device supports them.
std::size_t host_region_bytes(std::size_t bytes);
Place place_host(const device::Region& region, std::size_t bytes);

}  // namespace redzone::trial
