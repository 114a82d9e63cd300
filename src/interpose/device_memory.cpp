#include "interpose/device_memory.h"

#include <cstring>

#include "interpose/backtrace.h"
#include "interpose/device_layout.h"

namespace redzone::interpose {

DeviceMemory::DeviceMemory(const Driver& driver, const Settings& settings, Recorder& recorder)
    : driver_(driver), settings_(settings), recorder_(recorder) {}

std::optional<CuAddress> DeviceMemory::refuse(Counter reason) {
  recorder_.count(reason);
  return std::nullopt;
}

CuAddress DeviceMemory::place(const Region& region, std::size_t bytes) const {
  const CuAddress align = settings_.align_bytes != 0 ? settings_.align_bytes : kDeviceAlignBytes;
  const CuAddress margin = region.shared ? kZoneBytes : 0;
  if (settings_.placement == Placement::guard_before)
    return (region.base + margin + align - 1) / align * align;
  return (region.base + region.bytes - margin - bytes) / align * align;
}

int DeviceMemory::paint(Region& region, CuAddress at, std::size_t bytes, CuStream stream) {
  region.painted_at = 0;
  const Block block{region, at, bytes, 0, false, {}, {}};
  for (const Zone zone : {zone_before(block), zone_after(block)})
    if (zone.bytes != 0)
      if (const int failed = driver_.set_bytes(zone.at, kCanaryByte, zone.bytes, stream))
        return failed;
  if (settings_.poison >= 0)
    if (const int failed =
            driver_.set_bytes(at, static_cast<unsigned char>(settings_.poison), bytes, stream))
      return failed;
  region.painted_at = at;
  region.painted_bytes = bytes;
  return kCuSuccess;
}

std::optional<CuAddress> DeviceMemory::allocate(std::size_t bytes, Order order,
                                                const Frames& from) {
  const std::lock_guard lock(mutex_);
  CuContext context = nullptr;
  CuDevice device = 0;
  // The driver answers what is wrong with these.
  if (bytes == 0 || broken_ || driver_.get_context(&context) != kCuSuccess || context == nullptr ||
      driver_.get_device(&device) != kCuSuccess)
    return std::nullopt;
  if (!captures_.empty()) {
    // On a capturing stream the allocation belongs to the graph. Others may take what is ready.
    const auto state = devices_.find(device);
    if (order.has_value() || state == devices_.end() || !state->second.can_map)
      return refuse(Counter::left_out_capture);
    auto region = spare_region({context, region_bytes(bytes, state->second), false}, bytes, true);
    if (!region) return refuse(Counter::left_out_capture);
    const CuAddress at = region->painted_at;
    live_[at] = {*region, at, bytes, ++ordinal_, false, from, {}};
    freed_.erase(at);
    recorder_.count(Counter::device_blocks);
    return at;
  }
  poll();
  if (!per_device(device).can_map) return refuse(Counter::left_out_no_vmm);
  PerContext* const state = per_context(context);
  if (state == nullptr) return refuse(Counter::left_out_refused);
  auto region = take_region(bytes, context, device);
  if (!region) return std::nullopt;  // counted
  const CuAddress at = place(*region, bytes);
  if (region->painted_at != at || region->painted_bytes != bytes) {
    int failed = paint(*region, at, bytes, order.value_or(state->own));
    // Without a stream the block is for all of them at once.
    if (failed == kCuSuccess && !order) failed = driver_.synchronize_stream(state->own);
    // The slot stays mapped: what was enqueued may still write to it.
    if (failed != kCuSuccess) return refuse(Counter::left_out_refused);
  }
  live_[at] = {*region, at, bytes, ++ordinal_, false, from, {}};
  freed_.erase(at);
  recorder_.count(Counter::device_blocks);
  if (region->shared) recorder_.count(Counter::left_out_shared);
  return at;
}

DeviceMemory::Freed DeviceMemory::free(CuAddress address, Order order, const char* call,
                                       const Frames& from) {
  std::unique_lock lock(mutex_);
  const auto after = live_.upper_bound(address);
  const auto at = after == live_.begin() ? live_.end() : std::prev(after);
  if (at == live_.end() || address >= at->first + at->second.bytes) {
    const auto freed = freed_.find(address);
    if (freed == freed_.end()) return Freed::foreign;
    return report_bad_free(freed->second, address, true, call, from);
  }
  if (at->first != address) return report_bad_free(at->second, address, false, call, from);
  Block block = at->second;
  live_.erase(at);
  block.is_freed = true;
  block.freed = from;
  recorder_.count(Counter::device_frees);
  bury(block);
  if (broken_) return Freed::freed;
  if (!captures_.empty()) {
    deferred_.push_back({block, order});
    recorder_.count(Counter::frees_deferred);
    return Freed::freed;
  }
  poll();
  // A block that cannot be retired stays mapped, and is not used again.
  const int failed = retire(block, order);
  if (is_sticky(failed)) report_error(failed, call);
  if (failed == kCuSuccess && !order && pending_.back().unmap) finish_now(lock, address, call);
  return Freed::freed;
}

DeviceMemory::Freed DeviceMemory::report_bad_free(const Block& block, CuAddress address, bool freed,
                                                  const char* call, const Frames& from) {
  if (FindingRecord* const finding = recorder_.begin_finding()) {
    finding->kind = FindingKind::bad_free;
    finding->side = Side::inside;
    finding->on_device = 1;
    finding->address = address;
    finding->distance_bytes = address - block.address;
    finding->block_address = block.address;
    finding->block_bytes = block.bytes;
    finding->block_ordinal = block.ordinal;
    finding->block_freed = freed ? 1 : 0;
    std::strncpy(finding->call, call, kCallBytes - 1);
    finding->where = from;
    finding->allocated = block.allocated;
    finding->freed = block.freed;
    recorder_.publish(*finding);
  }
  return Freed::wrong;
}

std::optional<DeviceMemory::View> DeviceMemory::find(CuAddress address) const {
  const std::lock_guard lock(mutex_);
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (address >= block.address + block.bytes) return std::nullopt;
  return View{block.address, block.bytes, block.region.context, block.ordinal};
}

void DeviceMemory::capture_began(CuStream stream) {
  const std::lock_guard lock(mutex_);
  captures_.insert(stream);
}

void DeviceMemory::capture_ended(CuStream stream) {
  const std::lock_guard lock(mutex_);
  if (captures_.erase(stream) == 0 || !captures_.empty()) return;
  std::vector<Deferred> deferred;
  deferred.swap(deferred_);
  for (const Deferred& one : deferred) {
    if (broken_) return;
    // The stream that frees may have been destroyed by now; its work is that of the context.
    if (is_sticky(retire(one.block, std::nullopt))) broken_ = true;
  }
}

bool DeviceMemory::capturing() const {
  const std::lock_guard lock(mutex_);
  return !captures_.empty();
}

void DeviceMemory::context_gone(CuContext context) {
  const std::lock_guard lock(mutex_);
  const auto of_it = [&](const Region& region) { return region.context == context; };
  const auto forget = [&](const Region& region) {
    if (!region.shared) unmap(region.slot, false);
  };
  std::erase_if(live_, [&](const auto& one) {
    return of_it(one.second.region) && (forget(one.second.region), true);
  });
  std::erase_if(pending_, [&](const Pending& one) {
    return of_it(one.block.region) && (forget(one.block.region), true);
  });
  std::erase_if(deferred_, [&](const Deferred& one) {
    return of_it(one.block.region) && (forget(one.block.region), true);
  });
  std::erase_if(spare_, [&](const auto& one) {
    if (std::get<0>(one.first) != context) return false;
    for (const Region& region : one.second) forget(region);
    return true;
  });
  if (const auto state = contexts_.find(context); state != contexts_.end()) {
    for (const Slot& slot : state->second.shared_slots) unmap(slot, false);
    contexts_.erase(state);
  }
}

void DeviceMemory::begin_program() {
  const std::lock_guard lock(mutex_);
  ordinal_ = retired_ = 0;
  for (const Counter own : {Counter::device_blocks, Counter::device_frees, Counter::slots_reused})
    recorder_.reset(own);
}

void DeviceMemory::check_result(int result, const char* call) {
  if (!is_sticky(result)) return;
  const std::lock_guard lock(mutex_);
  report_error(result, call);
}

void DeviceMemory::report_error(int result, const char* call) {
  if (recorder_.noted(Fact::driver_broken)) return;
  broken_ = true;
  recorder_.note(Fact::driver_broken);
  FindingRecord* const finding = recorder_.begin_finding();
  if (finding == nullptr) return;
  finding->kind = FindingKind::device_error;
  finding->on_device = 1;
  finding->code = result;
  std::strncpy(finding->call, call, kCallBytes - 1);
  take_backtrace(finding->where);
  recorder_.publish(*finding);
}

}  // namespace redzone::interpose
