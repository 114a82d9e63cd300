// An allocator of regions that keeps released regions by exact size, so that a repeated trial maps
// nothing. Subclasses determine how a region is created.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/round_up.h"
#include "device/device.h"

namespace redzone::device {

class RegionCache : public Memory {
 public:
  Status<Region> acquire(std::size_t bytes) final;
  void release(Region region) final;
  void trim() final;
  std::uint64_t mapping_calls() const final { return calls_; }

  // Requires that nothing is in flight. Releases the pages of large cached regions, and frees all
  // cached regions if there are too many.
  void settle();
  // Size of the region that acquire(bytes) returns.
  std::size_t rounded(std::size_t bytes) const { return round_up(bytes, unit_); }

 protected:
  explicit RegionCache(std::size_t unit_bytes) : unit_(unit_bytes) {}

  // `bytes` must be a multiple of the unit. Returns a null base if memory is exhausted.
  virtual Region make(std::size_t bytes) = 0;
  virtual void destroy(Region region) = 0;
  // Discards the contents of a cached region, which stays usable.
  virtual void drop_pages(Region region) = 0;
  void count_call() { ++calls_; }

 private:
  std::size_t unit_;
  std::uint64_t calls_ = 0;
  std::unordered_map<std::size_t, std::vector<Region>> cached_;
  std::size_t cached_regions_ = 0;
  std::size_t cached_bytes_ = 0;  // small regions only: large ones hold no pages
  std::vector<Region> large_;     // cached since the last settle()
};

}  // namespace redzone::device
