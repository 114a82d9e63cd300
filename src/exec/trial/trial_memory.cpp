#include "exec/trial/trial_memory.h"

#include <algorithm>

namespace redzone::exec {

void TrialMemory::begin(device::Memory& memory, std::size_t most_bytes) {
  memory_ = &memory;
  most_bytes_ = most_bytes;
  held_bytes_ = 0;
  peak_bytes_ = 0;
}

std::size_t TrialMemory::rounded(std::size_t bytes) const {
  const std::size_t unit = session_.device().info().granularity_bytes;
  return (bytes + unit - 1) / unit * unit;
}

std::optional<device::Region> TrialMemory::acquire(std::size_t bytes) {
  if (session_.lost()) return std::nullopt;
  bytes = rounded(bytes);
  for (auto& held : retired_) {
    if (held.bytes != bytes) continue;
    live_.push_back(held);
    held = retired_.back();
    retired_.pop_back();
    return live_.back().region;
  }
  if (held_bytes_ + bytes > most_bytes_ && !release_retired()) return std::nullopt;
  auto region = memory_->acquire(bytes);
  if (!region && region.error().kind == device::Failure::Kind::out_of_memory && !retired_.empty()) {
    if (!release_retired()) return std::nullopt;
    region = memory_->acquire(bytes);
  }
  if (!region) {
    session_.stop(region.error());
    return std::nullopt;
  }
  held_bytes_ += bytes;
  peak_bytes_ = std::max<std::uint64_t>(peak_bytes_, held_bytes_);
  live_.push_back({*region, bytes});
  return *region;
}

void TrialMemory::retire() {
  retired_.insert(retired_.end(), live_.begin(), live_.end());
  live_.clear();
}

void TrialMemory::keep(const device::Region& region) {
  auto it = std::find_if(live_.begin(), live_.end(),
                         [&](const Held& h) { return h.region.base == region.base; });
  RZ_CHECK(it != live_.end());
  kept_.push_back(*it);
  live_.erase(it);
}

bool TrialMemory::release_retired() {
  // During a capture nobody can wait: the limit is passed rather than the capture broken.
  if (retired_.empty() || session_.capturing()) return true;
  if (!session_.synchronize()) return false;
  for (const auto& held : retired_) {
    memory_->release(held.region);
    held_bytes_ -= held.bytes;
  }
  retired_.clear();
  return true;
}

void TrialMemory::end() {
  for (auto* list : {&live_, &retired_, &kept_}) {
    if (!session_.lost())
      for (const auto& held : *list) memory_->release(held.region);
    list->clear();
  }
}

}  // namespace redzone::exec
