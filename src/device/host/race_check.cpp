#include "device/host/race_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace redzone::device {

namespace {

RaceAccess as_access(const Stamp& stamp) {
  return {stamp.kind, stamp.block, stamp.thread, stamp.code};
}

}  // namespace

RaceCheck::RaceCheck(std::vector<MemoryRange> memory) : memory_(std::move(memory)) {}

void RaceCheck::begin_launch(unsigned threads_of_block, const std::byte* code,
                             std::span<std::byte> statics) {
  order_.begin(threads_of_block);
  global_.clear();
  blocks_.clear();
  shared_ = nullptr;
  code_ = code;
  statics_ = {statics.data(), statics.data() + statics.size()};
  dynamic_ = {};
  paused_ = false;
  pending_.clear();
  races_.clear();
  dropped_ = 0;
  incomplete_ = false;
}

void RaceCheck::start_block(std::uint32_t block) {
  order_.start_block(block);
  blocks_[block] = std::make_unique<Shadow>(pool_);
}

void RaceCheck::end_block(std::uint32_t block) {
  settle();
  order_.end_block(block);
  blocks_.erase(block);
}

void RaceCheck::enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) {
  settle();
  block_ = block;
  shared_ = blocks_.at(block).get();
  dynamic_ = {dynamic_shared.data(), dynamic_shared.data() + dynamic_shared.size()};
}

void RaceCheck::pause(bool paused) {
  settle();
  paused_ = paused;
}

void RaceCheck::settle() {
  for (const Pending& write : pending_)
    if (std::memcmp(write.race.at, write.old.data(), write.bytes) != 0) report(write.race);
  pending_.clear();
}

Shadow* RaceCheck::shadow_of(const void* at, bool& shared) {
  shared = is_shared(at);
  if (shared) return shared_;
  const bool known = std::any_of(memory_.begin(), memory_.end(),
                                 [&](const MemoryRange& range) { return range.contains(at); });
  return known ? &global_ : nullptr;
}

void RaceCheck::access(const void* at, std::size_t bytes, host::AccessKind kind, const void* code) {
  if (paused_) return;
  if (!pending_.empty()) settle();
  Race race;
  Shadow* const shadow = shadow_of(at, race.shared);
  if (shadow == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  Stamp now{.block = block_,
            .clock = 0,
            .code = static_cast<std::uint32_t>(static_cast<const std::byte*>(code) - code_),
            .thread = static_cast<std::uint16_t>(thread_),
            .kind = kind};
  if (host::is_atomic(kind)) {
    const Place place{address, race.shared};
    if (host::is_write(kind)) order_.publish(current(), place);
    if (kind != host::AccessKind::atomic_write) order_.learn(current(), place);
  }
  now.clock = order_.now(current());
  race.bytes = static_cast<std::uint32_t>(bytes);
  const bool complete =
      shadow->visit(address, bytes, [&](ShadowCell& cell, std::uintptr_t first, std::size_t size) {
        race.at = reinterpret_cast<const std::byte*>(first);
        check(cell, now, race, size);
      });
  incomplete_ |= !complete;
}

void RaceCheck::arrive(const void* barrier) {
  order_.fence(current(), host::FenceScope::block);
  order_.publish(current(), place_of(barrier));
}

void RaceCheck::waited(const void* barrier) {
  order_.learn(current(), place_of(barrier));
}

bool RaceCheck::conflicts(const Stamp& earlier, const Stamp& now) {
  return earlier && !order_.before(earlier.by(), earlier.clock, now.by());
}

void RaceCheck::check(ShadowCell& cell, const Stamp& now, Race& race, std::size_t bytes) {
  const bool writes = host::is_write(now.kind), atomic = host::is_atomic(now.kind);
  const auto check_with = [&](const Stamp& earlier) {
    if (!conflicts(earlier, now)) return;
    race.first = as_access(earlier);
    race.second = as_access(now);
    if (earlier.kind == host::AccessKind::write && now.kind == host::AccessKind::write) {
      Pending& pending = pending_.emplace_back(Pending{race, {}, bytes});
      std::memcpy(pending.old.data(), race.at, bytes);
    } else {
      report(race);
    }
  };
  check_with(cell.write);
  // An access that comes after an atomic read also comes after the write which that read has seen.
  // Therefore a thread that has waited for a flag may reset it with a plain write. (PTX ISA,
  // "Memory Consistency Model": causality order includes what a read has observed.)
  const bool seen = cell.atomic_read.after_write && !conflicts(cell.atomic_read, now);
  if (!atomic && !seen) check_with(cell.atomic_write);
  if (writes) {
    for (const Stamp& read : cell.reads) check_with(read);
    if (!atomic) check_with(cell.atomic_read);
  }
  if (atomic && writes) {
    cell.atomic_write = now;
    cell.atomic_read.after_write = false;
  } else if (atomic) {
    cell.atomic_read = now;
    cell.atomic_read.after_write = true;
  } else if (writes) {
    cell = {};
    cell.write = now;
  } else {
    record_read(cell, now);
  }
}

void RaceCheck::record_read(ShadowCell& cell, const Stamp& now) {
  Stamp& a = cell.reads[0];
  Stamp& b = cell.reads[1];
  const auto is_past = [&](const Stamp& read) {
    return !read || order_.before(read.by(), read.clock, now.by());
  };
  if (is_past(a)) {
    a = now;
  } else if (is_past(b)) {
    b = now;
  } else if (a.block == b.block) {
    // A barrier, or an operation of a whole warp, that orders two reads of different blocks or
    // warps before a later write orders all reads before it. Operations with partial masks may
    // leave out the third read of a warp, which is not kept.
    const bool one_warp = a.thread / ThreadOrder::kLanes == b.thread / ThreadOrder::kLanes;
    if (now.block != a.block ||
        (one_warp && now.thread / ThreadOrder::kLanes != a.thread / ThreadOrder::kLanes))
      b = now;
  }
}

void RaceCheck::report(const Race& race) {
  // The order of the two accesses depends on the schedule.
  const std::uint32_t a = race.first.code, b = race.second.code;
  const auto same = std::find_if(races_.begin(), races_.end(), [&](const Race& r) {
    return r.shared == race.shared &&
           ((r.first.code == a && r.second.code == b) || (r.first.code == b && r.second.code == a));
  });
  if (same != races_.end())
    ++same->count;
  else if (races_.size() < kMost)
    races_.push_back(race);
  else
    ++dropped_;
}

}  // namespace redzone::device
