// Which accesses of the threads of one launch come before which: vector clocks, compressed by what
// CUDA offers to order threads. A block barrier orders all threads of a block, a warp operation the
// lanes that take part. Between blocks only memory orders: what a thread has fenced before it
// updates a location atomically comes before what others do after they have read that location
// atomically. A barrier or a warp operation carries fences on: any thread that has taken part
// publishes what the others had fenced before it. (PTX ISA, "Memory Consistency Model": release and
// acquire patterns, and causality order, in which they are cumulative. The fence behind
// the acquiring read is not asked for, so its absence is not found.)
//
// Every thread has a clock, which counts its synchronizations. An access is stamped with the clock
// of its thread; another thread that knows the thread up to that clock comes after the access.
#pragma once

#include <redzone/host_checks.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redzone::device {

// A thread of the launch: the linear index of its block, and its own within the block.
struct GridThread {
  std::uint32_t block = 0;
  std::uint32_t thread = 0;

  bool operator==(const GridThread&) const = default;
};

// A location in memory. Shared memory is another one in each block, and may have one address in
// all.
struct Place {
  std::uintptr_t address = 0;
  bool shared = false;
};

class ThreadOrder {
 public:
  using Clock = std::uint32_t;
  static constexpr unsigned kLanes = 32;  // of a warp

  // A launch of blocks with so many threads; forgets the last one.
  void begin(unsigned threads_of_block);
  void start_block(std::uint32_t block);
  void end_block(std::uint32_t block);

  // All threads of the block that have not ended have arrived. What ended threads did comes before,
  // too.
  void barrier(std::uint32_t block);
  // These lanes of a warp have taken part in one operation.
  void sync_lanes(std::uint32_t block, unsigned warp, std::uint32_t lanes);
  void fence(GridThread thread, host::FenceScope scope);
  // The thread writes the location atomically: the location carries what the thread has fenced.
  void publish(GridThread thread, Place location);
  // The thread has read it atomically: it knows what the location carries.
  void learn(GridThread thread, Place location);

  // Of the next access of a thread of a started block. At least 1.
  Clock now(GridThread thread) const;
  // Whether an access of `earlier` at `at` comes before the next access of `later`, whose block has
  // started and not ended.
  bool before(GridThread earlier, Clock at, GridThread later);
  // Whether before() has said true of a thread that knows too much to remember it, since begin().
  bool guessed() const { return guessed_; }

  // Beyond so many entries a thread counts as knowing all that other blocks do. Of its own block it
  // keeps what it knows (but for what came about by atomics of other blocks).
  static constexpr std::size_t kMostKnown = 4096;

 private:
  // What a thread knows of others, by atomics. Ascending keys; immutable once shared.
  using Entries = std::vector<std::pair<std::uint64_t, Clock>>;
  struct Known {
    bool everything = false;  // of other blocks; `until` is of one block then
    Entries until;
  };
  using KnownPtr = std::shared_ptr<const Known>;

  struct BlockClocks {
    std::vector<Clock> own;   // of each thread
    Clock at_barrier = 0;     // all threads know all up to this clock
    std::vector<Clock> warp;  // likewise the lanes of each warp, of each other
    // What lane i of a warp knows of lane k, at [32 * i + k]; empty: nothing beyond `warp`.
    std::vector<std::vector<Clock>> lanes;
    std::vector<KnownPtr> known;                    // of each thread
    std::vector<KnownPtr> fenced, fenced_in_block;  // what its next atomic publishes
    std::unordered_map<std::uintptr_t, KnownPtr>
        shared;  // what locations of its shared memory carry
    bool any_known = false, any_fence = false;
  };
  struct Location {
    KnownPtr device;
    std::unordered_map<std::uint32_t, KnownPtr> block;
  };

  // What a thread of block `own` knows that knows both; of no block, if there is none.
  static KnownPtr join(const KnownPtr& a, const KnownPtr& b, std::optional<std::uint32_t> own);
  KnownPtr all_that_is_known(const BlockClocks& block, GridThread thread) const;
  KnownPtr compact(const KnownPtr& known, std::uint32_t block) const;
  void share(std::uint32_t block, unsigned first, std::uint32_t mask, unsigned count);

  unsigned threads_ = 0;  // of a block
  std::unordered_map<std::uint32_t, std::unique_ptr<BlockClocks>> blocks_;
  std::vector<std::unique_ptr<BlockClocks>> spare_;
  std::unordered_map<std::uintptr_t, Location> locations_;  // of global memory
  bool any_fence_ = false;
  bool guessed_ = false;
};

}  // namespace redzone::device
