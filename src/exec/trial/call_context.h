// The Context that a target sees during one run of one call.
#pragma once

#include <redzone/target.h>

#include <optional>

#include "exec/trial/trial_state.h"

namespace redzone::exec {

class CallContext final : public Context {
 public:
  // `run`: 0 .. runs - 1 on the same buffers. All arguments outlive the context.
  CallContext(TrialState& state, CallUnit& unit, std::int64_t run)
      : state_(state), unit_(unit), run_(run) {
    state_.scratch_fills.clear();
  }

  // Behind Target::run(): fills the scratch that no launch came after, and gives it back.
  void finish();

  const Dims& dims() const override { return unit_.item->call->dims; }
  const Config& config() const override { return unit_.item->call->config; }
  TensorArg tensor(std::string_view name) const override;
  DeviceKind device() const override { return state_.session.device().info().kind; }
  void* stream() const override;

  void* scratch(std::string_view name, std::size_t bytes, std::size_t align) override;
  void* workspace(std::string_view name, std::size_t bytes, std::size_t align) override;
  void* allocate(std::string_view name, std::size_t bytes, int stream) override;
  void free(void* p, int stream) override;
  void* host_memory(std::string_view name, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes, int stream) override;
  KernelRef variant(const VariantRequest& request) override;
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args) override;

  void unsupported(std::string reason) override;
  void fail(std::string code, std::string message) override;
  bool ended() const override { return state_.session.stopped(); }

 private:
  std::int32_t call() const { return unit_.item->index; }
  // Stream `index` of the call as the device counts; nothing, and the call ends, when it has none.
  std::optional<int> stream_of(int index);
  // Puts a reused scratch buffer where the allocator gives memory now.
  bool move_scratch(RawBuffer& scratch);
  // Ends the call when no memory can have this size and alignment.
  bool acceptable(std::string_view name, std::size_t bytes, std::size_t align);
  RawBuffer* reusable_scratch(std::string_view name, std::size_t bytes, std::size_t align);
  std::string unused_label(std::string_view name) const;
  bool zero_before_use(RawBuffer& buffer);
  // Before the next launch: all buffers of a call in one operation, as there are usually several.
  bool fill_before_launch(const device::BufferJob& job);
  bool fill_scratch() const;
  // Adds what overwrites the scratch of earlier calls to the fills.
  void add_spent() const;

  TrialState& state_;
  CallUnit& unit_;
  std::int64_t run_;
};

}  // namespace redzone::exec
