// Blocks of malloc() and its relatives between pages that cannot be accessed. All of them lie in
// one reservation of addresses; none is used twice, so an access after free faults for as long as
// the process lives. Slack within the pages of a block holds canaries.
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
  // Both outlive this object.
  HostMemory(const Settings& settings, Recorder& recorder);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Reserves the addresses. False if the system refuses: then nothing is guarded.
  bool reserve();

  // True for every address that a block has, had or may get. Takes no lock.
  bool owns(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin_ && at < end_;
  }

  // A block, aligned to `align` (a power of two) or, if that is 0, as the settings say. `zero`:
  // zeroed rather than poisoned. nullptr if it cannot be guarded, which is counted.
  void* allocate(std::size_t bytes, std::size_t align, bool zero, const Frames& from);
  // What follows are the program's own blocks: they are numbered from 1, and guarded if the
  // settings say so. Those before are of the guard's proof.
  void begin_program();
  // False if the address is not that of a live block: reported, and nothing is freed.
  bool free(void* address, const char* call, const Frames& from);
  // Bytes of the live block at the address; 0 if there is none.
  std::size_t bytes_of(const void* address) const;

  // Reports an access that faulted, as its signal handler has it. False if no block is near: the
  // fault has nothing to do with the guard.
  bool report_fault(std::uint64_t address, Access access, int signal, std::uint64_t instruction);

  // After such a report, with OnError::go_on: puts memory where the access was, so that it can be
  // repeated. False if nothing could be mapped, if that would not help, or if the settings do not
  // ask for it.
  bool survive(std::uint64_t address, Access access);

  // Compares the canaries of live blocks.
  void compare_live();

  // Around fork(), so that the child finds the bookkeeping consistent. Other handlers of fork() and
  // the C library's own locks are taken meanwhile, and their holders may allocate: so this thread
  // goes on allocating, and no thread waits for longer than kMostLockWait. A fork() within a call
  // of this class, in a signal handler, leaves the child without a guard.
  void lock_for_fork();
  void unlock_after_fork();
  void unlock_in_child();

  // Pages without access between blocks.
  static constexpr std::size_t kGuardBytes = 64 * 1024;
  // Larger blocks are not poisoned: a program may never touch most of their pages.
  static constexpr std::size_t kMostPoisoned = std::size_t{64} << 20;
  static constexpr std::size_t kFreedKept = 16 * 1024;
  static constexpr std::chrono::milliseconds kMostLockWait{500}, kStep{1};

 private:
  enum class Waiting : std::uint8_t { bounded, unbounded };
  // Access to the bookkeeping, if it is allowed.
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
  mutable std::atomic<pthread_t> holder_{};  // of the lock; {} if there is none
  std::atomic<bool> forks_{false};           // lock_for_fork() has the lock
  bool abandoned_ = false;                   // by a fork() that did not get the lock
  std::size_t live_ = 0;                     // blocks
  std::size_t most_live_ = 0;
  PrivateMemory memory_;
  std::uintptr_t next_ = 0;                   // the end of the last guard pages
  PrivateMap<std::uintptr_t, Block> blocks_;  // by span
  std::deque<std::uintptr_t, PrivateAllocator<std::uintptr_t>> freed_;
  PrivateMap<std::uintptr_t, int> survived_;  // pages that survive() has mapped: faults there
  std::uint64_t ordinal_ = 0;
  bool in_program_ = false;
};

}  // namespace redzone::interpose
