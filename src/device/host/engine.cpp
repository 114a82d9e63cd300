#include "device/host/engine.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/error.h"
#include "device/host/thread_statics.h"

namespace redzone::device {

namespace {

// Rounds with only yields before another block gets its turn ...
constexpr unsigned kIdleRounds = 2;
// ... or, while warps starve, before these run: they may be what the others wait for, but a thread
// that yields may also be getting on.
constexpr unsigned kIdleStarvedRounds = 16;
// Blocks that are set aside in warp operations or at the barrier at a time. Each occupies a stack
// for each of its threads, and fills the caches with them.
constexpr std::size_t kMostPreemptedWaiting = 4;

constexpr std::size_t rounded_shared(std::size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

}  // namespace

Engine::Engine(GuardMemory& memory, FaultContext& fault)
    : memory_(memory), fault_(fault), fibers_(&Engine::fiber_main, this) {}

Engine::~Engine() = default;

void Engine::reset() {
  if (self_ != nullptr) self_->runtime = nullptr;
  fault_.thread = nullptr;
  if (block_ != nullptr) retire();
  for (auto& block : aside_) spare_.push_back(std::move(block));
  aside_.clear();
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
    grid_->kernel.thunk(grid_->kernel.function, grid_->args);
    block_->finish(thread_, poison_);
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
    // Taken again from the pool, for a fresh thread.
  }
}

void Engine::become(int thread) {
  thread_ = thread;
  if (check_ != nullptr) check_->run(thread);
  self_->thread_idx = thread_index_[thread];
  self_->lane = static_cast<unsigned>(thread) % 32;
  // In the natural order only a spinning thread is preempted. With a seed any thread may be: the
  // count continues over all threads.
  if (rng_->natural()) self_->patience = kPatience;
}

void Engine::resume(int thread) {
  become(thread);
  switch_to(block_->fresh(thread) ? fibers_.take() : block_->fiber[thread]);
}

void Engine::switch_to(Fiber* to) {
  Fiber* const from = std::exchange(current_, to);
  fibers_.switch_to(from, to);
}

// Suspends the running thread, which waits or yields, and switches to the next of the round.
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
  const bool goes_on = block_->arrive_in_warp(thread, mask, value, source, poison_);
  if (check_ != nullptr) check_releases();
  if (!goes_on) leave();
  return block_->warp_result(thread);
}

void Engine::renew_patience() {
  const auto mean = static_cast<unsigned>(preemption_.patience);
  self_->patience = rng_->natural() ? kPatience : static_cast<int>(1 + rng_->below(2 * mean - 1));
}

void Engine::yield() {
  renew_patience();
  block_->yield(thread_);
  leave();
}

long long Engine::clock() {
  clock_ += 32;
  if (--self_->patience <= 0) yield();
  return clock_;
}

// With a seed half of the copies arrive at once, so that overwriting data in use is detected, too.
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

void Engine::refuse(const char* code, const char* detail) {
  refused_ = Failure{Failure::Kind::fault, code, detail};
  switch_to(&main_);
  __builtin_unreachable();  // reset() drops this fiber
}

// ---- Blocks ------------------------------------------------------------------------------------

std::optional<Failure> Engine::run(const Grid& grid, Rng& rng, RaceCheck* check) {
  RZ_CHECK(current_ == &main_ && block_ == nullptr && aside_.empty());
  grid_ = &grid;
  check_ = check;
  releases_.clear();
  rng_ = &rng;
  poison_ = mix(rng.seed() ^ 0x5a4ed0ull);
  threads_ = grid.block.x * grid.block.y * grid.block.z;
  if (std::memcmp(&indexed_, &grid.block, sizeof indexed_) != 0) {
    indexed_ = grid.block;
    thread_index_.resize(threads_);
    for (unsigned t = 0; t < threads_; ++t)
      thread_index_[t] = {t % grid.block.x, t / grid.block.x % grid.block.y,
                          t / grid.block.x / grid.block.y};
  }
  blocks_ = StartOrder(std::uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z,
                       fibers_.available() / threads_, rng);
  statics_ = {};
  clock_ = 0;
  preemption_ = Preemption::drawn(rng);
  aside_order_ = AsideOrder(rng);

  self_ = static_cast<host::Thread*>(grid.kernel.host_thread);
  self_->block_dim = grid.block;
  self_->grid_dim = grid.grid;
  self_->runtime = this;
  renew_patience();
  fault_.thread = self_;
  std::optional<Failure> failure = run_blocks();
  if (failure.has_value()) return failure;  // reset() clears the rest
  self_->runtime = nullptr;
  fault_.thread = nullptr;
  return std::nullopt;
}

std::optional<Failure> Engine::run_blocks() {
  while (!blocks_.done() || !aside_.empty()) {
    // A preempted block waits for others, so blocks that have not started come first, as long as
    // there are stacks for them.
    if (!blocks_.done() && (aside_.empty() || can_start())) {
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
        retire();
        break;
      case Turn::idle:
      case Turn::preempted:
        set_aside();
        newest_aside_waits_ = turn == Turn::idle;
        break;
      case Turn::stuck:
        return Failure{Failure::Kind::fault, "deadlock", block_->stuck_at()};
      case Turn::refused:
        return std::exchange(refused_, std::nullopt);
    }
  }
  return std::nullopt;
}

