// Runs a grid on the CPU: blocks one after the other, the threads of a block as fibers.
//
// A block runs until it ends. If its threads only yield (they spin on a value that another block
// must write), it stays resident and another block gets its turn. With a seed, blocks are also
// preempted at random, and warps and blocks starve (preemption.h). Threads that never wait share a
// fiber.
//
// Dependent grids overlap: a grid starts once every block of the previous grid has triggered its
// dependents or ended. From then on a seed determines which of the grids has the next turn.
//
// Single-threaded. After a Failure, call reset() before the next run().
#pragma once

#include <redzone/target.h>

#include <array>
#include <cstdint>
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
#include "device/host/kernel_check.h"
#include "device/host/kernel_statics.h"
#include "device/host/order.h"
#include "device/host/preemption.h"

namespace redzone::device {

// A launch within the limits.
struct Grid {
  KernelRef kernel;
  const char* name = "";   // name of the kernel, for people; must outlive the run
  std::int32_t call = -1;  // the call that launched it
  host::Index3 grid, block;
  std::size_t shared_bytes = 0;
  void* const* args = nullptr;
};

class Engine final : private host::Runtime {
 public:
  static constexpr std::size_t kMostGrids = 4;  // per run

  // Dynamic shared memory comes from `memory`; `fault` receives the running thread. Both must
  // outlive the engine.
  Engine(GuardMemory& memory, FaultContext& fault);
  ~Engine();

  // Runs all grids (1 .. kMostGrids) to their ends. Each grid except the first depends on the
  // previous one; in the natural order they run one after the other. A deadlock is a fault; bad
  // accesses do not return (see fault_handler.h). `check` is notified of what the threads of a
  // single grid do, and its launch must have begun; null: no check.
  std::optional<Failure> run(std::span<const Grid* const> grids, Rng& rng,
                             KernelCheck* check = nullptr);
  // Discards what a failed run left behind.
  void reset();
  // Sets what uninitialized shared memory contains in later runs.
  void set_poison(std::uint32_t poison);

  const FiberPool& fibers() const { return fibers_; }

 private:
  enum class Turn {
    done,
    idle,  // the block waits for other blocks
    preempted,
    stuck,
    refused,
  };

  // A grid of a run.
  struct Running {
    const Grid* grid = nullptr;
    host::Thread* self = nullptr;   // thread state of the kernel's shared object; null: not begun
    unsigned threads = 0;           // of a block
    std::uint64_t untriggered = 0;  // blocks for which dependents still wait to start
    StartOrder blocks;              // blocks that have not started
    std::deque<std::unique_ptr<Block>> aside;
    std::vector<host::Index3> thread_index;  // per thread of a block of shape `indexed`
    host::Index3 indexed = {};
    std::span<std::byte> statics;  // statics of the kernel's shared object, once known
    const KernelStatics::Variables* variables = nullptr;  // shared variables of the kernel
    Preemption preemption;
    AsideOrder aside_order;
    bool newest_aside_waits = false;

    bool begun() const { return self != nullptr; }
    bool over() const { return begun() && blocks.done() && aside.empty(); }
  };

  // host::Runtime, called on fibers.
  host::BarrierResult sync_block(int predicate) override;
  host::WarpResult sync_warp(std::uint32_t mask, std::uint64_t value, unsigned source) override;
  std::uint32_t live_lanes() override { return block_->live_lanes(thread_); }
  void yield() override;
  void stall(bool again) override;
  long long clock() override;
  void issue(const host::BulkCopy& copy) override;
  void await(const void* barrier) override;
  void wait_for_producer() override;
  void trigger_dependents() override;
  [[noreturn]] void refuse(const char* code, const char* detail) override;

  static void fiber_main(void* engine);
  void carry_threads();
  void renew_quantum();
  void become(int thread);
  void resume(int thread);
  void leave();
  void switch_to(Fiber* to);
  void perform(const host::BulkCopy& copy);

  void begin(Running& running);
  void enter(Running& running);
  Running& choose_grid();
  void leave_grids();
  // Whether a block of grid `grid` (the first that is not over, or a later one) may have a turn
  // now.
  bool may_run(std::size_t grid) const;
  bool has_dependents() const;
  bool other_blocks_may_run() const;

  bool can_start(const Running& running) const;
  std::unique_ptr<Block> next_aside();
  std::optional<Failure> start_block();
  void make_current(std::unique_ptr<Block> block);
  std::span<std::byte> statics();
  void set_aside();
  void retire();
  Turn take_turn();
  void begin_stint(Block& block, bool starve);
  bool preempts_waiting(const Block& block);
  std::uint64_t one_in_yielding(const Block& block) const;
  std::uint64_t shared_poison(const Block& block) const;
  // The pattern of the bytes between the end of dynamic shared memory and the guard page.
  std::uint64_t shared_canary(const Block& block) const;
  void poison_variables(const Block& block);
  std::optional<Failure> overrun_of_shared() const;
  std::optional<Failure> copy_in_flight() const;
  std::optional<Failure> give_shared(Block& block);
  std::uint32_t number_of(const Block& block) const;
  void check_releases();
  std::optional<Failure> run_grids();

  GuardMemory& memory_;
  FaultContext& fault_;
  FiberPool fibers_;
  Fiber main_;               // the caller of run()
  Fiber* current_ = &main_;  // the running fiber
  Rng* rng_ = nullptr;
  KernelStatics kernel_statics_;
  std::uint32_t poison_ = 0;       // poison of the trial
  std::uint64_t lane_poison_ = 0;  // values of lanes that took no part; derived from poison_
  std::array<Running, kMostGrids> running_;  // grids of a run, the first `count_` in use
  std::size_t count_ = 0;
  std::size_t first_ = 0;         // index of the first grid that is not over
  Running* run_ = nullptr;        // grid of block_
  host::Thread* self_ = nullptr;  // thread state of run_
  bool first_has_turn_ = false;   // the first grid gets the next turn, because a dependent could
                                  // only wait
  std::unique_ptr<Block> block_;
  int thread_ = -1;  // the running thread, in block_
  std::vector<std::unique_ptr<Block>> spare_;
  long long clock_ = 0;
  KernelCheck* check_ = nullptr;          // check of the running grid
  std::vector<Block::Release> releases_;  // of warp operations, for check_
  std::optional<Failure> refused_;        // failure with which a thread ended the running kernel
};

}  // namespace redzone::device
