#include "memory_preload/trial_blocks.h"

#include <time.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/page.h"
#include "core/round_up.h"
#include "core/trial.h"
#include "device/host/buffers.h"
#include "trial/raw_job.h"

namespace redzone::memory_preload {
namespace {

// An access farther than this from a block is not attributed to it.
constexpr std::size_t kGuardBytes = kNearBytes;
// Limit for the pages of freed blocks.
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;
// malloc()'s guarantee on 64-bit machines (glibc manual, "Aligned Memory Blocks"). numpy relies on
// it.
constexpr std::size_t kMallocAlignBytes = 16;

bool is_ordered(Allocator allocator) {
  return allocator == Allocator::caching || allocator == Allocator::pool;
}

device::BufferJob canaries_of(const trial::Place& at, std::size_t bytes, std::uint32_t poison) {
  return trial::canaries_only(trial::raw_job(at, bytes, poison));
}

std::uintptr_t distance(const std::byte* begin, std::size_t bytes, const void* to) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto at = reinterpret_cast<std::uintptr_t>(to);
  if (at < first) return first - at;
  return at - first < bytes ? 0 : at - first - bytes + 1;
}

}  // namespace

TrialBlocks::TrialBlocks()
    : arena_(kGuardBytes, kMostKeptBytes),
      pool_(segments_, events_, [](int, const device::FreedAt&) {}) {}

void TrialBlocks::begin_trial(const BlockSettings& settings) {
  RZ_CHECK(settings.align_bytes > 0 && settings.align_bytes <= kPageBytes &&
           (settings.align_bytes & (settings.align_bytes - 1)) == 0);
  const std::scoped_lock lock(mutex_);
  end_trial();  // ends a trial that an error has interrupted
  settings_ = settings;
  counts_ = {};
  damaged_.clear();
  reported_ = 0;
  ordered_ = settings.allocator == Allocator::caching
                 ? static_cast<device::OrderedMemory*>(&caching_)
             : settings.allocator == Allocator::pool ? &pool_
                                                     : nullptr;
}

void TrialBlocks::begin_call(std::int32_t call) {
  const std::scoped_lock lock(mutex_);
  in_call_ = true;
  call_ = call;
  numbers_ = {};
}

void TrialBlocks::end_call() {
  const std::scoped_lock lock(mutex_);
  in_call_ = false;
}

void TrialBlocks::end_trial() {
  const std::scoped_lock lock(mutex_);
  in_call_ = false;
  std::erase_if(blocks_, [](const auto& block) { return block.second.freed; });
  for (auto& [base, block] : blocks_) block.survivor = true;
  for (const device::Region& region : freed_) arena_.recycle(region);
  freed_.clear();
  caching_.reset();
  pool_.begin({});
  plain_.settle();
}

bool TrialBlocks::fits(std::size_t bytes) const {
  return live_blocks_ < settings_.most_blocks && bytes <= settings_.most_bytes &&
         live_bytes_ <= settings_.most_bytes - bytes;
}

void* TrialBlocks::allocate(std::size_t bytes, Maker maker) {
  const std::scoped_lock lock(mutex_);
  if (!in_call_ || bytes == 0) return nullptr;
  const std::uint32_t number = ++numbers_[static_cast<std::size_t>(maker)];
  if (settings_.allocator == Allocator::plain) {
    ++counts_.plain_blocks;
    counts_.plain_bytes += bytes;
    return nullptr;
  }
  Block block;
  block.bytes = bytes;
  block.name = {call_, number, maker};
  block.poison = settings_.poison;
  block.allocator = settings_.allocator;
  const std::size_t align = maker == Maker::numpy
                                ? std::min(settings_.align_bytes, kMallocAlignBytes)
                                : settings_.align_bytes;
  const bool acquired = fits(bytes) && (ordered_ != nullptr ? acquire_ordered(bytes, block)
                                                            : acquire_guarded(bytes, align, block));
  if (!acquired) {
    ++counts_.left_out_blocks;
    counts_.left_out_bytes += bytes;
    return nullptr;
  }
  ++counts_.blocks;
  counts_.bytes += bytes;
  ++live_blocks_;
  live_bytes_ += bytes;
  blocks_.emplace(block.region.base, block);
  return block.at.data;
}

bool TrialBlocks::acquire_guarded(std::size_t bytes, std::size_t align_bytes, Block& block) {
  const trial::Storage storage{
      .bytes = bytes,
      .align_bytes = align_bytes,
      .margin_bytes = settings_.wide_canaries ? device::kCanaryWindowBytes : 0};
  block.region = arena_.open(round_up(trial::region_bytes(storage), kPageBytes));
  if (block.region.base == nullptr) return false;
  const Mode mode{.allocator = Allocator::guard, .placement = settings_.placement};
  block.at = trial::place(block.region, storage, mode);
  fill(block.at, bytes);
  return true;
}

