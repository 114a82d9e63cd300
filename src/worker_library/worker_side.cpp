#include "worker_library/worker_side.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "core/device_traits.h"
#include "device/devices.h"
#include "device/variant_hook.h"
#include "package/packages.h"

namespace redzone::worker {
namespace {

// Niceness of a compile worker.
constexpr int kNiceness = 10;

Result<std::unique_ptr<device::Device>> open_device(const WorkerSideOptions& options) {
  if (options.compile_for && !traits_of(options.device).execution.runs_kernels) {
    [[maybe_unused]] const int niceness = ::nice(kNiceness);  // gives priority to trials
    return device::open_asking_device(device::compiling_hook(*options.compile_for));
  }
  auto device = device::open_device(options.device);
  if (!device) return harness_error(device.error().code + ": " + device.error().detail);
  return std::move(*device);
}

}  // namespace

Result<Registry> load_worker_targets(const WorkerSideOptions& options) {
  RZ_TRY_ASSIGN(auto registry, Registry::load_in_worker(options.plugins));
  RZ_TRY(package::add_packages(registry, options.packages));
  return registry;
}

Result<WorkerSide> open_worker_side(const WorkerSideOptions& options,
                                    std::optional<Registry> loaded) {
  // Loading a kernel at its first use would wait for the device while a launch is blocked.
  setenv("CUDA_MODULE_LOADING", options.lazy_kernels ? "LAZY" : "EAGER", 1);
  if (options.one_queue) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  WorkerSide side;
  RZ_TRY_ASSIGN(auto opened, open_device(options));
  side.device = std::move(opened);
  if (!loaded) {
    RZ_TRY_ASSIGN(loaded, load_worker_targets(options));
  }
  RZ_TRY(loaded->preload([&]() -> std::string {
    const auto idle = side.device->synchronize();
    return idle ? "" : fmt::format("{}: {}", idle.error().code, idle.error().detail);
  }));
  side.registry = std::move(*loaded);
  return side;
}

}  // namespace redzone::worker
