#include "device/host/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/byte_count.h"
#include "core/error.h"
#include "device/host/thread_statics.h"

namespace redzone::device {

namespace {

// Rounds in which threads only yield before another block gets its turn.
constexpr unsigned kIdleRounds = 2;
// Such rounds, while warps starve, before the starved warps run. The other threads may wait for
// these warps, but a thread that yields may also make progress.
constexpr unsigned kIdleStarvedRounds = 16;
// Maximum number of preempted blocks that wait in warp operations or at the barrier. Each occupies
// a stack for each of its threads, and fills the caches with the stacks.
constexpr std::size_t kMostPreemptedWaiting = 4;

// If grids overlap, the first of them gets one in this many turns, on average.
constexpr std::uint64_t kFirstHasTurn = 4;
// Rounds before another turn once a block has triggered its dependents.
constexpr std::uint64_t kMostOverlappingRounds = 2;

constexpr std::size_t rounded_shared(std::size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

// Replaces the high byte of each 16 bits, so that the word is far from zero as an element of most
// types, and finite. One half becomes positive and one negative, and another poison swaps them:
// then both the maximum and the minimum of the values read change.
constexpr std::uint64_t far_from_zero(std::uint64_t word, std::uint32_t poison) {
  constexpr std::uint64_t kHigh = 0xff00ff00ff00ff00ull;
  const std::uint64_t high = (poison & 2) != 0 ? 0xfb00fb007b007b00ull : 0x7b007b00fb00fb00ull;
  return (word & ~kHigh) | high;
}

std::byte byte_of(std::uint64_t word, std::size_t at) {
  return static_cast<std::byte>(word >> (at % sizeof word * 8));
}

// All other poisons are compared with 0x3f3f3f3f (see the axis "poison" in core/mode_axes.cpp).
constexpr bool is_compared_with_all(std::uint32_t poison) {
  return poison >> 24 == 0x3f;
}

}  // namespace

Engine::Engine(GuardMemory& memory, FaultContext& fault)
    : memory_(memory), fault_(fault), fibers_(&Engine::fiber_main, this) {}

Engine::~Engine() = default;

void Engine::reset() {
  leave_grids();
  if (block_ != nullptr) retire();
  for (Running& running : running_) {
    for (auto& block : running.aside) spare_.push_back(std::move(block));
    running.aside.clear();
  }
  fibers_.reset();
  current_ = &main_;
}

// ---- Switching ---------------------------------------------------------------------------------

void Engine::fiber_main(void* engine) {
  static_cast<Engine*>(engine)->carry_threads();
}

// Entry of a fiber: runs fresh threads one after the other on the same stack, then parks itself.
void Engine::carry_threads() {
  for (;;) {
    const Grid& grid = *run_->grid;
    grid.kernel.thunk(grid.kernel.function, grid.args);
    block_->finish(thread_, lane_poison_);
    if (check_ != nullptr) check_releases();
    const int next = block_->next();
    if (next >= 0 && block_->fresh(next)) {
      become(next);
      continue;
    }
    fibers_.park(current_);
    if (next < 0)
      switch_to(&main_);
    else
      resume(next);
    // The pool has returned this fiber for a fresh thread.
  }
}

void Engine::become(int thread) {
  thread_ = thread;
  if (check_ != nullptr) check_->run(thread);
  self_->thread_idx = run_->thread_index[static_cast<std::size_t>(thread)];
  self_->lane = static_cast<unsigned>(thread) % 32;
  // In the natural order only a spinning thread is preempted: each thread gets a new quantum. With
  // a seed any thread may be preempted: the count continues over all threads.
  if (rng_->natural()) self_->quantum = kNaturalQuantum;
}

void Engine::resume(int thread) {
  become(thread);
  switch_to(block_->fresh(thread) ? fibers_.take() : block_->fiber[thread]);
}

void Engine::switch_to(Fiber* to) {
  Fiber* const from = std::exchange(current_, to);
  fibers_.switch_to(from, to);
}

// Suspends the running thread, which waits or yields, and switches to the next thread of the round.
void Engine::leave() {
  block_->fiber[thread_] = current_;
  const int next = block_->next();
  if (next < 0)
    switch_to(&main_);
  else
    resume(next);
}

// ---- What kernels call -------------------------------------------------------------------------

host::BarrierResult Engine::sync_block(int predicate) {
  block_->arrive_at_barrier(thread_, predicate != 0);
  leave();
  return block_->barrier_result();
}

host::WarpResult Engine::sync_warp(std::uint32_t mask, std::uint64_t value, unsigned source) {
  const int thread = thread_;
  const bool goes_on = block_->arrive_in_warp(thread, mask, value, source, lane_poison_);
  if (check_ != nullptr) check_releases();
  if (!goes_on) leave();
  return block_->warp_result(thread);
}

void Engine::renew_quantum() {
  const auto mean = static_cast<unsigned>(run_->preemption.quantum);
  self_->quantum =
      rng_->natural() ? kNaturalQuantum : static_cast<int>(1 + rng_->below(2 * mean - 1));
}

void Engine::yield() {
  renew_quantum();
  block_->yield(thread_);
  leave();
}

void Engine::stall(bool again) {
  renew_quantum();
  block_->stall(thread_, again);
  leave();
}

long long Engine::clock() {
  clock_ += 32;
  if (--self_->quantum <= 0) yield();
  return clock_;
}

// With a seed half of the copies arrive at once, so that overwriting data still in use is detected,
// too.
void Engine::issue(const host::BulkCopy& copy) {
  if (!rng_->natural() && rng_->below(2) == 0)
    perform(copy);
  else
    block_->copies.push_back(copy);
}

void Engine::perform(const host::BulkCopy& copy) {
  if (check_ != nullptr) check_->pause(true);
  copy.arrive(copy);
  if (check_ != nullptr) check_->pause(false);
}

void Engine::await(const void* barrier) {
  auto& copies = block_->copies;
  for (std::size_t i = 0; i < copies.size();) {
    if (copies[i].barrier != barrier) {
      ++i;
      continue;
    }
    const host::BulkCopy copy = copies[i];
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    perform(copy);
  }
}

void Engine::wait_for_producer() {
  while (run_ != &running_[first_]) yield();
}

// The first thread that calls this triggers for its block. If the grid has dependents, the thread
// yields, so that they may run while other threads of the block are still behind.
void Engine::trigger_dependents() {
  if (!std::exchange(block_->triggered, true)) --run_->untriggered;
  if (has_dependents()) yield();
}

void Engine::refuse(const char* code, const char* detail) {
  refused_ = Failure{Failure::Kind::fault, code, detail};
  switch_to(&main_);
  __builtin_unreachable();  // reset() discards this fiber
}

// ---- Grids -------------------------------------------------------------------------------------

std::optional<Failure> Engine::run(std::span<const Grid* const> grids, Rng& rng,
                                   KernelCheck* check) {
  RZ_CHECK(current_ == &main_ && block_ == nullptr && !grids.empty() && grids.size() <= kMostGrids);
  RZ_CHECK(check == nullptr || grids.size() == 1);
  check_ = check;
  releases_.clear();
  rng_ = &rng;
  clock_ = 0;
  count_ = grids.size();
  first_ = 0;
  first_has_turn_ = false;
  for (std::size_t i = 0; i < count_; ++i) {
    running_[i].grid = grids[i];
    running_[i].self = nullptr;
  }
  if (auto failure = run_grids()) return failure;  // reset() clears the rest
  leave_grids();
  return std::nullopt;
}

void Engine::leave_grids() {
  for (Running& running : running_)
    if (running.begun()) std::exchange(running.self, nullptr)->runtime = nullptr;
  fault_.thread = nullptr;
  run_ = nullptr;
}

void Engine::begin(Running& running) {
  const Grid& grid = *running.grid;
  running.threads = grid.block.x * grid.block.y * grid.block.z;
  if (std::memcmp(&running.indexed, &grid.block, sizeof running.indexed) != 0) {
    running.indexed = grid.block;
    running.thread_index.resize(running.threads);
    for (unsigned t = 0; t < running.threads; ++t)
      running.thread_index[t] = {t % grid.block.x, t / grid.block.x % grid.block.y,
                                 t / grid.block.x / grid.block.y};
  }
  const std::uint64_t blocks = std::uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  running.blocks = StartOrder(blocks, fibers_.available() / running.threads, *rng_);
  running.untriggered = blocks;
  running.statics = {};
  running.variables = &kernel_statics_.of(grid.kernel.function);
  running.preemption = Preemption::drawn(*rng_);
  running.aside_order = AsideOrder(*rng_);
  running.newest_aside_waits = false;
  running.self = static_cast<host::Thread*>(grid.kernel.host_thread);
  running.self->runtime = this;
  if (fault_.box != nullptr) ++fault_.box->progress;
}

// Makes `running` the grid whose threads run from now on.
void Engine::enter(Running& running) {
  if (run_ == &running) return;
  const bool fresh = !running.begun();
  if (fresh) begin(running);
  run_ = &running;
  self_ = running.self;
  self_->block_dim = running.grid->block;
  self_->grid_dim = running.grid->grid;
  fault_.thread = self_;
  fault_.begin_kernel(running.grid->name, running.grid->call);
  if (fresh) renew_quantum();
}

bool Engine::may_run(std::size_t i) const {
  const Running& running = running_[i];
  if (i == first_) return true;
  const Running& producer = running_[i - 1];
  if (!producer.begun() || producer.untriggered > 0 || running.over()) return false;
  return !running.aside.empty() || can_start(running);
}

// The first grid that is not over may always run: no later grid starts before all of its blocks
// have started, so there are stacks for them. It gets fewer turns than the others, because it has
// begun first.
Engine::Running& Engine::choose_grid() {
  std::size_t chosen = first_;
  if (std::exchange(first_has_turn_, false) || first_ + 1 == count_ || rng_->natural() ||
      rng_->below(kFirstHasTurn) == 0)
    return running_[chosen];
  std::uint64_t others = 0;
  for (std::size_t i = first_ + 1; i < count_; ++i)
    if (may_run(i) && rng_->below(++others) == 0) chosen = i;
  return running_[chosen];
}

// ---- Blocks ------------------------------------------------------------------------------------

std::optional<Failure> Engine::run_grids() {
  while (first_ < count_) {
    enter(choose_grid());
    // A preempted block waits for other blocks, so blocks that have not started come first, if
    // there are stacks for them.
    if (!run_->blocks.done() && (run_->aside.empty() || can_start(*run_))) {
      if (auto failure = start_block()) return failure;
    } else {
      make_current(next_aside());
    }
    const Turn turn = take_turn();
    switch (turn) {
      case Turn::done:
        if (auto failure = overrun_of_shared()) return failure;
        if (auto failure = copy_in_flight()) return failure;
        if (check_ != nullptr) check_->end_block(number_of(*block_));
        if (!block_->triggered) --run_->untriggered;
        // Counts as progress, because a large grid of a correct kernel may take longer than a
        // deadline on a busy machine.
        if (fault_.box != nullptr) ++fault_.box->progress;
        retire();
        while (first_ < count_ && running_[first_].over()) ++first_;
        break;
      case Turn::idle:
      case Turn::preempted:
        set_aside();
        run_->newest_aside_waits = turn == Turn::idle;
        first_has_turn_ = turn == Turn::idle;
        break;
      case Turn::stuck:
        return Failure{Failure::Kind::fault, "deadlock", block_->stuck_at()};
      case Turn::refused:
        return std::exchange(refused_, std::nullopt);
    }
  }
  return std::nullopt;
}

bool Engine::can_start(const Running& running) const {
  const auto& block = running.grid->block;
  return (!running.begun() || !running.blocks.done()) &&
         fibers_.available() >= block.x * block.y * block.z;
}

std::unique_ptr<Block> Engine::next_aside() {
  auto& aside = run_->aside;
  const std::size_t i = run_->aside_order.next(aside.size(), run_->newest_aside_waits, *rng_);
  auto block = std::move(aside[i]);
  aside.erase(aside.begin() + static_cast<std::ptrdiff_t>(i));
  return block;
}

std::optional<Failure> Engine::start_block() {
  const std::uint64_t i = run_->blocks.next(*rng_);
  const host::Index3& grid = run_->grid->grid;
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  block->start({static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                static_cast<unsigned>(i / grid.x / grid.y)},
               run_->threads);
  block->note_releases(check_ == nullptr ? nullptr : &releases_);
  block->statics.clear();
  if (auto failure = give_shared(*block)) return failure;
  if (check_ != nullptr) check_->start_block(number_of(*block));
  make_current(std::move(block));
  poison_variables(*block_);
  return std::nullopt;
}

std::uint32_t Engine::number_of(const Block& block) const {
  const host::Index3 &at = block.index, &grid = run_->grid->grid;
  return at.x + grid.x * (at.y + grid.y * at.z);
}

void Engine::check_releases() {
  for (const Block::Release& release : releases_) {
    check_->sync_lanes(release.warp, release.lanes);
    for (std::uint32_t rest = release.asked_absent; rest != 0; rest &= rest - 1)
      check_->asked_absent_lane(release.warp * 32 + static_cast<unsigned>(std::countr_zero(rest)));
  }
  releases_.clear();
}

// The block's dynamic shared memory ends at a guard page, rounded up to the 16 bytes that kernels
// may assume. Its poison differs from block to block and with the poison of the trial.
std::optional<Failure> Engine::give_shared(Block& block) {
  const std::size_t bytes = rounded_shared(run_->grid->shared_bytes);
  if (bytes == 0) {
    block.dynamic_shared = memory_.inaccessible();
    return std::nullopt;
  }
  if (memory_.rounded(bytes) != block.shared.bytes) {
    if (block.shared.base != nullptr) memory_.release(std::exchange(block.shared, {}));
    auto region = memory_.acquire(bytes);
    if (!region) return region.error();
    block.shared = *region;
  }
  std::byte* const begin = block.shared.base + block.shared.bytes - bytes;
  block.dynamic_shared = begin;
  const std::uint64_t word = shared_poison(block);
  for (std::size_t i = 0; i < bytes; i += sizeof word) std::memcpy(begin + i, &word, sizeof word);
  const std::size_t given = run_->grid->shared_bytes;
  const std::uint64_t canary = given < bytes ? shared_canary(block) : 0;
  for (std::size_t i = given; i < bytes; ++i) begin[i] = byte_of(canary, i);
  return std::nullopt;
}

// A flag that no thread has cleared is true unless its word is 0. Therefore one of two compared
// trials finds 0: the trial with 0x3f3f3f3f in even blocks, the other trial in odd blocks.
std::uint64_t Engine::shared_poison(const Block& block) const {
  const auto& at = block.index;
  const bool odd = ((at.x ^ at.y ^ at.z) & 1) != 0;
  if (is_compared_with_all(poison_) != odd) return 0;
  return far_from_zero(
      mix(mix(poison_) ^ at.x ^ std::uint64_t{at.y} << 31 ^ std::uint64_t{at.z} << 47), poison_);
}

// No byte is 0, because 0 is the value that is written most often.
std::uint64_t Engine::shared_canary(const Block& block) const {
  return mix(mix(poison_ ^ 0xca9a41ull) ^ shared_poison(block)) | 0x0101010101010101ull;
}

void Engine::set_poison(std::uint32_t poison) {
  poison_ = poison;
  lane_poison_ = poison >> 31 != 0 ? 0 : far_from_zero(mix(mix(poison) ^ 0x5a4ed0ull), poison);
}

void Engine::poison_variables(const Block& block) {
  const std::uint64_t word = shared_poison(block);
  for (const std::span<std::byte> variable : *run_->variables) {
    const std::size_t whole = variable.size() / sizeof word * sizeof word;
    for (std::size_t i = 0; i < whole; i += sizeof word)
      std::memcpy(variable.data() + i, &word, sizeof word);
    std::memcpy(variable.data() + whole, &word, variable.size() - whole);
  }
}

// The bytes between the end of dynamic shared memory and the guard page, at most 15, must be
// unchanged when the block ends.
std::optional<Failure> Engine::overrun_of_shared() const {
  const std::size_t given = run_->grid->shared_bytes, bytes = rounded_shared(given);
  if (given == bytes) return std::nullopt;
  const auto* begin = static_cast<const std::byte*>(block_->dynamic_shared);
  const std::uint64_t canary = shared_canary(*block_);
  for (std::size_t i = given; i < bytes; ++i) {
    if (begin[i] == byte_of(canary, i)) continue;
    const std::size_t behind = i - given + 1;
    return Failure{
        Failure::Kind::fault, std::string(kSharedOverrunCode),
        fmt::format("block ({}, {}, {}) has {} of dynamic shared memory", block_->index.x,
                    block_->index.y, block_->index.z, byte_count(static_cast<std::int64_t>(given))),
        static_cast<std::int64_t>(behind)};
  }
  return std::nullopt;
}

// On a GPU the copy would write into the shared memory of the next block.
std::optional<Failure> Engine::copy_in_flight() const {
  if (block_->copies.empty()) return std::nullopt;
  return Failure{
      Failure::Kind::fault, "bulk-copy-in-flight",
      fmt::format("block ({}, {}, {}) ended before {} of its bulk copies had arrived",
                  block_->index.x, block_->index.y, block_->index.z, block_->copies.size())};
}

void Engine::make_current(std::unique_ptr<Block> block) {
  block_ = std::move(block);
  self_->block_idx = block_->index;
  self_->dynamic_shared = block_->dynamic_shared;
  fault_.shared_begin = static_cast<const std::byte*>(block_->dynamic_shared);
  const std::size_t shared_bytes = run_->grid->shared_bytes;
  fault_.shared_end = fault_.shared_begin + shared_bytes;
  if (check_ != nullptr) check_->enter(number_of(*block_), {fault_.shared_begin, shared_bytes});
  if (!block_->statics.empty())
    std::memcpy(statics().data(), block_->statics.data(), block_->statics.size());
}

// Empty until a kernel of the shared object has accessed its static shared memory.
std::span<std::byte> Engine::statics() {
  if (run_->statics.empty()) run_->statics = thread_statics_of(run_->grid->kernel.function);
  return run_->statics;
}

void Engine::set_aside() {
  const auto now = statics();
  block_->statics.assign(now.begin(), now.end());
  run_->aside.push_back(std::move(block_));
}

void Engine::retire() {
  spare_.push_back(std::move(block_));
}

// Starts a stint of the block in which some warps starve, or none.
void Engine::begin_stint(Block& block, bool starve) {
  const unsigned rounds = run_->preemption.starved_rounds;
  if (rounds == 0) return;
  block.starve(starve ? draw_starved_warps(block.warps(), *rng_) : 0, rounds);
}

// Whether to preempt a block whose threads wait in warp operations or have left the barrier. False
// if no other block can run, because preemption would then change nothing.
bool Engine::preempts_waiting(const Block& block) {
  const std::uint64_t one_in = run_->preemption.one_in_waiting;
  if (one_in == 0 || !other_blocks_may_run()) return false;
  return run_->aside.size() < kMostPreemptedWaiting && rng_->below(one_in) == 0 &&
         block.all_started();
}

bool Engine::has_dependents() const {
  return run_ + 1 != running_.data() + count_;
}

bool Engine::other_blocks_may_run() const {
  return !run_->blocks.done() || !run_->aside.empty() || first_ + 1 < count_;
}

// Mean number of rounds with a yield before another block's turn. Small for a triggered block,
// because a grid and its dependents overlap only for a short time.
std::uint64_t Engine::one_in_yielding(const Block& block) const {
  const std::uint64_t drawn = run_->preemption.one_in_yielding;
  return block.triggered && has_dependents() ? std::min(drawn, kMostOverlappingRounds) : drawn;
}

Engine::Turn Engine::take_turn() {
  Block& block = *block_;
  for (;;) {
    if (block.stint_over()) begin_stint(block, !block.starving());
    block.begin_round(*rng_);
    if (const int first = block.next(); first >= 0) resume(first);
    if (refused_.has_value()) return Turn::refused;
    if (block.live() == 0) return Turn::done;
    if (block.waiting_to_run() == 0) {
      if (!block.release_barrier()) return Turn::stuck;
      if (check_ != nullptr) {
        check_->barrier();
        if (block.live() < block.threads()) check_->passed_without(block.threads() - block.live());
      }
      begin_stint(block, true);
      if (preempts_waiting(block)) return Turn::preempted;
      continue;
    }
    if (!block.yielded()) {
      // If no thread ran, all threads that can run starve.
      if (!block.progressed())
        begin_stint(block, false);
      else if (preempts_waiting(block))
        return Turn::preempted;
      continue;
    }
    if (block.all_stalled()) return Turn::stuck;
    if (block.progressed()) {
      block.idle_rounds = 0;
    } else if (++block.idle_rounds >= (block.starving() ? kIdleStarvedRounds : kIdleRounds)) {
      block.idle_rounds = 0;
      if (!block.starving()) return Turn::idle;
      begin_stint(block, false);
    }
    if (!rng_->natural() && rng_->below(one_in_yielding(block)) == 0 && block.all_started())
      return Turn::preempted;
  }
}

}  // namespace redzone::device
