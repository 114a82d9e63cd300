// Properties of a GPU that are available without a context.
#pragma once

#include <string>
#include <string_view>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// The driver's own version ("580.159.04"); if the kernel module does not report it, the CUDA
// version that it supports ("CUDA 13.0").
std::string driver_version(const DriverApi& api);

// The version in the text of /proc/driver/nvidia/version, or "".
std::string version_in(std::string_view proc_text);

// 90 for compute capability 9.0.
Status<int> compute_capability(const DriverApi& api, CUdevice device);

Status<std::string> device_name(const DriverApi& api, CUdevice device);

Status<int> attribute(const DriverApi& api, CUdevice device, CUdevice_attribute which);

// All fields of Info, from device attributes.
Status<Info> describe(const DriverApi& api, CUdevice device);

}  // namespace redzone::device::cuda
