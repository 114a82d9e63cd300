// The state of the process, and its C interface.
#include "memory_preload/library/process_memory.h"

#include <pthread.h>

#include <atomic>
#include <new>

#include "core/page.h"
#include "memory_preload/library/export.h"
#include "memory_preload/library/torch_allocator.h"
#include "memory_preload/memory_abi.h"
#include "memory_preload/trial_blocks.h"

namespace redzone::memory_preload {
namespace {

// Never destroyed, because memory is freed until the process has ended.
alignas(TrialBlocks) constinit unsigned char blocks_room[sizeof(TrialBlocks)] = {};
constinit std::atomic<TrialBlocks*> blocks{nullptr};
constinit TorchAllocator torch_allocator;

// Counts aligned memory that other code than PyTorch allocates.
struct Others {
  std::atomic<bool> counted{false};  // true within a call
  std::atomic<std::uint64_t> blocks{0}, bytes{0};
};
constinit Others others;

void lock_for_fork() {
  process_blocks()->lock_for_fork();
}
void unlock_after_fork() {
  process_blocks()->unlock_after_fork();
}
void unlock_in_child() {
  process_blocks()->unlock_in_child();
}

bool is_power_of_two(std::uint32_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

bool read_settings(const rz_memory_trial& trial, BlockSettings& out) {
  if (trial.allocator < RZ_MEMORY_GUARD || trial.allocator > RZ_MEMORY_CACHING ||
      trial.placement < RZ_MEMORY_GUARD_AFTER || trial.placement > RZ_MEMORY_GUARD_BEFORE)
    return false;
  out.allocator = static_cast<Allocator>(trial.allocator);
  out.placement = static_cast<Placement>(trial.placement);
  out.poison = trial.poison;
  if (trial.align_bytes != 0) out.align_bytes = trial.align_bytes;
  out.wide_canaries = trial.wide_canaries != 0;
  if (trial.most_blocks != 0) out.most_blocks = trial.most_blocks;
  if (trial.most_bytes != 0) out.most_bytes = trial.most_bytes;
  return is_power_of_two(static_cast<std::uint32_t>(out.align_bytes)) &&
         out.align_bytes <= kPageBytes;
}

static_assert(static_cast<int>(Maker::torch) == RZ_MEMORY_OF_TORCH);
static_assert(static_cast<int>(Maker::numpy) == RZ_MEMORY_OF_NUMPY);
static_assert(static_cast<int>(Allocator::guard) == RZ_MEMORY_GUARD);
static_assert(static_cast<int>(Allocator::plain) == RZ_MEMORY_PLAIN);
static_assert(static_cast<int>(Allocator::pool) == RZ_MEMORY_POOL);
static_assert(static_cast<int>(Allocator::caching) == RZ_MEMORY_CACHING);
static_assert(static_cast<int>(Placement::guard_after) == RZ_MEMORY_GUARD_AFTER);
static_assert(static_cast<int>(Placement::guard_before) == RZ_MEMORY_GUARD_BEFORE);

}  // namespace

TrialBlocks* process_blocks() {
  return blocks.load(std::memory_order_acquire);
}

void* allocate_for(const void* caller, std::size_t bytes) {
  TrialBlocks* const all = process_blocks();
  if (all == nullptr) return nullptr;
  if (torch_allocator.contains(caller)) return all->allocate(bytes);
  if (others.counted.load(std::memory_order_relaxed)) {
    others.blocks.fetch_add(1, std::memory_order_relaxed);
    others.bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  return nullptr;
}

}  // namespace redzone::memory_preload

using namespace redzone::memory_preload;

// NOLINTBEGIN: the names are those of a C interface
REDZONE_EXPORT int rz_memory_abi() {
  return RZ_MEMORY_ABI;
}

REDZONE_EXPORT int rz_memory_arm() {
  if (process_blocks() == nullptr) {
    blocks.store(new (blocks_room) TrialBlocks, std::memory_order_release);
    ::pthread_atfork(lock_for_fork, unlock_after_fork, unlock_in_child);
  }
  return torch_allocator.look() ? 1 : 0;
}

REDZONE_EXPORT int rz_memory_begin_trial(const rz_memory_trial* trial) {
  BlockSettings settings;
  TrialBlocks* const all = process_blocks();
  if (all == nullptr || !read_settings(*trial, settings)) return -1;
  torch_allocator.look();
  all->begin_trial(settings);
  others.blocks = 0;
  others.bytes = 0;
  return 0;
}

REDZONE_EXPORT void rz_memory_begin_call(std::int32_t call) {
  if (TrialBlocks* const all = process_blocks()) {
    all->begin_call(call);
    others.counted = true;
  }
}

REDZONE_EXPORT void rz_memory_end_call() {
  others.counted = false;
  if (TrialBlocks* const all = process_blocks()) all->end_call();
}

REDZONE_EXPORT void rz_memory_end_trial() {
  others.counted = false;
  if (TrialBlocks* const all = process_blocks()) all->end_trial();
}

REDZONE_EXPORT void rz_memory_count(rz_memory_counts* out) {
  const BlockCounts c = process_blocks() == nullptr ? BlockCounts() : process_blocks()->counts();
  *out = {c.blocks,          c.bytes,          c.plain_blocks,      c.plain_bytes,
          c.left_out_blocks, c.left_out_bytes, c.unpoisoned_blocks, c.survivors,
          c.survivor_bytes,  others.blocks,    others.bytes};
}

REDZONE_EXPORT int rz_memory_find(const void* address, rz_memory_block* out) {
  TrialBlocks* const all = process_blocks();
  if (all == nullptr || !all->owns(address)) return 0;
  const auto found = all->find(address);
  if (!found) return 0;
  *out = {found->name.call, found->name.number, static_cast<std::int32_t>(found->name.maker),
          found->begin,     found->bytes,       found->freed ? 1 : 0};
  return 1;
}

REDZONE_EXPORT int rz_memory_next_damaged(rz_memory_damaged* out) {
  TrialBlocks* const all = process_blocks();
  const auto next = all == nullptr ? std::nullopt : all->next_damaged();
  if (!next) return 0;
  *out = {next->name.call,       next->name.number,  static_cast<std::int32_t>(next->name.maker),
          next->bytes,           next->dirty_before, next->dirty_after,
          next->first_dirty_byte};
  return 1;
}
// NOLINTEND
