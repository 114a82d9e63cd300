// Determines which accesses of the threads of one launch come before which, with vector clocks that
// are compressed for CUDA's means of ordering threads. A block barrier orders all threads of a
// block, a warp operation the lanes that take part. Between blocks only memory orders: what a
// thread has fenced before it updates a location atomically comes before what other threads do
// after they have read that location atomically. A barrier or a warp operation propagates fences:
// any thread that has taken part publishes what the others had fenced before it. (PTX ISA, "Memory
// Consistency Model": release and acquire patterns, and causality order, in which they are
// cumulative. A fence behind the acquiring read is not required, so its absence is not found.)
//
// Every thread has a clock, which counts its synchronizations. An access is stamped with the clock
// of its thread. A thread knows another thread up to a clock if the accesses of that thread up to
// this clock come before its own next access.
#pragma once

#include <redzone/host_checks.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redzone::device {

// A thread of the launch: the linear index of its block, and its index within the block.
struct GridThread {
  std::uint32_t block = 0;
  std::uint32_t thread = 0;

  bool operator==(const GridThread&) const = default;
};

// A location in memory. Shared memory of different blocks is different, but may have the same
// address.
struct Place {
  std::uintptr_t address = 0;
  bool shared = false;
};

class ThreadOrder {
 public:
  using Clock = std::uint32_t;
  static constexpr unsigned kLanes = 32;  // lanes per warp

  // Starts a launch of blocks with `threads_of_block` threads; forgets the previous launch.
  void begin(unsigned threads_of_block);
  void start_block(std::uint32_t block);
  void end_block(std::uint32_t block);

  // Call when all threads of the block that have not ended have arrived. Accesses of ended threads
  // come before the barrier, too.
  void barrier(std::uint32_t block);
  // Call when these lanes of a warp have taken part in one operation.
  void sync_lanes(std::uint32_t block, unsigned warp, std::uint32_t lanes);
  void fence(GridThread thread, host::FenceScope scope);
  // Call when the thread writes the location atomically: the location carries what the thread has
  // fenced.
  void publish(GridThread thread, Place location);
  // Call when the thread has read the location atomically: the thread knows what the location
  // carries.
  void learn(GridThread thread, Place location);

  // The clock of the next access of a thread of a started block; at least 1.
  Clock now(GridThread thread) const;
  // Whether an access of `earlier` at `at` comes before the next access of `later`, whose block has
  // started and not ended.
  bool before(GridThread earlier, Clock at, GridThread later);
  // Whether before() has assumed an order since begin(), because a thread knew too many others to
  // remember them.
  bool guessed() const { return guessed_; }

  // With more entries than this a thread counts as knowing everything that other blocks do. It
  // keeps its knowledge of its own block (except for what it learned through atomics of other
  // blocks).
  static constexpr std::size_t kMostKnown = 4096;

 private:
  // What a thread knows of others through atomics. Ascending keys; immutable once shared.
  using Entries = std::vector<std::pair<std::uint64_t, Clock>>;
  struct Known {
    bool everything = false;  // about other blocks; `until` then describes one block only
    Entries until;
  };
  using KnownPtr = std::shared_ptr<const Known>;

  struct BlockClocks {
    std::vector<Clock> own;   // of each thread
    Clock at_barrier = 0;     // all threads know all threads up to this clock
    std::vector<Clock> warp;  // likewise within each warp
    // What lane i of a warp knows of lane k, at [32 * i + k]; empty: nothing beyond `warp`.
    std::vector<std::vector<Clock>> lanes;
    std::vector<KnownPtr> known;                    // of each thread
    std::vector<KnownPtr> fenced, fenced_in_block;  // what the next atomic of each thread publishes
    std::unordered_map<std::uintptr_t, KnownPtr>
        shared;  // by location in its shared memory: what it carries
    bool any_known = false, any_fence = false;
  };
  struct Location {
    KnownPtr device;
    std::unordered_map<std::uint32_t, KnownPtr> block;
  };

  // The knowledge of a thread of block `own` that knows both `a` and `b`; nullopt: of no block.
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