bool TrialBlocks::acquire_ordered(std::size_t bytes, Block& block) {
  const auto region = ordered_->acquire(bytes, 0);
  if (!region) return false;
  block.region = *region;
  block.at.storage = block.at.data = block.at.before = region->base;
  block.at.after = region->base + bytes;
  const device::Region fresh = segments_.add(*region);
  if (fresh.bytes == 0) return true;
  trial::Place at;
  at.storage = at.data = at.before = fresh.base;
  at.after = fresh.base + fresh.bytes;
  fill(at, fresh.bytes);
  return true;
}

void TrialBlocks::fill(const trial::Place& at, std::size_t bytes) {
  const auto job = trial::raw_job(at, bytes, settings_.poison);
  if (bytes <= kMostPoisoned) return device::fill_buffer(job);
  ++counts_.unpoisoned_blocks;
  device::fill_buffer(trial::canaries_only(job));
}

void TrialBlocks::check(Block& block) {
  if (block.damaged || block.freed || is_ordered(block.allocator)) return;
  const auto seen = device::check_buffer(canaries_of(block.at, block.bytes, block.poison));
  block.damaged = seen.dirty_before + seen.dirty_after > 0;
  if (!block.damaged || reported_ == kMostDamaged) return;
  ++reported_;
  const std::int32_t call = block.survivor ? -1 : block.name.call;
  damaged_.push_back({{call, block.name.number, block.name.maker},
                      block.bytes,
                      seen.dirty_before,
                      seen.dirty_after,
                      seen.first_dirty_byte});
}

TrialBlocks::Blocks::iterator TrialBlocks::before(const void* at) {
  const auto after = blocks_.upper_bound(static_cast<const std::byte*>(at));
  return after == blocks_.begin() ? blocks_.end() : std::prev(after);
}

TrialBlocks::Blocks::iterator TrialBlocks::live_block(const void* start) {
  const auto at = before(start);
  return at != blocks_.end() && at->second.at.data == start && !at->second.freed ? at
                                                                                 : blocks_.end();
}

bool TrialBlocks::free(void* start) {
  const std::scoped_lock lock(mutex_);
  const auto at = live_block(start);
  if (at == blocks_.end()) return false;
  Block& block = at->second;
  --live_blocks_;
  live_bytes_ -= block.bytes;
  if (is_ordered(block.allocator)) {
    // The allocator was reset after a survivor's trial, so it must not get a block that it no
    // longer has.
    if (segments_.remove(block.region)) RZ_CHECK(ordered_->release(block.region, 0));
    blocks_.erase(at);
    return true;
  }
  check(block);
  arena_.close(block.region);
  freed_.push_back(block.region);
  block.freed = true;
  return true;
}

std::optional<std::size_t> TrialBlocks::bytes_of(const void* start) {
  const std::scoped_lock lock(mutex_);
  const auto at = live_block(start);
  if (at == blocks_.end()) return std::nullopt;
  return at->second.bytes;
}

BlockCounts TrialBlocks::counts() const {
  const std::scoped_lock lock(mutex_);
  BlockCounts out = counts_;
  for (const auto& [base, block] : blocks_) {
    if (!block.survivor || block.freed) continue;
    ++out.survivors;
    out.survivor_bytes += block.bytes;
  }
  return out;
}

std::optional<FoundBlock> TrialBlocks::find(const void* at) {
  constexpr int kTries = 1000;
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kTries && !lock; ++i) {
    const timespec ms{0, 1000000};
    ::nanosleep(&ms, nullptr);
    if (lock.try_lock()) break;
  }
  if (!lock || blocks_.empty()) return std::nullopt;
  const auto as_found = [](const Block& block) {
    return FoundBlock{block.name, block.at.data, block.bytes, block.freed};
  };
  const auto below = before(at);
  const auto above = below == blocks_.end() ? blocks_.begin() : std::next(below);
  const auto far = [&](Blocks::iterator it) {
    return it == blocks_.end() ? UINTPTR_MAX : distance(it->second.at.data, it->second.bytes, at);
  };
  return as_found(far(below) <= far(above) ? below->second : above->second);
}

std::optional<DamagedBlock> TrialBlocks::next_damaged() {
  const std::scoped_lock lock(mutex_);
  if (damaged_.empty())
    for (auto& [base, block] : blocks_) check(block);
  if (damaged_.empty()) return std::nullopt;
  const DamagedBlock out = damaged_.front();
  damaged_.pop_front();
  return out;
}

// The lock's owner is the thread that forked, which has another thread id in the child.
void TrialBlocks::unlock_in_child() {
  std::destroy_at(&mutex_);
  std::construct_at(&mutex_);
}

}  // namespace redzone::memory_preload
