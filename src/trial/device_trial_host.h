// Runs the trials of a worker process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exec/trial_host.h"
#include "trial/trial_runner.h"

namespace redzone::trial {

class DeviceTrialHost final : public exec::TrialHost {
 public:
  // `registry` and `box` (may be null) must outlive the host. `nvrtc`: version of the run-time
  // compiler, "" if there is none. `sanitizer`: the tool that this process runs under.
  DeviceTrialHost(std::unique_ptr<device::Device> device, const Registry& registry,
                  device::BlackBox* box, std::string nvrtc,
                  std::optional<SanitizerSource> sanitizer = {});

  exec::Hello hello() override;
  Observation run(const Plan& plan, const TrialSpec& trial) override;
  OwnBlocks& own_blocks() { return runner_.own_blocks(); }
  bool device_lost() const override {
    return runner_.device_lost() || (sanitizer_ && sanitizer_->spent());
  }

 private:
  std::unique_ptr<device::Device> device_;
  std::string nvrtc_;
  std::unique_ptr<SanitizerWatch> sanitizer_;  // null: no tool
  TrialRunner runner_;
};

}  // namespace redzone::trial
