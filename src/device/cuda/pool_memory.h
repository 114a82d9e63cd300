// The driver's stream-ordered pool: cuMemAllocFromPoolAsync and cuMemFreeAsync.
//
// A pool of Redzone's own, so that its policy is nobody else's. What it keeps and when it maps is
// the driver's business: between trials with a release threshold of 0 it gives everything back.
#pragma once

#include <memory>
#include <unordered_set>

#include "device/cuda/driver_api.h"
#include "device/cuda/stream_set.h"
#include "device/device.h"

namespace redzone::device::cuda {

class PoolMemory final : public OrderedMemory {
 public:
  // Where the device has no pools, every acquire() says so (unsupported). `streams` outlives this.
  static Status<std::unique_ptr<PoolMemory>> create(const DriverApi& api, CUdevice device,
                                                    const StreamSet& streams);
  ~PoolMemory() override;  // needs nothing in flight
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;

  // Frees what a trial left behind, and sets the policy. Only with nothing in flight.
  Status<void> begin(const PoolPolicy& policy);
  // Gives all memory that is not in use back to the device. Only with nothing in flight.
  Status<void> trim();

  Status<Region> acquire(std::size_t bytes, int stream) override;
  Status<void> release(Region region, int stream) override;
  // Those that can be seen: making the pool.
  std::uint64_t mapping_calls() const override { return pool_ == nullptr ? 0 : 1; }

 private:
  PoolMemory(const DriverApi& api, const StreamSet& streams) : api_(api), streams_(streams) {}
  Status<void> set(CUmemPool_attribute attribute, int value);

  const DriverApi& api_;
  const StreamSet& streams_;
  CUmemoryPool pool_ = nullptr;  // null: the device has none
  PoolPolicy policy_;            // as set
  std::unordered_set<CUdeviceptr> live_;
};

}  // namespace redzone::device::cuda
