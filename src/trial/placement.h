// Where a buffer lies in its region, and which bytes beside it are canaries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"
#include "device/device.h"

namespace redzone::trial {

// The storage of a buffer: `bytes` long, its start aligned. Element 0 lies `lead_bytes` into it, so
// that what comes before element 0 belongs to others (a slice of a larger tensor).
struct Storage {
  std::size_t bytes = 0;
  std::size_t lead_bytes = 0;
  std::size_t align_bytes = 1;  // a power of two
};

// Windows touch the data; with no canaries they are empty.
struct Place {
  std::byte* storage = nullptr;
  std::byte* data = nullptr;  // element 0
  std::byte* before = nullptr;
  std::size_t before_bytes = 0;
  std::byte* after = nullptr;
  std::size_t after_bytes = 0;
};

// Bytes to ask of device::Memory for this storage; at least 1.
std::size_t region_bytes(const Storage& storage);

// tail: the storage ends at the end of the region, or as near as its alignment allows. head: it
// starts at the base. An empty storage lies at the end in both cases, so that any access to it
// leaves the region. All other allocators than `guard` place at the head and have no
// canaries.
Place place(const device::Region& region, const Storage& storage, const Mode& mode);

// Page-locked memory of the host: canaries on both sides, whatever the mode and the device, and
// behind them a hole where the device can make one.
std::size_t host_region_bytes(std::size_t bytes);
Place place_host(const device::Region& region, std::size_t bytes);

}  // namespace redzone::trial
