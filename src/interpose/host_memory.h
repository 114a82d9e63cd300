// Blocks of malloc() and related functions between pages that cannot be accessed. All blocks lie in
// one reservation of addresses; no address is used twice, so an access after free faults until the
// process ends. Unused bytes in the pages of a block hold canaries.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "interpose/private_memory.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"

namespace redzone::interpose {

class HostMemory {
 public:
  // Both arguments must outlive this object.
  HostMemory(const Settings& settings, Recorder& recorder);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Reserves the addresses. Returns false if the system refuses; then nothing is guarded.
  bool reserve();

  // True for every address that a block has, had or may get. Takes no lock.
  bool owns(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin_ && at < end_;
  }

  // Allocates a block aligned to `align` (a power of two or 0) and at least as the settings
  // require. `zero`: zeroed instead of poisoned. Returns nullptr, and counts the reason, if the
  // block cannot be guarded.
  void* allocate(std::size_t bytes, std::size_t align, bool zero, const Frames& from);
  // The following blocks are the program's own: they are numbered from 1, and guarded if the
  // settings include their numbers. Earlier blocks belong to the guard's self-test.
  void begin_program();
  // Returns false, reports an error and frees nothing if the address is not that of a live block.
  bool free(void* address, const char* call, const Frames& from);
  // Size of the live block at the address; 0 if there is none.
  std::size_t bytes_of(const void* address) const;

  // Reports an access that faulted; called by the signal handler. Returns false if the address is
  // not in the reservation: the fault is unrelated to the guard.
  bool report_fault(std::uint64_t address, Access access, int signal, std::uint64_t instruction);

  // Call after report_fault(). With OnError::go_on, maps memory at the address, so that the access
  // can be repeated. Returns false if nothing could be mapped, if a mapping would not help, or if
  // the settings do not request it.
  bool survive(std::uint64_t address, Access access);

  // Compares the canaries of live blocks.
  void compare_live();

  // Call around fork(), so that the child finds the bookkeeping consistent. Meanwhile other fork()
  // handlers and the C library's own locks are taken, and their holders may allocate; so this
  // thread can still allocate, and no thread waits longer than kMostLockWait. A fork() within a
  // call of this class, in a signal handler, leaves the child without a guard.
  void lock_for_fork();
  void unlock_after_fork();
  void unlock_in_child();

  // Size of the inaccessible pages between blocks.
  static constexpr std::size_t kGuardBytes = 64 * 1024;
  // Larger blocks are not poisoned, because a program may never touch most of their pages.
  static constexpr std::size_t kMostPoisoned = std::size_t{64} << 20;
  static constexpr std::size_t kFreedKept = 16 * 1024;
  static constexpr std::chrono::milliseconds kMostLockWait{500}, kStep{1};

 private:
  enum class Waiting : std::uint8_t { bounded, unbounded };
  // Access to the bookkeeping; check allowed() before each use.
  class Use {
   public:
    Use(const HostMemory& memory, Waiting waiting);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool allowed() const { return allowed_; }

   private:
    const HostMemory& memory_;
    bool locked_ = false, allowed_ = false;
  };

  struct Block {
    std::uintptr_t span = 0, address = 0;
    std::size_t span_bytes = 0, bytes = 0;
    std::uint64_t ordinal = 0;
    bool is_freed = false;
    Frames allocated, freed;
  };

  bool lock(bool waits) const;
  bool lock_in_handler() const;
  void unlock() const;
  bool replace_page(std::uintptr_t page);
  Block* block_at(std::uintptr_t address);
  const Block* nearest(std::uintptr_t address) const;
  void fill(FindingRecord& finding, const Block& block, std::uintptr_t address) const;
  void compare(const Block& block);
  void compare_zone(const Block& block, std::uintptr_t from, std::uintptr_t to, Side side);

  const Settings& settings_;
  Recorder& recorder_;
  std::uintptr_t begin_ = 0, end_ = 0;
  mutable std::timed_mutex mutex_;
  mutable std::atomic<pthread_t> holder_{};  // holder of the lock; {} if there is none
  std::atomic<bool> forks_{false};           // true while lock_for_fork() holds the lock
  bool abandoned_ = false;                   // a fork() did not get the lock
  std::size_t live_ = 0;                     // number of live blocks
  std::size_t most_live_ = 0;
  PrivateMemory memory_;
  std::uintptr_t next_ = 0;                   // end of the last guard pages
  PrivateMap<std::uintptr_t, Block> blocks_;  // keyed by span
  std::deque<std::uintptr_t, PrivateAllocator<std::uintptr_t>> freed_;
  // pages that survive() has mapped, with the number of faults there
  PrivateMap<std::uintptr_t, int> survived_;
  std::uint64_t ordinal_ = 0;
  bool in_program_ = false;
};

}  // namespace redzone::interpose
