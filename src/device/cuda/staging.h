// Pinned host memory with a counterpart on the device, for tables that are enqueued together with
// work.
//
// A bump allocator: a slice stays untouched until reset(), so any number of batches may be in
// flight, also while the streams are held. Allocates nothing in steady state.
#pragma once

#include <vector>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

class Staging {
 public:
  struct Slice {
    std::byte* host = nullptr;
    CUdeviceptr device = 0;
  };

  explicit Staging(const DriverApi& api) : api_(api) {}
  ~Staging();  // requires that nothing is in flight
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // `bytes` at the same offset in both memories, 16-byte aligned.
  Status<Slice> take(std::size_t bytes);
  // Frees all slices. Requires that nothing is in flight.
  void reset();

 private:
  struct Block {
    std::byte* host = nullptr;
    CUdeviceptr device = 0;
    std::size_t bytes = 0;
  };
  Status<void> grow(std::size_t bytes);

  const DriverApi& api_;
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // block in use
  std::size_t used_ = 0;     // used bytes of that block
};

}  // namespace redzone::device::cuda
