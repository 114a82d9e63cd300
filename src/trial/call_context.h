// The Context that a target sees during one run of one call.
#pragma once

#include <redzone/target.h>

#include <optional>

#include "trial/trial_state.h"

namespace redzone::trial {

class CallContext final : public Context {
 public:
  // `run`: 0 .. runs - 1 on the same buffers. All arguments outlive the context.
  CallContext(TrialState& state, CallUnit& unit, std::int64_t run)
      : state_(state), unit_(unit), run_(run) {
    state_.scratch_fills.clear();
  }
  // Ends a capture that the target left open.
  ~CallContext() override;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // Behind Target::run(): fills the scratch that no launch came after, waits for what the target
  // enqueued by itself where launches are waited for, and gives the scratch back.
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
  void* allocate(std::string_view name, std::size_t bytes, int stream) override;
  void free(void* p, int stream) override;
  void* pinned_memory(std::string_view name, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes, int stream) override;
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

 private:
  std::int32_t call() const { return unit_.item->index; }
  // In the order of the call's own stream.
  void give_back_scratch();
  // Puts a reused scratch buffer where the allocator gives memory now.
  bool move_scratch(RawBuffer& scratch);
  void note_scratch(ScratchObservation request);
  // Ends the call when no memory can have this size and alignment.
  bool acceptable(std::string_view name, std::size_t bytes, std::size_t align);
  RawBuffer* reusable_scratch(std::string_view name, std::size_t bytes, std::size_t align);
  std::string unused_label(std::string_view name) const;
  void* stream_handle(int device_stream) const;
  // The device's stream behind one of the call; ends the call when there is none.
  std::optional<int> device_stream(int index) const;
  // No buffer of an earlier run may be filled anew when nothing orders that behind its use.
  bool own_scratch_each_run() const;
  // Before the next launch: all buffers of a call in one operation, as there are usually several.
  bool fill_before_launch(const device::BufferJob& job, int stream);
  bool fill_scratch() const;
  bool fill_in_order() const;
  bool fill_for_all() const;
  // Adds what overwrites the scratch of earlier calls to the fills.
  void add_spent() const;

  TrialState& state_;
  CallUnit& unit_;
  std::int64_t run_;
  bool capturing_ = false;  // by the target
};

}  // namespace redzone::trial
