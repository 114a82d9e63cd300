#include "device/devices.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "core/device_traits.h"
#include "device/host/guard_arena.h"

namespace redzone::device {

namespace {

std::string address_space_problem() {
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > GuardArena::kLeastBytes)
    return "";
  return fmt::format(
      "the address space of a process is limited to {} MiB (RLIMIT_AS, 'ulimit -v'), guard pages "
      "need more than {} GiB of it",
      limit.rlim_cur >> 20, GuardArena::kLeastBytes >> 30);
}

}  // namespace

Presence look_for(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::host:
      return {address_space_problem(), {}, {}};
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
      return open_dry_run_device();
    case DeviceKind::cuda:
      break;
  }
  return open_cuda_device();
}

}  // namespace redzone::device
