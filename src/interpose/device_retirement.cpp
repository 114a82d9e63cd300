// Retirement of a block by DeviceMemory from its free on: canaries, poison, and reuse or unmapping
// of its memory.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "interpose/device_layout.h"
#include "interpose/device_memory.h"
#include "interpose/device_waits.h"

namespace redzone::interpose {
namespace {

constexpr std::size_t kCanaryChunk = 64 * 1024;

// Streams of the guard per context, for blocks that are freed in the order of a stream of the
// program. If the program has more streams, several share a lane.
constexpr std::size_t kMostLanes = 16;

}  // namespace

DeviceMemory::Zone DeviceMemory::zone_before(const Block& block) const {
  if (settings_.bare) return {};
  const std::size_t room = block.address - block.region.base;
  const std::size_t bytes = room < kZoneBytes ? room : kZoneBytes;
  return {block.address - bytes, bytes};
}

DeviceMemory::Zone DeviceMemory::zone_after(const Block& block) const {
  if (settings_.bare) return {};
  const CuAddress end = block.address + block.bytes;
  const std::size_t room = block.region.base + block.region.bytes - end;
  return {end, room < kZoneBytes ? room : kZoneBytes};
}

Lent<CuEvent> DeviceMemory::take_event(PerContext& context, int& failed) {
  CuEvent out = nullptr;
  failed = kCuSuccess;
  if (!context.events.empty()) {
    out = context.events.back();
    context.events.pop_back();
  } else if ((failed = driver_.create_event(&out, kCuEventDisableTiming)) != kCuSuccess) {
    out = nullptr;
  }
  return {context.events, out};
}

Lent<unsigned char*> DeviceMemory::take_canaries(PerContext& context, int& failed) {
  failed = kCuSuccess;
  if (context.canaries.empty()) {
    void* chunk = nullptr;
    if ((failed = driver_.allocate_pinned(&chunk, kCanaryChunk, 0)) != kCuSuccess)
      return {context.canaries, nullptr};
    for (std::size_t at = 0; at + 2 * kZoneBytes <= kCanaryChunk; at += 2 * kZoneBytes)
      context.canaries.push_back(static_cast<unsigned char*>(chunk) + at);
  }
  unsigned char* const out = context.canaries.back();
  context.canaries.pop_back();
  return {context.canaries, out};
}

// Makes the context's own stream wait for all work submitted to the context so far.
int DeviceMemory::order_after_all(Lock& lock, CuContext context) {
  if (driver_.record_context_event == nullptr)
    return without_lock(lock, context, [&] { return driver_.synchronize_context(); });
  PerContext& state = contexts_.at(context);
  int failed = kCuSuccess;
  const auto all = take_event(state, failed);
  if (!all) return failed;
  failed = driver_.record_context_event(context, all.get());
  if (failed != kCuSuccess) return failed;
  // The wait refers to the event as recorded now, so the event may be reused.
  return driver_.wait_event(state.own, all.get(), 0);
}

CuStream DeviceMemory::lane_of(CuStream stream, CuContext of, PerContext& state) {
  const std::size_t wanted =
      state.lane_of.try_emplace(key_of(stream, of), state.lane_of.size() % kMostLanes)
          .first->second;
  CuStream made = nullptr;
  if (wanted == state.lanes.size() &&
      driver_.create_stream(&made, kCuStreamNonBlocking) == kCuSuccess)
    state.lanes.push_back(made);
  return wanted < state.lanes.size() ? state.lanes[wanted] : state.own;
}

// Makes a stream of the guard wait for all work submitted so far to a stream of any context.
int DeviceMemory::order_after(CuStream stream, CuContext of, CuStream waiting) {
  // An event belongs to the context of the stream in which it is recorded, but any stream may wait
  // for it.
  std::optional<CurrentContext> there(std::in_place, driver_, of);
  PerContext* const theirs = per_context(of);
  if (theirs == nullptr) return kCuInvalidContext;
  int failed = kCuSuccess;
  const auto given = take_event(*theirs, failed);
  if (!given) return failed;
  failed = driver_.record_event(given.get(), stream);
  there.reset();
  return failed != kCuSuccess ? failed : driver_.wait_event(waiting, given.get(), 0);
}

int DeviceMemory::order_after_users(const Block& block, CuStream stream, CuContext current,
                                    CuStream waiting) {
  int failed = order_after(stream, context_of(stream, current), waiting);
  for (const CuStream user : block.users)
    if (failed == kCuSuccess)
      failed = order_after(user, context_of(user, block.region.context), waiting);
  return failed;
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

// A region in a shared slot is never unmapped, because its neighbours may be in use.
bool DeviceMemory::choose_to_unmap(const Region& region) {
  // Unmapped memory would end a program that is meant to continue after errors.
  if (settings_.on_error == OnError::go_on || settings_.bare) return false;
  if (region.shared) return false;
  if (settings_.retire == Retire::all) return true;
  ++retired_;
  return retired_ % (retired_ <= kRetireFirst ? kRetireEvery : kRetireEveryLater) == 0;
}

// The poison is written in the order of the free. The copies of the canaries follow in the same
// order if the region is to be unmapped, so that it can be unmapped as soon as the program has
// waited for its stream. Otherwise they run in a stream of the guard, and no work of the program
// waits for them.
int DeviceMemory::retire(Lock& lock, const Block& block, Order order, CuContext current) {
  const CuContext context = block.region.context;
  const CuContext of = order ? context_of(*order, current) : context;
  const CurrentContext here(driver_, context);
  PerContext* state = per_context(context);
  if (state == nullptr) return kCuInvalidContext;
  const bool unmap = choose_to_unmap(block.region);
  const bool in_its_order = order && of == context && block.users.empty();
  const bool in_its_stream = in_its_order && (unmap || settings_.bare);
  int poisoned = kCuSuccess;
  if (in_its_order) poisoned = poison_freed(block, *order);
  int ordered = kCuSuccess;
  const CuStream stream = in_its_stream ? *order : order ? lane_of(*order, of, *state) : state->own;
  if (!order)
    ordered = order_after_all(lock, context);
  else if (!in_its_stream)
    ordered = order_after_users(block, *order, current, stream);
  if (ordered == kCuInvalidContext && contexts_.count(context) == 0) forget(block.region);
  if (ordered != kCuSuccess) return ordered;
  if (holds_back()) {  // the mutex was released meanwhile
    deferred_.push_back(block);
    return kCuSuccess;
  }
  state = &contexts_.at(context);
  int failed = kCuSuccess;
  auto done = take_event(*state, failed);
  if (!done) return failed;
  auto canaries = take_canaries(*state, failed);
  if (!canaries) return failed;
  failed = copy_canaries(block, stream, canaries.get());
  const bool copied = failed == kCuSuccess;
  if (copied && !in_its_order) poisoned = poison_freed(block, stream);
  // Record the event after a failure, too, because only the event shows when the device no longer
  // writes to the canaries.
  if (const int unrecorded = driver_.record_event(done.get(), stream)) {
    canaries.keep();
    return unrecorded;
  }
  auto& pending = pending_[key_of(stream, context)];
  pending.push_back({block, done.keep(), canaries.keep(), copied, unmap});
  if (failed == kCuSuccess) failed = poisoned;
  // A region that is not poisoned is painted before its next use.
  if (failed != kCuSuccess) pending.back().block.region.painted_at = 0;
  return failed;
}

int DeviceMemory::poison_freed(const Block& block, CuStream stream) {
  if (settings_.poison < 0) return kCuSuccess;
  return driver_.set_bytes(block.address, static_cast<unsigned char>(settings_.poison), block.bytes,
                           stream);
}

void DeviceMemory::poll(const char* call, std::size_t most) {
  auto it = pending_.lower_bound(next_polled_);
  for (std::size_t streams = pending_.size(), asked = 0; streams > 0 && asked < most; --streams) {
    if (it == pending_.end()) it = pending_.begin();
    auto& [stream, blocks] = *it;
    const CuContext context = blocks.front().block.region.context;
    // Events behind one that has not passed have not passed either.
    for (bool passed = !is_broken(context); passed && !blocks.empty() && asked < most;) {
      ++asked;
      const int result = driver_.query_event(blocks.front().done);
      passed = result == kCuSuccess;
      if (passed) {
        finish(blocks.front());
        blocks.pop_front();
      } else {
        report_error(context, result, call);
      }
    }
    it = blocks.empty() ? pending_.erase(it) : std::next(it);
  }
  next_polled_ = it == pending_.end() ? StreamKey() : it->first;
  std::erase_if(batches_, [&](Batch& batch) {
    if (is_broken(batch.context) || driver_.query_event(batch.done) != kCuSuccess) return false;
    PerContext& state = contexts_.at(batch.context);
    state.events.push_back(batch.done);
    state.canaries.insert(state.canaries.end(), batch.canaries.begin(), batch.canaries.end());
    return true;
  });
}

std::size_t DeviceMemory::pending_blocks() const {
  std::size_t out = 0;
  for (const auto& [stream, blocks] : pending_) out += blocks.size();
  return out;
}

void DeviceMemory::finish_now(Lock& lock, CuAddress address, const char* call) {
  unsigned pause_us = kFirstPauseUs;
  for (unsigned waited_us = 0; waited_us < kFreeWaitMs * 1000; waited_us += pause_us) {
    auto of_stream = pending_.begin();
    std::deque<Pending>::iterator it;
    const auto is_it = [&](const Pending& one) { return one.block.address == address; };
    for (; of_stream != pending_.end(); ++of_stream) {
      auto& blocks = of_stream->second;
      it = std::find_if(blocks.begin(), blocks.end(), is_it);
      if (it != blocks.end()) break;
    }
    if (of_stream == pending_.end() || !it->unmap || holds_back()) return;
    const CuContext context = it->block.region.context;
    if (is_broken(context)) return;
    const int result = driver_.query_event(it->done);
    if (result == kCuSuccess) {
      finish(*it);
      of_stream->second.erase(it);
      if (of_stream->second.empty()) pending_.erase(of_stream);
      return;
    }
    report_error(context, result, call);
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
  if (pending.copied && !settings_.bare && !block.is_reported && !compare(block, pending.canaries))
    region.painted_at = 0;
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

bool DeviceMemory::compare(const Block& block, const unsigned char* canaries,
                           std::uint64_t launch) {
  recorder_.count(Counter::canaries_checked);
  const Zone before = zone_before(block), after = zone_after(block);
  bool clean = true;
  const auto report = [&](Side side, CuAddress at, std::size_t distance, std::size_t wrong) {
    clean = false;
    FindingRecord* const finding = recorder_.begin_finding(FindingKind::canary);
    if (finding == nullptr) return;
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
    name_launch(*finding, launch);
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
  freed_order_.emplace_back(block.address, block.ordinal);
  if (freed_order_.size() <= kFreedKept) return;
  const auto [address, ordinal] = freed_order_.front();
  freed_order_.pop_front();
  if (const auto oldest = freed_.find(address);
      oldest != freed_.end() && oldest->second.ordinal == ordinal)
    freed_.erase(oldest);
}

}  // namespace redzone::interpose
