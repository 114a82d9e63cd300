// Sources of regions: mapped between guard pages, from the driver's ordinary allocator, or pinned
// host memory.
//
// Sources do not cache; RegionCache does. All functions need the context current. A region may only
// be destroyed when no work in flight uses it.
#pragma once

#include <memory>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

class RegionSource {
 public:
  virtual ~RegionSource() = default;
  // Size of the region for a request of `bytes` (> 0, at most the device's memory).
  virtual std::size_t rounded(std::size_t bytes) const = 0;
  // `bytes` must be rounded. out_of_memory if the device has no more.
  virtual Status<Region> create(std::size_t bytes) = 0;
  virtual void destroy(Region region) = 0;
};

// Physical memory mapped by the virtual memory management API with an unmapped guard on each side.
// `granularity` is that of cuMemGetAllocationGranularity. Regions of equal size have equal guards;
// `calls` counts every driver call that changes a mapping.
std::unique_ptr<RegionSource> make_guard_source(const DriverApi& api, CUdevice device,
                                                std::size_t granularity, std::uint64_t& calls);

// cuMemAlloc: 256-byte aligned, no guard pages.
std::unique_ptr<RegionSource> make_plain_source(const DriverApi& api, std::uint64_t& calls);

// cuMemHostAlloc: pinned host memory, whole pages, at the same addresses on the device.
std::unique_ptr<RegionSource> make_page_locked_source(const DriverApi& api, std::uint64_t& calls);

// Allocation granularity of the guard source.
Status<std::size_t> guard_granularity(const DriverApi& api, CUdevice device);

}  // namespace redzone::device::cuda
