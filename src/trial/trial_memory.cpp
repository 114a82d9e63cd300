#include "trial/trial_memory.h"

#include <algorithm>

#include "core/page.h"
#include "core/round_up.h"
#include "device/block_heap.h"

namespace redzone::trial {
namespace {

// Makes host regions of similar sizes share cache entries.
constexpr std::size_t kHostUnitBytes = kPageBytes;

bool in_order(Allocator allocator) {
  return allocator == Allocator::pool || allocator == Allocator::caching;
}

// Searches from the latest region: most regions that are given back early are recent.
template <class List>
auto find(List& list, const device::Region& region) {
  return std::find_if(list.rbegin(), list.rend(),
                      [&](const auto& held) { return held.region.base == region.base; });
}

}  // namespace

void TrialMemory::begin(Allocator allocator, std::size_t most_bytes) {
  device::Device& device = session_.device();
  ordered_ = in_order(allocator) ? &device.ordered_memory(allocator) : nullptr;
  memory_ = ordered_ == nullptr ? &device.memory(allocator) : nullptr;
  most_bytes_ = most_bytes;
  held_bytes_ = 0;
  peak_bytes_ = 0;
}

std::uint64_t TrialMemory::mapping_calls(Allocator allocator) const {
  device::Device& device = session_.device();
  device::Memory& host = device.pinned_memory();
  device::Memory& own = device.memory(in_order(allocator) ? Allocator::plain : allocator);
  std::uint64_t calls = own.mapping_calls();
  if (&host != &own) calls += host.mapping_calls();  // one arena may serve both
  if (in_order(allocator)) calls += device.ordered_memory(allocator).mapping_calls();
  return calls;
}

std::size_t TrialMemory::rounded(std::size_t bytes) const {
  return round_up(
      bytes, ordered() ? device::kOrderedUnitBytes : session_.device().info().granularity_bytes);
}

void TrialMemory::hold(const device::Region& region, std::size_t bytes, int use) {
  held_bytes_ += bytes;
  peak_bytes_ = std::max<std::uint64_t>(peak_bytes_, held_bytes_);
  live_.push_back({region, bytes, use});
}

std::optional<TrialMemory::Held> TrialMemory::take_retired(std::size_t bytes, int use) {
  const auto same = retired_.find(bytes);
  if (same == retired_.end()) return std::nullopt;
  std::deque<Held>& list = same->second;
  auto it = std::find_if(list.begin(), list.end(), [&](const Held& h) { return h.use == use; });
  if (it == list.end()) it = list.begin();
  Held held = *it;
  held.use = use;
  list.erase(it);
  if (list.empty()) retired_.erase(same);
  return held;
}

std::optional<device::Region> TrialMemory::acquire(std::size_t bytes, int stream, int use) {
  if (session_.lost()) return std::nullopt;
  bytes = rounded(bytes);
  if (ordered() && session_.capturing()) return acquire_apart(bytes);
  if (ordered()) {
    const auto region = session_.acquire(*ordered_, bytes, stream);
    if (region) hold(*region, bytes, use);
    return region;
  }
  if (const auto held = take_retired(bytes, use)) {
    live_.push_back(*held);
    return held->region;
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
  hold(*region, bytes, use);
  return *region;
}

std::optional<device::Region> TrialMemory::acquire_lasting(std::size_t bytes) {
  if (session_.lost()) return std::nullopt;
  if (ordered()) return acquire_apart(rounded(bytes));
  const auto region = acquire(bytes);
  if (region) keep(*region);
  return region;
}

device::Memory& TrialMemory::lasting() const {
  return ordered() ? session_.device().memory(Allocator::plain) : *memory_;
}

void TrialMemory::give_up(const device::Region& region) {
  const auto is_it = [&](const device::Region& r) { return r.base == region.base; };
  std::erase_if(apart_, is_it);
  std::erase_if(kept_, [&](const Held& held) { return is_it(held.region); });
}

std::optional<device::Region> TrialMemory::acquire_apart(std::size_t bytes) {
  const auto region = session_.device().memory(Allocator::plain).acquire(bytes);
  if (!region) {
    session_.stop(region.error());
    return std::nullopt;
  }
  held_bytes_ += bytes;
  peak_bytes_ = std::max<std::uint64_t>(peak_bytes_, held_bytes_);
  apart_.push_back(*region);
  return *region;
}

bool TrialMemory::is_apart(const device::Region& region) const {
  return std::any_of(apart_.begin(), apart_.end(),
                     [&](const device::Region& r) { return r.base == region.base; });
}

std::optional<device::Region> TrialMemory::acquire_host(std::size_t bytes) {
  if (session_.lost()) return std::nullopt;
  const auto region = session_.device().pinned_memory().acquire(round_up(bytes, kHostUnitBytes));
  if (!region) {
    session_.stop(region.error());
    return std::nullopt;
  }
  host_.push_back(*region);
  return *region;
}

void TrialMemory::give_back(const device::Region& region, int stream) {
  if (!ordered() || is_apart(region)) return;
  auto* list = &live_;
  auto it = find(*list, region);
  if (it == list->rend()) {
    list = &kept_;
    it = find(*list, region);
  }
  RZ_CHECK(it != list->rend());
  held_bytes_ -= it->bytes;
  list->erase(std::next(it).base());
  session_.release(*ordered_, region, stream);
}

void TrialMemory::retire() {
  if (ordered()) {
    for (const auto& held : live_) {
      held_bytes_ -= held.bytes;
      session_.release(*ordered_, held.region, 0);
    }
  } else {
    for (const auto& held : live_) retired_[held.bytes].push_back(held);
  }
  live_.clear();
}

void TrialMemory::keep(const device::Region& region) {
  if (is_apart(region)) return;
  const auto it = find(live_, region);
  RZ_CHECK(it != live_.rend());
  kept_.push_back(*it);
  live_.erase(std::next(it).base());
}

bool TrialMemory::release_retired() {
  // A capture cannot wait for the device: exceed the limit rather than break the capture.
  if (retired_.empty() || session_.capturing()) return true;
  if (!session_.synchronize()) return false;
  for (const auto& [bytes, list] : retired_)
    for (const auto& held : list) {
      memory_->release(held.region);
      held_bytes_ -= bytes;
    }
  retired_.clear();
  return true;
}

void TrialMemory::end() {
  if (!session_.lost())
    for (const auto& [bytes, list] : retired_)
      for (const auto& held : list) memory_->release(held.region);
  retired_.clear();
  for (auto* list : {&live_, &kept_}) {
    if (!session_.lost())
      for (const auto& held : *list) {
        if (ordered())
          session_.release(*ordered_, held.region, 0);
        else
          memory_->release(held.region);
      }
    list->clear();
  }
  if (!session_.lost())
    for (const auto& region : apart_) session_.device().memory(Allocator::plain).release(region);
  apart_.clear();
  if (!session_.lost())
    for (const auto& region : host_) session_.device().pinned_memory().release(region);
  host_.clear();
}

}  // namespace redzone::trial
