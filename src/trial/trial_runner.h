// Runs one trial on one device.
//
// Independent of the kind of device. This is the hot path of a campaign: state is kept between
// trials so that a steady-state trial maps no memory and allocates little.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "core/device_traits.h"
#include "core/trial.h"
#include "device/device.h"
#include "target/registry.h"
#include "trial/counted_outputs.h"
#include "trial/own_blocks.h"
#include "trial/reference_check.h"
#include "trial/segment.h"

namespace redzone::trial {

struct TrialLimits {
  // Memory for calls whose buffers are alive at the same time; a larger plan runs in segments. A
  // single call may exceed the limit.
  std::size_t bytes = std::size_t{1} << 30;
  std::size_t calls = 256;  // in one segment
  // Host memory for the inputs and outputs of one call's reference; a call that needs more is
  // compared by a sample or not at all.
  std::size_t reference_bytes = std::size_t{1} << 30;
  // false: only fills inputs and runs calls, as the baseline of the benchmark. Nothing is poisoned,
  // checked, compared or named, no progress markers are enqueued, and observations only contain how
  // a trial ended.
  bool checks = true;
};

// Limits suitable for the memory of the device and of the host.
TrialLimits limits_for(const device::Info& info);

class TrialRunner {
 public:
  // Device, registry and `box` (may be null) must outlive the runner. Single-threaded.
  TrialRunner(device::Device& device, const Registry& registry, DeviceKind kind,
              device::BlackBox* box, TrialLimits limits);

  // Sets the tool that this process runs under; `watch` must outlive the runner. The runner then
  // accepts only trials for this tool.
  void set_sanitizer(SanitizerWatch& watch) { state_.sanitizer = &watch; }

  // Returns the target's behavior as an observation, if this process survives. Must not be called
  // if device_lost().
  //
  // In a dry run buffers are neither filled nor checked, and the observation contains only launches
  // and requests.
  //
  // Under initcheck nothing is poisoned, checked or compared: a fill is a write, and a check of
  // memory that was never written is a read. Memory is allocated anew from the system, because
  // memory written by another trial counts as initialized.
  Observation run(const Plan& plan, const TrialSpec& trial);
  bool device_lost() const { return state_.session.lost(); }
  // Memory that the targets' frameworks allocate.
  OwnBlocks& own_blocks() { return own_blocks_; }

 private:
  void begin_sanitizer(const Mode& mode);
  // Creates `target` as early as possible.
  void run_steps(const Plan& plan, const TrialSpec& trial, std::unique_ptr<Target>& target);
  void run_segments(const TargetEntry& entry, Target& target, bool reference);
  void forget_names();
  Comparison comparison_of(const TargetSpec& spec, const CallUnit& unit) const;
  void compare(const TargetEntry& entry, const Target& target, const Segment& segment);
  // Waits for all enqueued work, then destroys the target and collects the results.
  void finish(std::unique_ptr<Target> target);
  Segment& segment(std::size_t index);
  // Maximum number of calls whose tensors are allocated at the same time.
  std::size_t calls_of_segment(const TargetSpec& spec) const {
    if (state_.mode.addresses == Addresses::reused) return 1;
    return spec.remembers_addresses ? std::numeric_limits<std::size_t>::max() : limits_.calls;
  }

  const Registry& registry_;
  const DeviceTraits& traits_;
  TrialLimits limits_;
  TrialState state_;
  OwnBlocks own_blocks_{state_};
  Schedule schedule_;
  CountedOutputs counted_;
  ReferenceCheck reference_;
  std::span<const std::uint32_t> left_out_;  // of the current trial
  bool samples_ = true;
  std::vector<const CallUnit*> compared_;
  std::vector<SampledUnit> sampled_;
  // Segments live as long as their trial, because a target may keep references to the shapes it
  // received.
  std::vector<std::unique_ptr<Segment>> segments_;
  std::size_t segment_count_ = 0;
};

}  // namespace redzone::trial
