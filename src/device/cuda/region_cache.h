// Keeps released regions for the next request of the same size, so that a trial like the one before
// makes no mapping call.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/cuda/region_source.h"
#include "device/device.h"

namespace redzone::device::cuda {

// Waits for all work of the device, then trims every cache of it.
using MakeRoom = std::function<Status<void>()>;

class RegionCache final : public Memory {
 public:
  using MakeSource = std::function<std::unique_ptr<RegionSource>(std::uint64_t& calls)>;

  struct Limits {
    std::size_t region_bytes;  // a larger request is out_of_memory at once
    std::size_t idle_bytes;    // with more in released regions, shrink() gives them all back
  };

  RegionCache(const MakeSource& make_source, MakeRoom make_room, Limits limits);
  ~RegionCache() override;  // needs nothing in flight, and all regions released
  RegionCache(const RegionCache&) = delete;
  RegionCache& operator=(const RegionCache&) = delete;

  // A size that was not seen before makes mapping calls. None of them waits for a stream that is
  // held (measured on an H200, driver 580: all within 0.2 ms, and 25 ms for 64 MiB of the host), so
  // the gate stays as it is, and a worker's first trial holds its launches like any other. When
  // memory has run out, that is tried once more after make_room.
  Status<Region> acquire(std::size_t bytes) override;
  void release(Region region) override;
  void trim() override;
  std::uint64_t mapping_calls() const override { return calls_; }

  // Trims when over the limit; several processes share one GPU. Only with nothing in flight.
  void shrink();

 private:
  std::uint64_t calls_ = 0;
  std::unique_ptr<RegionSource> source_;
  MakeRoom make_room_;
  Limits limits_;
  std::size_t idle_bytes_ = 0;
  std::unordered_map<std::size_t, std::vector<Region>> idle_;  // by size
};

}  // namespace redzone::device::cuda
