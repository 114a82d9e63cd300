// Launches kernels of targets, and refuses launches that the device would refuse or misinterpret.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "device/cuda/driver_api.h"
#include "device/cuda/gate.h"
#include "device/device.h"

namespace redzone::device::cuda {

class Launcher {
 public:
  Launcher(const DriverApi& api, Gate& gate, const LaunchLimits& limits)
      : api_(api), gate_(gate), limits_(limits) {}

  // Failures: launch_refused for a geometry over the limits ("invalid-launch"), arguments that do
  // not match the kernel's parameters ("invalid-arguments"), or an error of the driver that leaves
  // the context alive; harness for a kernel without a function.
  Status<void> launch(CUstream stream, const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args);

 private:
  // Properties of a function, queried at its first launch.
  struct Function {
    std::optional<std::vector<std::size_t>> parameter_bytes;  // unset: unknown
    std::size_t static_shared_bytes = 0;
    std::size_t dynamic_limit_bytes = 0;  // the limit set so far
    bool any_cluster = false;             // clusters above the portable size are allowed
  };
  Status<Function*> find(CUfunction function, const char* name);
  Status<void> allow_shared(CUfunction function, Function& known, std::size_t bytes,
                            const char* name);
  Status<void> allow_cluster(CUfunction function, Function& known, const Extent& cluster,
                             const char* name);

  const DriverApi& api_;
  Gate& gate_;
  const LaunchLimits& limits_;
  std::unordered_map<CUfunction, Function> functions_;
};

}  // namespace redzone::device::cuda
