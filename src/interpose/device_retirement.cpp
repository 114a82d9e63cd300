// What DeviceMemory does with a block from its free on: canaries, poison, and what becomes of its
// memory.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "interpose/current_context.h"
#include "interpose/device_layout.h"
#include "interpose/device_memory.h"

namespace redzone::interpose {
namespace {

constexpr int kSettleMs = 2000;
// What is said to have returned an error that no call of the program has.
constexpr const char* kLastCall = "the guard's last look";
// The wait of a free, with pauses that grow.
constexpr int kFreeWaitMs = 2000;
constexpr unsigned kFirstPauseUs = 8, kLongestPauseUs = 1000;
// At most so many are asked for in one call of the program.
constexpr std::size_t kPolled = 8;
constexpr std::size_t kCanaryChunk = 64 * 1024;
constexpr std::size_t kLiveBatch = 256;

}  // namespace

DeviceMemory::Zone DeviceMemory::zone_before(const Block& block) const {
  const std::size_t room = block.address - block.region.base;
  const std::size_t bytes = room < kZoneBytes ? room : kZoneBytes;
  return {block.address - bytes, bytes};
}

DeviceMemory::Zone DeviceMemory::zone_after(const Block& block) const {
  const CuAddress end = block.address + block.bytes;
  const std::size_t room = block.region.base + block.region.bytes - end;
  return {end, room < kZoneBytes ? room : kZoneBytes};
}

Lent<CuEvent> DeviceMemory::take_event(PerContext& context) {
  CuEvent out = nullptr;
  if (!context.events.empty()) {
    out = context.events.back();
    context.events.pop_back();
  } else if (driver_.create_event(&out, kCuEventDisableTiming) != kCuSuccess) {
    out = nullptr;
  }
  return {context.events, out};
}

Lent<unsigned char*> DeviceMemory::take_canaries(PerContext& context) {
  if (context.canaries.empty()) {
    void* chunk = nullptr;
    if (driver_.allocate_pinned(&chunk, kCanaryChunk, 0) != kCuSuccess)
      return {context.canaries, nullptr};
    for (std::size_t at = 0; at + 2 * kZoneBytes <= kCanaryChunk; at += 2 * kZoneBytes)
      context.canaries.push_back(static_cast<unsigned char*>(chunk) + at);
  }
  unsigned char* const out = context.canaries.back();
  context.canaries.pop_back();
  return {context.canaries, out};
}

// Lets the context's own stream wait for all that the context was given so far.
int DeviceMemory::order_after_all(CuContext context, PerContext& state) {
  if (driver_.record_context_event == nullptr) return driver_.synchronize_context();
  const auto all = take_event(state);
  if (!all) return kCuOutOfMemory;
  if (const int failed = driver_.record_context_event(context, all.get())) return failed;
  // The wait is for what is recorded now: the event may be used again.
  return driver_.wait_event(state.own, all.get(), 0);
}

int DeviceMemory::copy_canaries(const Block& block, CuStream stream, unsigned char* to) {
  std::size_t at = 0;
  for (const Zone zone : {zone_before(block), zone_after(block)}) {
    if (zone.bytes != 0)
      if (const int failed = driver_.copy_to_host(to + at, zone.at, zone.bytes, stream))
        return failed;
    at += kZoneBytes;
  }
  return kCuSuccess;
}

// Neighbours in a shared slot may be in use.
bool DeviceMemory::choose_to_unmap(const Region& region) {
  return !region.shared && (settings_.retire == Retire::all || ++retired_ % kRetireEvery == 0);
}

int DeviceMemory::retire(const Block& block, Order order) {
  const CurrentContext current(driver_, block.region.context);
  PerContext* const state = per_context(block.region.context);
  if (state == nullptr) return kCuInvalidContext;
  if (!order)
    if (const int failed = order_after_all(block.region.context, *state)) return failed;
  const CuStream stream = order.value_or(state->own);
  auto done = take_event(*state);
  auto canaries = take_canaries(*state);
  if (!done || !canaries) return kCuOutOfMemory;
  int failed = copy_canaries(block, stream, canaries.get());
  const bool copied = failed == kCuSuccess;
  if (copied && settings_.poison >= 0)
    failed = driver_.set_bytes(block.address, static_cast<unsigned char>(settings_.poison),
                               block.bytes, stream);
  // After a failure, too: only then is it known when the device no longer writes to the canaries.
  if (const int unrecorded = driver_.record_event(done.get(), stream)) {
    canaries.keep();
    return unrecorded;
  }
  pending_.push_back({block, done.keep(), canaries.keep(), copied, choose_to_unmap(block.region)});
  // What is not poisoned is painted before it is used again.
  if (failed != kCuSuccess) pending_.back().block.region.painted_at = 0;
  return failed;
}

int DeviceMemory::poll() {
  if (broken_) return kCuSuccess;
  std::size_t asked = 0;
  for (auto it = pending_.begin(); it != pending_.end() && asked < kPolled; ++asked) {
    if (const int result = driver_.query_event(it->done)) {
      if (is_sticky(result)) return result;
      ++it;
      continue;
    }
    finish(*it);
    it = pending_.erase(it);
  }
  return kCuSuccess;
}

int DeviceMemory::wait_for(CuEvent event, int most_ms) {
  int result = kCuNotReady;
  for (int waited_ms = 0; waited_ms <= most_ms; ++waited_ms) {
    result = driver_.query_event(event);
    if (result != kCuNotReady) break;
    ::usleep(1000);
  }
  return result;
}

void DeviceMemory::finish_now(std::unique_lock<std::mutex>& lock, CuAddress address,
                              const char* call) {
  unsigned pause_us = kFirstPauseUs;
  for (unsigned waited_us = 0; waited_us < kFreeWaitMs * 1000; waited_us += pause_us) {
    const auto it = std::find_if(pending_.begin(), pending_.end(),
                                 [&](const Pending& one) { return one.block.address == address; });
    if (it == pending_.end() || broken_ || !captures_.empty()) return;
    const int result = driver_.query_event(it->done);
    if (result == kCuSuccess) {
      finish(*it);
      pending_.erase(it);
      return;
    }
    if (is_sticky(result)) report_error(result, call);
    if (result != kCuNotReady) return;
    lock.unlock();
    ::usleep(pause_us);
    lock.lock();
    pause_us = std::min(2 * pause_us, kLongestPauseUs);
  }
}

void DeviceMemory::finish(Pending& pending) {
  Block& block = pending.block;
  Region& region = block.region;
  if (pending.copied && !compare(block, pending.canaries)) region.painted_at = 0;
  PerContext& state = contexts_.at(region.context);
  state.events.push_back(pending.done);
  state.canaries.push_back(pending.canaries);
  if (pending.unmap) {
    unmap(region.slot, true);
    recorder_.count(Counter::slots_retired);
    return;
  }
  spare_[{region.context, region.bytes, region.shared}].push_back(region);
}

bool DeviceMemory::compare(const Block& block, const unsigned char* canaries) {
  recorder_.count(Counter::canaries_checked);
  const Zone before = zone_before(block), after = zone_after(block);
  bool clean = true;
  const auto report = [&](Side side, CuAddress at, std::size_t distance, std::size_t wrong) {
    clean = false;
    FindingRecord* const finding = recorder_.begin_finding();
    if (finding == nullptr) return;
    finding->kind = FindingKind::canary;
    finding->access = Access::write;
    finding->side = side;
    finding->on_device = 1;
    finding->address = at;
    finding->distance_bytes = distance;
    finding->wrong_bytes = wrong;
    finding->block_address = block.address;
    finding->block_bytes = block.bytes;
    finding->block_ordinal = block.ordinal;
    finding->block_freed = block.is_freed ? 1 : 0;
    finding->allocated = block.allocated;
    finding->freed = block.freed;
    recorder_.publish(*finding);
  };
  std::size_t wrong = 0, nearest = 0;
  for (std::size_t i = 0; i < before.bytes; ++i)
    if (canaries[i] != kCanaryByte) ++wrong, nearest = i;
  if (wrong != 0) report(Side::before, before.at + nearest, before.bytes - nearest, wrong);
  wrong = 0;
  for (std::size_t i = after.bytes; i-- > 0;)
    if (canaries[kZoneBytes + i] != kCanaryByte) ++wrong, nearest = i;
  if (wrong != 0) report(Side::after, after.at + nearest, nearest + 1, wrong);
  return clean;
}

void DeviceMemory::bury(const Block& block) {
  freed_[block.address] = block;
  freed_order_.push_back(block.address);
  if (freed_order_.size() > kFreedKept) {
    freed_.erase(freed_order_.front());
    freed_order_.pop_front();
  }
}

int DeviceMemory::compare_live() {
  auto next = live_.begin();
  while (next != live_.end()) {
    struct Copy {
      const Block* block;
      unsigned char* canaries;
    };
    // If a call fails, the device may still write to them: then they are not used again.
    std::vector<Copy> copies;
    const CuContext context = next->second.region.context;
    PerContext* const state = per_context(context);
    const CurrentContext current(driver_, context);
    if (state == nullptr) return kCuInvalidContext;
    if (const int failed = order_after_all(context, *state)) return failed;
    for (; next != live_.end() && copies.size() < kLiveBatch &&
           next->second.region.context == context;
         ++next) {
      auto canaries = take_canaries(*state);
      if (!canaries) return kCuOutOfMemory;
      copies.push_back({&next->second, canaries.keep()});
      if (const int failed = copy_canaries(next->second, state->own, copies.back().canaries))
        return failed;
    }
    const auto done = take_event(*state);
    if (!done) return kCuOutOfMemory;
    if (const int failed = driver_.record_event(done.get(), state->own)) return failed;
    if (const int failed = wait_for(done.get(), kSettleMs)) return failed;
    for (const Copy& copy : copies) {
      compare(*copy.block, copy.canaries);
      state->canaries.push_back(copy.canaries);
    }
  }
  return kCuSuccess;
}

void DeviceMemory::settle() {
  const std::lock_guard lock(mutex_);
  if (broken_ || !captures_.empty()) return;
  int failed = kCuSuccess;
  for (int waited_ms = 0; !pending_.empty() && waited_ms < kSettleMs; ++waited_ms) {
    const std::size_t before = pending_.size();
    failed = poll();
    if (failed != kCuSuccess) break;
    if (pending_.size() == before) ::usleep(1000);
  }
  // What the device still works on is left alone.
  if (pending_.empty()) failed = compare_live();
  if (is_sticky(failed)) report_error(failed, kLastCall);
}

}  // namespace redzone::interpose
