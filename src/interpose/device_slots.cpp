// Slots of DeviceMemory: mapping and sharing slots, and reusing spare ones.
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "interpose/current_context.h"
#include "interpose/device_layout.h"
#include "interpose/device_memory.h"
#include "interpose/device_waits.h"
#include "interpose/internal_scope.h"

namespace redzone::interpose {
namespace {

CuMemAllocationProp properties_of(CuDevice device) {
  CuMemAllocationProp out;
  out.type = kCuAllocationPinned;
  out.location = {kCuLocationDevice, device};
  return out;
}

std::size_t cell_bytes(std::size_t bytes) {
  return std::max(kSmallestCell, std::bit_ceil(bytes + 2 * kZoneBytes + kMostAlignBytes));
}

}  // namespace

DeviceMemory::PerDevice& DeviceMemory::per_device(CuDevice device) {
  const auto [at, is_new] = devices_.try_emplace(device);
  PerDevice& state = at->second;
  if (!is_new) return state;
  int has = 0;
  std::size_t total = 0;
  const auto properties = properties_of(device);
  state.can_map =
      driver_.get_device_attribute(&has, kCuAttributeVirtualMemory, device) == kCuSuccess &&
      has != 0 &&
      driver_.get_granularity(&state.granularity, &properties, kCuGranularityMinimum) ==
          kCuSuccess &&
      state.granularity != 0;
  state.budget_bytes = settings_.max_memory_bytes;
  if (state.budget_bytes == 0 && driver_.get_total_memory(&total, device) == kCuSuccess)
    state.budget_bytes = total / 2;
  return state;
}

std::size_t DeviceMemory::region_bytes(std::size_t bytes, const PerDevice& device) const {
  return (bytes + device.granularity - 1) / device.granularity * device.granularity;
}

std::optional<DeviceMemory::Region> DeviceMemory::spare_region(const SpareKey& key,
                                                               std::size_t bytes, bool painted) {
  const auto at = spare_.find(key);
  if (at == spare_.end() || at->second.empty()) return std::nullopt;
  auto& regions = at->second;
  // Prefer a region whose poison and canaries are in place for this size, because it needs no
  // memset.
  constexpr std::size_t kSearched = 32;
  const std::size_t from = regions.size() > kSearched ? regions.size() - kSearched : 0;
  std::size_t chosen = regions.size();
  for (std::size_t i = regions.size(); i-- > from && chosen == regions.size();)
    if (regions[i].painted_at != 0 && regions[i].painted_bytes == bytes) chosen = i;
  if (chosen == regions.size()) {
    if (painted) return std::nullopt;
    --chosen;
  }
  const Region out = regions[chosen];
  regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(chosen));
  recorder_.count(Counter::slots_reused);
  return out;
}

std::optional<DeviceMemory::Region> DeviceMemory::take_region(Lock& lock, std::size_t bytes,
                                                              CuContext context, CuDevice device) {
  PerDevice& state = per_device(device);
  const std::size_t needed = region_bytes(bytes, state);
  const SpareKey own{context, needed, false};
  const auto is_over = [&] { return state.mapped_bytes + needed > state.budget_bytes; };
  if (auto spare = spare_region(own, bytes, false)) return spare;
  if (is_over()) {
    // First collect freed regions; then release spare regions that only blocks of other sizes could
    // use.
    poll("cuMemAlloc");
    if (auto spare = spare_region(own, bytes, false)) return spare;
    trim(device, state.mapped_bytes + needed - state.budget_bytes);
  }
  if (is_over() && cell_bytes(bytes) <= kLargestCell)
    if (auto cell = take_cell(lock, bytes, context, device)) return cell;
  Slot slot;
  const int failed = map_slot(lock, needed, context, device, slot);
  if (failed != kCuSuccess) {
    recorder_.count(failed == kCuOutOfMemory ? Counter::left_out_memory
                                             : Counter::left_out_refused);
    return std::nullopt;
  }
  return Region{slot, slot.base, slot.bytes, false, context, 0, 0};
}

