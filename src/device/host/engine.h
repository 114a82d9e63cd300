// Runs a grid on the CPU: blocks one after the other, the threads of a block as fibers.
//
// A block runs until it ends. If its threads only yield (they spin on a value that another block
// must write), it stays resident and another block gets its turn. A seed also preempts blocks now
// and then, and lets warps and blocks starve (preemption.h). Threads that never wait share a fiber.
//
// Single-threaded. After a Failure, reset() before the next run().
#pragma once

#include <redzone/target.h>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/host/block.h"
#include "device/host/fault_handler.h"
#include "device/host/fiber_pool.h"
#include "device/host/guard_memory.h"
#include "device/host/order.h"
#include "device/host/preemption.h"
#include "device/host/race_check.h"

namespace redzone::device {

// A launch within the limits.
struct Grid {
  KernelRef kernel;
  host::Index3 grid, block;
  std::size_t shared_bytes = 0;
  void* const* args = nullptr;
};

class Engine final : private host::Runtime {
 public:
  // Dynamic shared memory comes from `memory`; `fault` receives the running thread. Both must
  // outlive the engine.
  Engine(GuardMemory& memory, FaultContext& fault);
  ~Engine();

  // A deadlock is a fault; bad accesses do not return (see fault_handler.h). `check` is told what
  // happens to the threads of this run, and has begun its launch; null: nobody is.
  std::optional<Failure> run(const Grid& grid, Rng& rng, RaceCheck* check = nullptr);
  // Discards what a failed run left behind.
  void reset();

  const FiberPool& fibers() const { return fibers_; }

 private:
  enum class Turn {
    done,
    idle,  // the block waits for other blocks
    preempted,
    stuck,
    refused,
  };

  // host::Runtime, called on fibers.
  host::BarrierResult sync_block(int predicate) override;
  host::WarpResult sync_warp(std::uint32_t mask, std::uint64_t value, unsigned source) override;
  std::uint32_t live_lanes() override { return block_->live_lanes(thread_); }
  void yield() override;
  long long clock() override;
  void issue(const host::BulkCopy& copy) override;
  void await(const void* barrier) override;
  [[noreturn]] void refuse(const char* code, const char* detail) override;

  static void fiber_main(void* engine);
  void carry_threads();
  void renew_patience();
  void become(int thread);
  void resume(int thread);
  void leave();
  void switch_to(Fiber* to);
  void perform(const host::BulkCopy& copy);

  bool can_start() const;
  std::unique_ptr<Block> next_aside();
  std::optional<Failure> start_block();
  void make_current(std::unique_ptr<Block> block);
  std::span<std::byte> statics();
  void set_aside();
  void retire();
  Turn take_turn();
  void begin_stint(Block& block, bool starve);
  bool preempts_waiting(const Block& block);
  std::uint64_t shared_poison(const Block& block) const;
  std::optional<Failure> overrun_of_shared() const;
  std::optional<Failure> copy_in_flight() const;
  std::optional<Failure> give_shared(Block& block);
  std::uint32_t number_of(const Block& block) const;
  void check_releases();
  std::optional<Failure> run_blocks();

  GuardMemory& memory_;
  FaultContext& fault_;
  FiberPool fibers_;
  Fiber main_;               // the caller of run()
  Fiber* current_ = &main_;  // the running fiber
  const Grid* grid_ = nullptr;
  host::Thread* self_ = nullptr;  // of the shared object of the kernel
  Rng* rng_ = nullptr;
  std::uint64_t poison_ = 0;  // of shared memory and of lanes that took no part
  unsigned threads_ = 0;      // of a block
  StartOrder blocks_;         // blocks that have not started
  std::unique_ptr<Block> block_;
  int thread_ = -1;  // the running thread, in block_
  std::deque<std::unique_ptr<Block>> aside_;
  std::vector<std::unique_ptr<Block>> spare_;
  std::vector<host::Index3> thread_index_;  // of each thread of a block of shape indexed_
  host::Index3 indexed_ = {};
  std::span<std::byte> statics_;  // of the kernel's shared object, once known
  long long clock_ = 0;
  Preemption preemption_;  // of the running grid
  AsideOrder aside_order_;
  bool newest_aside_waits_ = false;
  RaceCheck* check_ = nullptr;             // of the running grid
  std::vector<Block::Release> releases_;  // of warp operations, for check_
  std::optional<Failure> refused_;  // failure with which a thread ended the running kernel
};

}  // namespace redzone::device
