#include "target/capability.h"

#include <fmt/format.h>

namespace redzone {
namespace {

std::string version(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

}  // namespace

std::optional<std::string> capability_problem(const TargetSpec& spec, int capability) {
  if (spec.only_compute_capability != 0 && spec.only_compute_capability != capability)
    return fmt::format("compiled for compute capability {}, the device has {}",
                       version(spec.only_compute_capability), version(capability));
  if (spec.min_compute_capability > capability)
    return fmt::format("needs compute capability {}, the device has {}",
                       version(spec.min_compute_capability), version(capability));
  return std::nullopt;
}

std::optional<std::string> support_problem(const TargetSpec& spec, const DeviceTraits& device,
                                           int capability, std::string_view nvrtc) {
  if (device.targets.needs_nvrtc && spec.needs_nvrtc && nvrtc.empty())
    return "NVRTC is not installed";
  if (!device.targets.checks_compute_capability) return std::nullopt;
  return capability_problem(spec, capability);
}

}  // namespace redzone
