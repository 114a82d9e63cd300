// The driver's stream-ordered pool: cuMemAllocFromPoolAsync and cuMemFreeAsync.
//
// A separate pool, so that its policy affects nothing else. The driver decides what the pool keeps
// and when it maps memory: with a release threshold of 0 it returns everything between trials.
#pragma once

#include <memory>
#include <unordered_set>

#include "device/cuda/driver_api.h"
#include "device/cuda/stream_set.h"
#include "device/device.h"

namespace redzone::device::cuda {

class PoolMemory final : public OrderedMemory {
 public:
  // If the device has no pools, every acquire() fails with `unsupported`. `streams` must outlive
  // this object.
  static Status<std::unique_ptr<PoolMemory>> create(const DriverApi& api, CUdevice device,
                                                    const StreamSet& streams);
  ~PoolMemory() override;  // requires that nothing is in flight
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;

  // Frees what a trial left allocated, and sets the policy. Requires that nothing is in flight.
  Status<void> begin(const PoolPolicy& policy);
  // Returns all unused memory to the device. Requires that nothing is in flight.
  Status<void> trim();

  Status<Region> acquire(std::size_t bytes, int stream) override;
  Status<void> release(Region region, int stream) override;
  // Only the creation of the pool is visible.
  std::uint64_t mapping_calls() const override { return pool_ == nullptr ? 0 : 1; }

 private:
  PoolMemory(const DriverApi& api, const StreamSet& streams) : api_(api), streams_(streams) {}
  Status<void> set(CUmemPool_attribute attribute, int value);

  const DriverApi& api_;
  const StreamSet& streams_;
  CUmemoryPool pool_ = nullptr;  // null: the device has no pools
  PoolPolicy policy_;            // the policy that is set
  std::unordered_set<CUdeviceptr> live_;
};

}  // namespace redzone::device::cuda
