#include "device/devices.h"

#include <algorithm>

#include "core/device_traits.h"

namespace redzone::device {

Presence look_for(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::host:
    case DeviceKind::dry_run:
      return {};
    case DeviceKind::cuda:
      break;
  }
  CudaProbe probe = probe_cuda();
  if (probe.device) probe.problem.clear();  // other missing parts do not matter
  return {std::move(probe.problem), probe.compute_capability, std::move(probe.nvrtc)};
}

std::vector<DeviceKind> usable_kinds() {
  std::vector<DeviceKind> usable;
  for (const auto& traits : all_devices())
    if (look_for(traits.kind).problem.empty()) usable.push_back(traits.kind);
  std::stable_partition(usable.begin(), usable.end(),
                        [](DeviceKind k) { return traits_of(k).execution.on_host_cores; });
  return usable;
}

DeviceKind best_kind() {
  DeviceKind best = DeviceKind::host;
  for (const DeviceKind kind : usable_kinds())
    if (traits_of(kind).automatic) best = kind;
  return best;
}

Status<std::unique_ptr<Device>> open_device(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::host:
      return open_host_device();
    case DeviceKind::dry_run:
      return open_none_device();
    case DeviceKind::cuda:
      break;
  }
  return open_cuda_device();
}

}  // namespace redzone::device
