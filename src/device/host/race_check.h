// Finds races within a launch: two accesses to the same bytes by different threads without an order
// between them (thread_order.h), of which at least one writes and at least one is not atomic. Two
// writes of the same value are not a race, because kernels do this on purpose, as in `found =
// true`. After Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection" (PLDI
// 2009), with at most two reads and the last atomics remembered for each cell.
//
// A race of plain accesses between threads that are ordered only by barriers and operations of
// whole warps is found in every schedule that makes the two accesses. Accesses of different
// launches count as ordered.
#pragma once

#include <redzone/host_checks.h>
#include <redzone/host_thread.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "device/host/kernel_check.h"
#include "device/host/shadow.h"
#include "device/host/thread_order.h"

namespace redzone::device {

struct MemoryRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  bool contains(const void* at) const { return at >= begin && at < end; }
};

struct RaceAccess {
  host::AccessKind kind = host::AccessKind::read;
  std::uint32_t block = 0;   // linear index in the grid
  std::uint32_t thread = 0;  // index in the block
  std::uint32_t code = 0;    // offset just behind the access in the shared object of the kernel
};

struct Race {
  const std::byte* at = nullptr;  // the first byte that both accessed
  std::uint32_t bytes = 0;        // size of the second access
  bool shared = false;            // in shared memory of the block
  RaceAccess first, second;       // in the order in which they ran
  std::uint64_t count = 1;        // races between the same two places in the code
};

class RaceCheck final : public KernelCheck {
 public:
  // `memory`: the ranges in which kernels may access global memory. Other accesses, except to
  // shared memory, are ignored.
  explicit RaceCheck(std::vector<MemoryRange> memory);

  // KernelCheck. Accesses of bulk copies are ignored.
  void begin_launch(unsigned threads_of_block, const std::byte* code,
                    std::span<std::byte> statics) override;
  void start_block(std::uint32_t block) override;
  void end_block(std::uint32_t block) override;
  void enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) override;
  void run(int thread) override { thread_ = static_cast<std::uint32_t>(thread); }
  void barrier() override { order_.barrier(block_); }
  void passed_without(unsigned) override {}
  void sync_lanes(unsigned warp, std::uint32_t lanes) override {
    order_.sync_lanes(block_, warp, lanes);
  }
  void asked_absent_lane(unsigned) override {}
  void pause(bool paused) override;
  void end_launch() override { settle(); }

  // host::AccessSink
  void access(const void* at, std::size_t bytes, host::AccessKind kind, const void* code) override;
  void fence(host::FenceScope scope) override { order_.fence(current(), scope); }
  void arrive(const void* barrier) override;
  void waited(const void* barrier) override;
  void at_barrier(const void*) override {}
  void in_warp(std::uint32_t, const void*) override {}
  void undefined(const host::Undefined&) override {}

  // Races of the ended launch, in the order of detection. `dropped` counts those beyond kMost.
  std::span<const Race> races() const { return races_; }
  std::uint64_t dropped() const { return dropped_; }
  // Whether races may be missing because memory without shadow was accessed.
  bool incomplete() const { return incomplete_; }
  // Whether races may be missing because atomics order more threads than can be remembered.
  bool lost_track() const { return order_.guessed(); }

  static constexpr std::size_t kMost = 64;
  // Limit of shadow memory, about 800 MiB.
  static constexpr std::size_t kMostCells = std::size_t{10} << 20;

 private:
  GridThread current() const { return {block_, thread_}; }
  bool is_shared(const void* at) const { return dynamic_.contains(at) || statics_.contains(at); }
  Place place_of(const void* at) const {
    return {reinterpret_cast<std::uintptr_t>(at), is_shared(at)};
  }
  Shadow* shadow_of(const void* at, bool& shared);
  void check(ShadowCell& cell, const Stamp& now, Race& race, std::size_t bytes);
  // Reports pending races of two writes if the second write has changed the value. Call it after
  // that write: nothing else writes between the announcement of an access and the next
  // announcement.
  void settle();
  bool conflicts(const Stamp& earlier, const Stamp& now);
  void record_read(ShadowCell& cell, const Stamp& now);
  void report(const Race& race);

  std::vector<MemoryRange> memory_;
  ThreadOrder order_;
  ShadowPool pool_{kMostCells};
  Shadow global_{pool_};
  // Shadow of the shared memory of each block that has started.
  std::unordered_map<std::uint32_t, std::unique_ptr<Shadow>> blocks_;
  Shadow* shared_ = nullptr;  // shadow of the running block
  const std::byte* code_ = nullptr;
  MemoryRange statics_, dynamic_;
  std::uint32_t block_ = 0, thread_ = 0;
  bool paused_ = false;
  struct Pending {
    Race race;  // race of two plain writes; `old`: the bytes at `race.at` before the second
    std::array<std::byte, ShadowPool::kWordBytes> old;
    std::size_t bytes;
  };
  std::vector<Pending> pending_;
  std::vector<Race> races_;
  std::uint64_t dropped_ = 0;
  bool incomplete_ = false;
};

}  // namespace redzone::device
