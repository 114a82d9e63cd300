// The streams of a device, and waits between them.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// kDeviceStreams non-blocking streams (not ordered by the legacy default stream), all created at
// once: creating one later could wait for the device while streams are held.
class StreamSet {
 public:
  static Status<std::unique_ptr<StreamSet>> create(const DriverApi& api);
  ~StreamSet();
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  CUstream operator[](int stream) const;
  std::span<const CUstream> first(int count) const;

  // `stream` waits for all work enqueued on `on` so far. One event for each stream suffices: a wait
  // refers to the record before it, and later records do not change it.
  Status<void> wait(int stream, int on);

 private:
  explicit StreamSet(const DriverApi& api) : api_(api) {}

  const DriverApi& api_;
  std::array<CUstream, kDeviceStreams> streams_ = {};
  std::array<CUevent, kDeviceStreams> events_ = {};
};

}  // namespace redzone::device::cuda
