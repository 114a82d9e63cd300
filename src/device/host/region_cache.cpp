#include "device/host/region_cache.h"

#include <algorithm>
#include <string>

namespace redzone::device {

namespace {

constexpr std::size_t kLargestRegionBytes = std::size_t{64} << 30;
constexpr std::size_t kLargeBytes = std::size_t{16} << 20;
constexpr std::size_t kMostCachedBytes = std::size_t{1} << 30;
constexpr std::size_t kMostCachedRegions = 4096;

tl::unexpected<Failure> out_of_memory(std::size_t bytes, std::string_view why) {
  return tl::unexpected<Failure>(Failure{Failure::Kind::out_of_memory, "out-of-memory",
                                         std::to_string(bytes) + " bytes: " + std::string(why)});
}

}  // namespace

Status<Region> RegionCache::acquire(std::size_t bytes) {
  if (bytes > kLargestRegionBytes)
    return out_of_memory(bytes, "the host device gives at most 64 GiB to one buffer");
  bytes = rounded(std::max<std::size_t>(bytes, 1));
  if (auto found = cached_.find(bytes); found != cached_.end() && !found->second.empty()) {
    const Region region = found->second.back();
    found->second.pop_back();
    --cached_regions_;
    if (bytes <= kLargeBytes)
      cached_bytes_ -= bytes;
    else
      std::erase_if(large_, [&](const Region& r) { return r.base == region.base; });
    return region;
  }
  const Region region = make(bytes);
  if (region.base == nullptr) return out_of_memory(bytes, "no memory of this size is left");
  return region;
}

void RegionCache::release(Region region) {
  if (region.base == nullptr) return;
  cached_[region.bytes].push_back(region);
  ++cached_regions_;
  if (region.bytes <= kLargeBytes)
    cached_bytes_ += region.bytes;
  else
    large_.push_back(region);
}

void RegionCache::settle() {
  for (const Region& region : large_) drop_pages(region);
  large_.clear();
  if (cached_regions_ > kMostCachedRegions || cached_bytes_ > kMostCachedBytes) trim();
}

void RegionCache::trim() {
  for (auto& [bytes, regions] : cached_)
    for (const Region& region : regions) destroy(region);
  cached_.clear();
  large_.clear();
  cached_regions_ = 0;
  cached_bytes_ = 0;
}

}  // namespace redzone::device
