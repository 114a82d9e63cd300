// Runs one trial on one device.
//
// Device-agnostic, and the hot path of a campaign: what is kept between trials is kept so that a
// steady-state trial maps nothing and allocates little.
#pragma once

#include <memory>
#include <vector>

#include "core/device_traits.h"
#include "core/trial.h"
#include "device/device.h"
#include "target/registry.h"
#include "trial/reference_check.h"
#include "trial/segment.h"

namespace redzone::trial {

struct TrialLimits {
  // Memory of calls whose buffers are alive together; a plan that needs more runs in segments. A
  // single call may exceed it.
  std::size_t bytes = std::size_t{1} << 30;
  std::size_t calls = 256;  // in one segment
  // Of the host, for the inputs and outputs of one call's reference; a call that needs more is not
  // compared.
  std::size_t reference_bytes = std::size_t{1} << 30;
  // false: inputs are filled and calls run, and that is all: nothing is poisoned, checked, compared
  // or named, and observations say how a trial ended and no more. What the benchmark compares with.
  bool checks = true;
};

// Limits that suit the memory of the device and of the host.
TrialLimits limits_for(const device::Info& info);

class TrialRunner {
 public:
  // Device, registry and `box` (may be null) outlive the runner. One thread.
  TrialRunner(device::Device& device, const Registry& registry, DeviceKind kind,
              device::BlackBox* box, TrialLimits limits);

  // The tool of compute-sanitizer that this process runs under; outlives the runner. Then it runs
  // the trials that ask for this tool, and no others.
  void set_sanitizer(SanitizerWatch& watch) { state_.sanitizer = &watch; }

  // What the target does is in the observation, as long as this process survives it. Not to be
  // called once device_lost().
  //
  // On the device that runs nothing, buffers are neither filled nor checked, and an observation has
  // none; what was launched and asked for is in it.
  //
  // Under initcheck nothing is poisoned, checked or compared: a fill is a write, and a check of
  // what was never written is a read. Memory is taken anew from the system, because what another
  // trial wrote counts as initialized.
  Observation run(const Plan& plan, const TrialSpec& trial);
  bool device_lost() const { return state_.session.lost(); }

 private:
  void begin_sanitizer(const Mode& mode);
  // Makes `target` once that can be done.
  void run_steps(const Plan& plan, const TrialSpec& trial, std::unique_ptr<Target>& target);
  void run_segments(const TargetEntry& entry, Target& target, bool reference);
  Comparison comparison_of(const CallUnit& unit) const;
  void compare(const TargetEntry& entry, const Target& target, const Segment& segment);
  // Waits for all that was enqueued, then ends the target and collects what was seen.
  void finish(std::unique_ptr<Target> target);
  Segment& segment(std::size_t index);

  const Registry& registry_;
  const DeviceTraits& traits_;
  TrialLimits limits_;
  TrialState state_;
  Schedule schedule_;
  ReferenceCheck reference_;
  std::span<const std::uint32_t> left_out_;  // of the trial that runs
  std::vector<const CallUnit*> compared_;
  // A target may hold on to the shapes that it was given, so segments live as long as their trial.
  std::vector<std::unique_ptr<Segment>> segments_;
  std::size_t segment_count_ = 0;
};

}  // namespace redzone::trial
