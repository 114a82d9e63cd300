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

// What the cache needs of the device around it.
struct CacheHooks {
  // Runs `work`, which may wait for the device, with no stream held meanwhile.
  std::function<void(const std::function<void()>& work)> unheld;
  // Waits for all work, then trims every cache of the device.
  std::function<Status<void>()> make_room;
};

class RegionCache final : public Memory {
 public:
  using MakeSource = std::function<std::unique_ptr<RegionSource>(std::uint64_t& calls)>;

  struct Limits {
    std::size_t region_bytes;  // a larger request is out_of_memory at once
    std::size_t idle_bytes;    // with more in released regions, shrink() gives them all back
  };

  RegionCache(const MakeSource& make_source, CacheHooks hooks, Limits limits);
  ~RegionCache() override;  // needs nothing in flight, and all regions released
  RegionCache(const RegionCache&) = delete;
  RegionCache& operator=(const RegionCache&) = delete;

  // A size that was not seen before makes mapping calls; when memory has run out, that is tried
  // once more after make_room.
  Status<Region> acquire(std::size_t bytes) override;
  void release(Region region) override;
  void trim() override;
  std::uint64_t mapping_calls() const override { return calls_; }

  // Trims when over the limit; several processes share one GPU. Only with nothing in flight.
  void shrink();

 private:
  Status<Region> create(std::size_t bytes);

  std::uint64_t calls_ = 0;
  std::unique_ptr<RegionSource> source_;
  CacheHooks hooks_;
  Limits limits_;
  std::size_t idle_bytes_ = 0;
  std::unordered_map<std::size_t, std::vector<Region>> idle_;  // by size
};

}  // namespace redzone::device::cuda