std::optional<DeviceMemory::Region> DeviceMemory::take_cell(Lock& lock, std::size_t bytes,
                                                            CuContext context, CuDevice device) {
  const std::size_t cell = cell_bytes(bytes);
  const SpareKey key{context, cell, true};
  if (auto spare = spare_region(key, bytes, false)) return spare;
  Slot slot;
  if (map_slot(lock, region_bytes(kLargestCell, per_device(device)), context, device, slot) !=
      kCuSuccess)
    return std::nullopt;
  contexts_.at(context).shared_slots.push_back(slot);
  auto& cells = spare_[key];
  // The first cell would be the last of the list; it is returned instead.
  for (std::size_t at = slot.bytes / cell; at-- > 1;)
    cells.push_back({slot, slot.base + at * cell, cell, true, context, 0, 0});
  return Region{slot, slot.base, cell, true, context, 0, 0};
}

int DeviceMemory::map_slot(Lock& lock, std::size_t bytes, CuContext context, CuDevice device,
                           Slot& out) {
  make_sink(lock, context, device);
  int failed = try_map_slot(bytes, device, out);
  while (failed == kCuOutOfMemory && (trim(device) || wait_for_free(lock, context, device)))
    failed = try_map_slot(bytes, device, out);
  return failed;
}

int DeviceMemory::give_access(const Slot& slot) {
  std::vector<CuMemAccessDesc> all{{{kCuLocationDevice, slot.device}, kCuAccessReadWrite}};
  for (const CuDevice peer : devices_[slot.device].peers)
    all.push_back({{kCuLocationDevice, peer}, kCuAccessReadWrite});
  return driver_.set_access(slot.base, slot.bytes, all.data(), all.size());
}

void DeviceMemory::peer_enabled(CuContext other) {
  const std::lock_guard lock(mutex_);
  CuDevice accessor = 0, owner = 0;
  if (driver_.get_device(&accessor) != kCuSuccess) return;
  {
    const CurrentContext current(driver_, other);
    if (driver_.get_device(&owner) != kCuSuccess) return;
  }
  if (!per_device(owner).peers.insert(accessor).second) return;
  const auto give = [&](const Region& region) {
    if (region.slot.device == owner && !region.shared) give_access(region.slot);
  };
  for (const auto& [address, block] : live_) give(block.region);
  for (const auto& [stream, pending] : pending_)
    for (const Pending& one : pending) give(one.block.region);
  for (const Block& block : deferred_) give(block.region);
  for (const auto& [key, regions] : spare_)
    for (const Region& region : regions) give(region);
  for (const auto& [context, state] : contexts_)
    for (const Slot& slot : state.shared_slots)
      if (slot.device == owner) give_access(slot);
}

int DeviceMemory::try_map_slot(std::size_t bytes, CuDevice device, Slot& out) {
  PerDevice& state = per_device(device);
  Slot slot;
  slot.bytes = bytes;
  slot.device = device;
  slot.reserved_bytes = bytes + 2 * state.granularity;
  if (const int failed =
          driver_.reserve(&slot.reservation, slot.reserved_bytes, state.granularity, 0, 0))
    return failed;
  slot.base = slot.reservation + state.granularity;
  const auto properties = properties_of(device);
  int failed = driver_.create(&slot.handle, bytes, &properties, 0);
  if (failed == kCuSuccess) {
    failed = driver_.map(slot.base, bytes, 0, slot.handle, 0);
    if (failed == kCuSuccess) {
      failed = give_access(slot);
      if (failed != kCuSuccess) driver_.unmap(slot.base, bytes);
    }
    if (failed != kCuSuccess) driver_.release(slot.handle);
  }
  if (failed != kCuSuccess) {
    driver_.free_reservation(slot.reservation, slot.reserved_bytes);
    return failed;
  }
  map_sinks(slot);
  state.mapped_bytes += bytes;
  recorder_.count(Counter::slots_mapped);
  out = slot;
  return kCuSuccess;
}

