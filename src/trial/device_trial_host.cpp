#include "trial/device_trial_host.h"

#include <utility>

namespace redzone::trial {

DeviceTrialHost::DeviceTrialHost(std::unique_ptr<device::Device> device, const Registry& registry,
                                 device::BlackBox* box, std::string nvrtc,
                                 std::optional<SanitizerSource> sanitizer)
    : device_(std::move(device)),
      nvrtc_(std::move(nvrtc)),
      runner_(*device_, registry, device_->info().kind, box, limits_for(device_->info())) {
  if (!sanitizer) return;
  if (is_check(sanitizer->tool)) {
    RZ_CHECK(device_->check_kernels(sanitizer->tool));
    sanitizer_ = std::make_unique<SanitizerWatch>(sanitizer->tool, *device_);
  } else {
    sanitizer_ = std::make_unique<SanitizerWatch>(*sanitizer);
  }
  runner_.set_sanitizer(*sanitizer_);
}

exec::Hello DeviceTrialHost::hello() {
  const device::Info& info = device_->info();
  return {info.name, info.driver, info.compute_capability, nvrtc_,
          static_cast<std::int64_t>(info.memory_bytes)};
}

Observation DeviceTrialHost::run(const Plan& plan, const TrialSpec& trial) {
  return runner_.run(plan, trial);
}

}  // namespace redzone::trial
