// The Context that a target sees during one run of one call.
#pragma once

#include <redzone/target.h>

#include <optional>

#include "trial/trial_state.h"

namespace redzone::trial {

class CallContext final : public Context {
 public:
  // `run`: index of the repeat, 0 .. runs - 1; all repeats use the same buffers. All arguments must
  // outlive the context.
  CallContext(TrialState& state, CallUnit& unit, std::int64_t run)
      : state_(state), unit_(unit), run_(run) {
    state_.scratch_fills.clear();
  }
  // Ends a capture that the target left open.
  ~CallContext() override;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // Call after Target::run(): fills scratch that was not followed by a launch, waits for the
  // target's own work in blocking mode, and releases the scratch.
  void finish();

  const Dims& dims() const override { return unit_.item->call->dims; }
  const Config& config() const override { return unit_.item->call->config; }
  TensorArg tensor(std::string_view name) const override;
  DeviceKind device() const override { return state_.session.device().info().kind; }
  int multiprocessors() const override { return state_.session.device().info().multiprocessors; }
  void* stream() const override { return stream_handle(unit_.item->stream); }
  void* stream(int index) const override;
  void wait(int stream, int on) override;

  void* scratch(std::string_view name, std::size_t bytes, std::size_t align) override;
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                const ScratchNeed& need) override;
  void* workspace(std::string_view name, std::size_t bytes, std::size_t align) override;
  void* growing_workspace(std::string_view name, std::size_t bytes) override;
  void* allocate(std::string_view name, std::size_t bytes, int stream) override;
  void free(void* p, int stream) override;
  void* pinned_memory(std::string_view name, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes, int stream) override;
  void memset(void* to, std::uint8_t value, std::size_t bytes, int stream) override;
  EncodeStatus encode_tiled(std::string_view name, const tma::Descriptor& descriptor,
                            TensorMap& map) override;
  KernelRef variant(const VariantRequest& request) override;
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args) override;

  void begin_capture() override;
  GraphRef end_capture() override;
  void replay(const GraphRef& graph, int stream) override;

  void unsupported(std::string reason) override;
  void fail(std::string code, std::string message) override;
  bool ended() const override { return state_.session.stopped(); }

  // For targets that run in this process (src/worker_library).
  std::int32_t index() const { return call(); }
  std::int64_t repeat() const { return run_; }
  std::uint64_t seed() const { return unit_.item->call->seed; }
  // The bytes that belong to the tensor; SpecError for a name that the spec does not declare.
  std::span<std::byte> storage(std::string_view name) const;
  // Fault reports use `name` for this memory of the process until the segment ends.
  void watch_memory(const std::string& name, const void* at, std::size_t bytes);

 private:
  std::int32_t call() const { return unit_.item->index; }
  // Releases the scratch in the order of the call's own stream.
  void give_back_scratch();
  // Moves a reused scratch buffer to memory from a new allocation.
  bool move_scratch(RawBuffer& scratch);
  void note_scratch(ScratchObservation request);
  void release(RawBuffer& allocation, int stream);
  // Ends the call if no memory can have this size and alignment.
  bool acceptable(std::string_view name, std::size_t bytes, std::size_t align);
  RawBuffer* reusable_scratch(std::string_view name, std::size_t bytes, std::size_t align);
  std::string unused_label(std::string_view name) const;
  void* stream_handle(int device_stream) const;
  // The device's stream for stream `index` of the call; ends the call if there is no such stream.
  std::optional<int> device_stream(int index) const;
  // True if buffers must not be reused by later runs, because a refill might not be ordered after
  // their use in an earlier run.
  bool own_scratch_each_run() const;
  // Defers the fill to the next launch: one operation fills all buffers of a call, usually several.
  bool fill_before_launch(const device::BufferJob& job, int stream);
  bool fill_allocation(const RawBuffer& a, int stream);
  bool fill_scratch() const;
  bool fill_in_order() const;
  bool fill_for_all() const;
  // Adds jobs that overwrite the scratch of earlier calls to the fills.
  void add_spent() const;

  TrialState& state_;
  CallUnit& unit_;
  std::int64_t run_;
  bool capturing_ = false;  // the target has begun a capture
};

}  // namespace redzone::trial
