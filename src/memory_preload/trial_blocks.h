// The blocks that a target's framework allocates on the CPU in the calls of a trial, from the
// allocator of the plan:
//
//   guard          each block between inaccessible pages, on the side that the placement names,
//                  poisoned, with canaries in the slack; a freed block is inaccessible, and its
//                  addresses are not used again in the trial
//   caching, pool  as device::CachingMemory and device::PoolMemory with one stream: memory is used
//                  again at once, with what its last owner left; memory that is new in the trial
//                  is poisoned
//   plain          the C library's
//
// A block that is alive when its trial ends is a survivor (a cached constant, a planner's
// workspace): it stays as it is in all later trials, until it is freed.
//
// Thread-safe. A lock is held only within a call of this class.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/plan.h"
#include "device/caching_memory.h"
#include "device/host/guard_arena.h"
#include "device/host/plain_memory.h"
#include "device/host/pool_memory.h"
#include "device/host/stream_queue.h"
#include "memory_preload/segment_keeper.h"
#include "trial/placement.h"

namespace redzone::memory_preload {

struct BlockSettings {
  Allocator allocator = Allocator::guard;
  Placement placement = Placement::guard_after;
  std::uint32_t poison = 0xffffffffu;  // see Mode::poison
  // Alignment that callers may rely on: a power of two, at most a page. Requests for more do not
  // get more. PyTorch's kernels rely on 64 bytes.
  std::size_t align_bytes = 64;
  bool wide_canaries = false;  // see TrialSpec::wide_canaries
  // Beyond either limit, counting survivors, blocks come from the C library.
  std::size_t most_blocks = std::size_t{1} << 14;  // a guarded block takes two mappings
  std::size_t most_bytes = std::size_t{4} << 30;
};

// Counts since the trial began; the survivor members count blocks of earlier trials.
struct BlockCounts {
  std::uint64_t blocks = 0, bytes = 0;                    // from the plan's allocator
  std::uint64_t plain_blocks = 0, plain_bytes = 0;        // the plan requests the C library
  std::uint64_t left_out_blocks = 0, left_out_bytes = 0;  // beyond the limits, or out of memory
  std::uint64_t unpoisoned_blocks = 0;                    // too large to be poisoned
  std::uint64_t survivors = 0, survivor_bytes = 0;        // blocks of earlier trials that are alive
};

// The library that requests a block.
enum class Maker : std::uint8_t { torch, numpy };

// `number`: the n-th block of its maker in its call, from 1. The same call has the same numbers in
// every plan, so that a finding keeps its name while its plan is reduced.
struct BlockName {
  std::int32_t call = -1;
  std::uint32_t number = 0;
  Maker maker = Maker::torch;
};

struct FoundBlock {
  BlockName name;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool freed = false;
};

// A block with changed canaries; its call is -1 if it is a survivor.
struct DamagedBlock {
  BlockName name;
  std::size_t bytes = 0;
  std::uint64_t dirty_before = 0, dirty_after = 0;  // bytes
  std::int64_t first_dirty_byte = 0;                // from the start of the block
};

class TrialBlocks {
 public:
  TrialBlocks();
  TrialBlocks(const TrialBlocks&) = delete;
  TrialBlocks& operator=(const TrialBlocks&) = delete;

  void begin_trial(const BlockSettings& settings);
  // Blocks allocated between begin_call() and end_call() belong to this call (-1: to the target,
  // but to no call).
  void begin_call(std::int32_t call);
  void end_call();
  // Live blocks become survivors; addresses of freed blocks may be reused.
  void end_trial();

  // Returns nullptr if the C library must allocate. Blocks of numpy are aligned like those of
  // malloc(), to 16 bytes, or to fewer if the settings say so.
  void* allocate(std::size_t bytes, Maker maker = Maker::torch);
  // Requires owns(). Returns false if no live block starts there.
  bool free(void* block);
  // Requires owns(). Returns nullopt if no live block starts there.
  std::optional<std::size_t> bytes_of(const void* block);
  // True for every address that a block has, had or may get. Takes no lock.
  bool owns(const void* at) const { return arena_.contains(at) || plain_.contains(at, 0); }

  BlockCounts counts() const;
  // The block that contains the address or is nearest to it, among live blocks and blocks that the
  // guard allocator has freed in this trial. May be called in signal handlers: returns nullopt if
  // another thread does not release the lock.
  std::optional<FoundBlock> find(const void* at);
  // Returns a block with changed canaries. Canaries are compared when a block is freed and, for all
  // live blocks, in this function. Each damaged block is returned once; at most kMostDamaged in a
  // trial.
  std::optional<DamagedBlock> next_damaged();

  // Call around fork(), so that the child finds the bookkeeping consistent. The thread that forks
  // may allocate meanwhile.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void unlock_in_child();

  static constexpr std::size_t kMostDamaged = 64;
  // Larger blocks are not poisoned, because most of their pages may never be touched.
  static constexpr std::size_t kMostPoisoned = std::size_t{256} << 20;

 private:
  struct Block {
    device::Region region;
    trial::Place at;
    std::size_t bytes = 0;
    BlockName name;
    std::uint32_t poison = 0;
    Allocator allocator = Allocator::guard;
    bool freed = false;
    bool survivor = false;
    bool damaged = false;  // damage was found and reported
  };
  using Blocks = std::map<const std::byte*, Block>;  // keyed by the start of their regions

  bool fits(std::size_t bytes) const;
  bool acquire_guarded(std::size_t bytes, std::size_t align_bytes, Block& block);
  bool acquire_ordered(std::size_t bytes, Block& block);
  void fill(const trial::Place& at, std::size_t bytes);
  void check(Block& block);
  // The last block whose region starts at or before `at`; blocks_.end() if there is none.
  Blocks::iterator before(const void* at);
  Blocks::iterator live_block(const void* start);

  mutable std::recursive_mutex mutex_;
  BlockSettings settings_;
  bool in_call_ = false;
  std::int32_t call_ = -1;                  // call of new blocks
  std::array<std::uint32_t, 2> numbers_{};  // last number of each maker in the call
  BlockCounts counts_;
  std::size_t live_blocks_ = 0, live_bytes_ = 0;
  Blocks blocks_;
  std::vector<device::Region> freed_;  // regions of the arena freed in this trial
  std::deque<DamagedBlock> damaged_;   // not returned yet
  std::size_t reported_ = 0;           // damaged blocks of this trial

  device::GuardArena arena_;
  device::PlainMemory plain_;
  SegmentKeeper segments_{plain_};
  device::CachingMemory caching_{segments_};
  // The only stream; it never has work in flight.
  device::StreamQueue queue_;
  device::EventOrder events_{queue_};
  device::PoolMemory pool_;
  device::OrderedMemory* ordered_ = nullptr;  // the allocator of this trial, if stream-ordered
};

}  // namespace redzone::memory_preload