bool Engine::can_start() const {
  return fibers_.available() >= threads_;
}

std::unique_ptr<Block> Engine::next_aside() {
  const std::size_t i = aside_order_.next(aside_.size(), newest_aside_waits_, *rng_);
  auto block = std::move(aside_[i]);
  aside_.erase(aside_.begin() + static_cast<std::ptrdiff_t>(i));
  return block;
}

std::optional<Failure> Engine::start_block() {
  const std::uint64_t i = blocks_.next(*rng_);
  const host::Index3& grid = grid_->grid;
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  block->start({static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                static_cast<unsigned>(i / grid.x / grid.y)},
               threads_);
  block->note_releases(check_ == nullptr ? nullptr : &releases_);
  block->statics.clear();
  if (auto failure = give_shared(*block)) return failure;
  if (check_ != nullptr) check_->start_block(number_of(*block));
  make_current(std::move(block));
  return std::nullopt;
}

std::uint32_t Engine::number_of(const Block& block) const {
  const host::Index3 &at = block.index, &grid = grid_->grid;
  return at.x + grid.x * (at.y + grid.y * at.z);
}

void Engine::check_releases() {
  for (const Block::Release& release : releases_) check_->sync_lanes(release.warp, release.lanes);
  releases_.clear();
}

// The block's dynamic shared memory ends at a guard page, rounded up to the 16 bytes that kernels
// may assume. Its poison differs from block to block and from seed to seed.
std::optional<Failure> Engine::give_shared(Block& block) {
  const std::size_t bytes = rounded_shared(grid_->shared_bytes);
  if (bytes == 0) {
    block.dynamic_shared = memory_.hole();
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
  return std::nullopt;
}

std::uint64_t Engine::shared_poison(const Block& block) const {
  const auto& at = block.index;
  return mix(poison_ ^ at.x ^ std::uint64_t{at.y} << 31 ^ std::uint64_t{at.z} << 47);
}

// The bytes between the end of dynamic shared memory and the guard page, at most 15, must still
// contain the poison when the block ends.
std::optional<Failure> Engine::overrun_of_shared() const {
  const std::size_t given = grid_->shared_bytes, bytes = rounded_shared(given);
  const auto* begin = static_cast<const std::byte*>(block_->dynamic_shared);
  const std::uint64_t word = shared_poison(*block_);
  for (std::size_t i = given; i < bytes; ++i) {
    if (begin[i] == static_cast<std::byte>(word >> (i % 8 * 8))) continue;
    return Failure{
        Failure::Kind::fault, "shared-overrun",
        fmt::format("block ({}, {}, {}) wrote {} bytes after its {} bytes of dynamic "
                    "shared memory",
                    block_->index.x, block_->index.y, block_->index.z, i - given + 1, given)};
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
  fault_.shared_end = fault_.shared_begin + grid_->shared_bytes;
  if (check_ != nullptr)
    check_->enter(number_of(*block_), {fault_.shared_begin, grid_->shared_bytes});
  if (!block_->statics.empty())
    std::memcpy(statics().data(), block_->statics.data(), block_->statics.size());
}

// Empty until a kernel of the shared object has accessed its static shared memory.
std::span<std::byte> Engine::statics() {
  if (statics_.empty()) statics_ = thread_statics_of(grid_->kernel.function);
  return statics_;
}

void Engine::set_aside() {
  const auto now = statics();
  block_->statics.assign(now.begin(), now.end());
  aside_.push_back(std::move(block_));
}

void Engine::retire() {
  spare_.push_back(std::move(block_));
}

// A stint of the block in which warps starve, or none does.
void Engine::begin_stint(Block& block, bool starve) {
  const unsigned rounds = preemption_.starved_rounds;
  if (rounds == 0) return;
  block.starve(starve ? draw_starved_warps(block.warps(), *rng_) : 0, rounds);
}

// Of a block whose threads wait in warp operations or have left the barrier. Without another block
// there would be no difference.
bool Engine::preempts_waiting(const Block& block) {
  if (preemption_.one_in_waiting == 0 || (blocks_.done() && aside_.empty())) return false;
  return aside_.size() < kMostPreemptedWaiting && rng_->below(preemption_.one_in_waiting) == 0 &&
         block.all_started();
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
      if (check_ != nullptr) check_->barrier();
      begin_stint(block, true);
      if (preempts_waiting(block)) return Turn::preempted;
      continue;
    }
    if (!block.yielded()) {
      // If nothing ran, all threads that can run starve.
      if (!block.progressed())
        begin_stint(block, false);
      else if (preempts_waiting(block))
        return Turn::preempted;
      continue;
    }
    if (block.progressed()) {
      block.idle_rounds = 0;
    } else if (++block.idle_rounds >= (block.starving() ? kIdleStarvedRounds : kIdleRounds)) {
      block.idle_rounds = 0;
      if (!block.starving()) return Turn::idle;
      begin_stint(block, false);
    }
    if (!rng_->natural() && rng_->below(preemption_.one_in_yielding) == 0 && block.all_started())
      return Turn::preempted;
  }
}

}  // namespace redzone::device
