#include "device/cuda/region_cache.h"

#include <fmt/format.h>

#include <iterator>

namespace redzone::device::cuda {

RegionCache::RegionCache(const MakeSource& make_source, MakeRoom make_room, Limits limits)
    : source_(make_source(calls_)), make_room_(std::move(make_room)), limits_(limits) {}

RegionCache::~RegionCache() {
  trim();
}

Status<Region> RegionCache::acquire(std::size_t bytes) {
  if (bytes > limits_.region_bytes)
    return tl::unexpected(
        Failure{Failure::Kind::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY",
                fmt::format("{} bytes on a device that has {}", bytes, limits_.region_bytes)});
  const std::size_t size = source_->rounded(bytes);
  if (const auto fit = idle_.lower_bound(size);
      fit != idle_.end() && fit->first <= limits_.most_times * size)
    return take(fit);
  auto region = source_->create(size);
  if (region || region.error().kind != Failure::Kind::out_of_memory) return region;
  RZ_TRY(make_room_());
  return source_->create(size);
}

Region RegionCache::take(Idle::iterator of_size) {
  const Region region = of_size->second.back();
  of_size->second.pop_back();
  if (of_size->second.empty()) idle_.erase(of_size);
  idle_bytes_ -= region.bytes;
  return region;
}

void RegionCache::release(Region region) {
  idle_[region.bytes].push_back(region);
  idle_bytes_ += region.bytes;
}

void RegionCache::trim() {
  for (auto& [size, regions] : idle_)
    for (const Region& region : regions) source_->destroy(region);
  idle_.clear();
  idle_bytes_ = 0;
}

void RegionCache::shrink() {
  while (idle_bytes_ > limits_.idle_bytes) source_->destroy(take(std::prev(idle_.end())));
}

}  // namespace redzone::device::cuda
