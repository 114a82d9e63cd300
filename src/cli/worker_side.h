// What a process that runs trials itself has: a device and the targets for it.
#pragma once

#include <memory>
#include <string>

#include "cli/flags.h"
#include "device/device.h"

namespace redzone::cli {

struct WorkerSide {
  std::string device_name;  // "host" | "cuda"
  std::unique_ptr<device::Device> device;
  Registry registry;
};

// From --device (named, not auto) and --plugin. Opens the device, so never in the driver.
Result<WorkerSide> open_worker_side(const po::variables_map& flags);

}  // namespace redzone::cli