void DeviceMemory::unmap(const Slot& slot, bool keep_addresses) {
  unmap_sinks(slot);
  driver_.unmap(slot.base, slot.bytes);
  driver_.release(slot.handle);
  devices_[slot.device].mapped_bytes -= slot.bytes;
  if (keep_addresses) return;
  driver_.free_reservation(slot.reservation, slot.reserved_bytes);
  // The driver may use these addresses for its own blocks.
  freed_.erase(freed_.lower_bound(slot.reservation),
               freed_.lower_bound(slot.reservation + slot.reserved_bytes));
}

// Releases spare slots to the driver until `bytes` bytes are released. False if there were none.
bool DeviceMemory::trim(CuDevice device, std::size_t bytes) {
  std::size_t given = 0;
  for (auto& [key, regions] : spare_) {
    if (std::get<2>(key)) continue;
    std::erase_if(regions, [&](const Region& region) {
      if (region.slot.device != device || given >= bytes) return false;
      unmap(region.slot, false);
      given += region.bytes;
      return true;
    });
  }
  return given != 0;
}

// Waits until memory of the device that the program has freed comes back, by default without a
// limit: without the guard the memory would be available, because cuMemFree() itself waits for the
// device. False if no freed memory is pending, the time is over, the context is gone, or a capture
// begins.
bool DeviceMemory::wait_for_free(Lock& lock, CuContext context, CuDevice device,
                                 std::uint64_t most_us) {
  const std::uint64_t id = contexts_.at(context).id;
  const auto coming_back = [&] {
    std::ptrdiff_t out = 0;
    for (const auto& [stream, pending] : pending_)
      out += std::count_if(pending.begin(), pending.end(), [&](const Pending& one) {
        const Region& region = one.block.region;
        return !region.shared && region.slot.device == device && !is_broken(region.context);
      });
    return out;
  };
  unsigned pause_us = kFirstPauseUs;
  for (std::uint64_t waited_us = 0;; waited_us += pause_us) {
    if (holds_back()) return false;
    const auto before = coming_back();
    poll("cuMemAlloc");
    const auto now = coming_back();
    if (now != before) return true;
    if (now == 0 || waited_us >= most_us) return false;
    pause_us = std::min(2 * pause_us, kLongestPauseUs);
    lock.unlock();
    ::usleep(pause_us);
    lock.lock();
    const auto state = contexts_.find(context);
    if (state == contexts_.end() || state->second.id != id) return false;
  }
}

bool DeviceMemory::make_room(std::optional<CuDevice> device) {
  const InternalScope scope;
  Lock lock(mutex_);
  if (abandoned_ || holds_back()) return false;
  CuContext context = nullptr;
  const bool is_known =
      driver_.get_context(&context) == kCuSuccess && contexts_.count(context) != 0;
  CuDevice its = 0;
  // A call that names its device needs no current context.
  if (!device && (!is_known || driver_.get_device(&its) != kCuSuccess)) return false;
  const CuDevice of = device.value_or(its);
  constexpr std::uint64_t most_us = kFreeWaitMs * std::uint64_t{1000};
  if (trim(of)) return true;
  // Another thread may have collected the memory that came back.
  return is_known && (wait_for_free(lock, context, of, most_us) || trim(of));
}

std::size_t DeviceMemory::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  CuDevice device = 0;
  if (abandoned_ || driver_.get_device(&device) != kCuSuccess) return 0;
  std::size_t out = 0;
  const auto add = [&](const Region& region) {
    if (!region.shared && region.slot.device == device) out += region.bytes;
  };
  for (const auto& [key, regions] : spare_)
    for (const Region& region : regions) add(region);
  for (const auto& [stream, pending] : pending_)
    for (const Pending& one : pending) add(one.block.region);
  for (const Block& block : deferred_) add(block.region);
  return out;
}

}  // namespace redzone::interpose
