// The host device: CUDA's execution model on the CPU.
//
// Enqueued work waits in its stream. A seeded decision at each enqueue determines how much of it
// runs now; the rest runs at synchronize(). An asynchronous plan can thus see both extremes of
// delay, and any order of its streams; the same seed always gives the same order. Seed 0 is the
// natural order: nothing runs before synchronize(), then the oldest operation first.
//
// With a seed, a dependent launch overlaps the launch directly before it in its stream if both are
// queued, but never in a graph.
#pragma once

#include <redzone/target.h>

#include <deque>
#include <optional>
#include <span>

#include "device/caching_memory.h"
#include "device/device.h"
#include "device/host/engine.h"
#include "device/host/event_order.h"
#include "device/host/fault_handler.h"
#include "device/host/graph.h"
#include "device/host/guard_memory.h"
#include "device/host/kernel_checks.h"
#include "device/host/plain_memory.h"
#include "device/host/pool_memory.h"
#include "device/host/stream_queue.h"

namespace redzone::device {

class HostDevice final : public Device {
 public:
  HostDevice();

  const Info& info() const override { return info_; }
  Memory& memory(Allocator allocator) override;
  OrderedMemory& ordered_memory(Allocator allocator) override;
  Memory& pinned_memory() override { return guard_; }
  void set_black_box(BlackBox* box) override { fault_.box = box; }
  Status<void> begin_trial(const TrialSettings& settings) override;
  void watch(std::vector<NamedRange> buffers) override { fault_.watched = std::move(buffers); }
  void watch_more(std::span<const NamedRange> buffers) override {
    fault_.watched.insert(fault_.watched.end(), buffers.begin(), buffers.end());
  }
  void set_other_blocks(FindOtherBlock find) override { fault_.find_other = find; }
  bool check_kernels(SanitizerTool tool) override;
  CheckReport take_check_report() override;
  void set_call(std::int32_t call) override { call_ = call; }
  void* stream_handle(int stream) override;
  Status<void> fill(int stream, std::span<const BufferJob> jobs) override;
  Status<void> check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) override;
  Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args) override;
  Status<void> wait(int stream, int on) override;
  Status<void> begin_capture(int stream) override;
  Status<int> end_capture(int stream) override;
  Status<void> launch_graph(int stream, int graph) override;
  Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) override;
  Status<void> memset(int stream, void* to, std::uint8_t value, std::size_t bytes) override;
  Status<void> await(int stream, int signal) override;
  Status<void> give(int stream, int signal) override;
  void give_now(int signal) override { queue_.give(signal); }
  bool kept_signals() const override { return kept_signals_; }
  void attach_thread() override { note_stack_of_thread(); }
  Status<void> hold() override;
  Status<void> open() override;
  std::size_t hold_capacity() const override { return 65536; }
  Status<void> synchronize() override;
  Status<void> read(void* to, const void* from, std::size_t bytes) override;
  Status<KernelRef> variant(const VariantRequest& request) override;
  // The result follows from Redzone's rules; the map is for the copies of <redzone/bulk_copy.h>.
  Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) override;

 private:
  // How eagerly the queue runs at enqueues, drawn for each trial.
  enum class Pace : std::uint8_t { at_synchronize, at_once, mixed };

  Operation& push(int stream, Operation::Kind kind);
  Status<void> run_some();
  Status<void> run_one();
  std::optional<Failure> run(Operation& operation);
  std::size_t overlapping(std::span<const Operation> queued) const;
  // Runs launches of one stream; each except the first depends on the previous one.
  std::optional<Failure> run_launches(std::span<Operation> operations);
  // Runs one ready node of a graph. `operation.left` is 0 after the last node.
  std::optional<Failure> run_node(Operation& operation);
  void start(Operation& operation, int graph);
  void run_copy(const Operation& operation);
  void run_memset(const Operation& operation);
  void enqueue_wait(int stream, int on, std::uint64_t ticket);
  bool may_access(const void* at, std::size_t bytes) const;
  std::optional<Failure> refusal(const KernelRef& kernel, const LaunchShape& shape) const;

  Info info_;
  GuardMemory guard_;
  PlainMemory plain_;
  PlainMemory cached_segments_, pool_segments_;  // segments of caching_ and pool_
  CachingMemory caching_{cached_segments_};
  FaultContext fault_;
  Engine engine_;
  FaultHandler handler_;
  StreamQueue queue_;
  GraphCapture capture_;
  std::deque<HostGraph> graphs_;
  EventOrder events_{queue_};
  PoolMemory pool_{pool_segments_, events_, [this](int stream, const FreedAt& behind) {
                     enqueue_wait(stream, behind.stream, behind.ticket);
                   }};
  Rng rng_;
  Rng stream_rng_;  // separate, so that blocks of a one-stream plan do not depend on the policy
  Pace pace_ = Pace::at_synchronize;
  bool held_ = false;
  bool kept_signals_ = true;
  std::int32_t call_ = -1;
  std::unique_ptr<KernelChecks> checks_;  // null: no check
  std::optional<Failure> lost_;           // a fault ends the trial; begin_trial() clears it
};

}  // namespace redzone::device
