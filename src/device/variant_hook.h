// Which variants a plan asks for is seen where nothing runs. A hook that compiles them makes
// kernels ready before the trial that needs them, in processes that need no GPU.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace redzone::device {

// `box` (may be null): that of the process, which shows progress while the hook is at work.
using VariantHook = std::function<void(const VariantRequest&, BlackBox* box)>;

// Opens the device that runs nothing (see open_none_device()) and tells `asked` of each variant
// that a target asks for. Never fails.
std::unique_ptr<Device> open_asking_device(VariantHook asked);

// Compiles variants for such a GPU into the cache on disk from where its devices load them. Does
// nothing where there is no NVRTC or no cache that takes what was compiled, or where a variant does
// not compile: the device that needs it says why.
VariantHook compiling_hook(int compute_capability);

// Why such a hook would do nothing, but for NVRTC; "" where it would compile. Makes the folder of
// the cache.
std::string no_compiling_ahead();

}  // namespace redzone::device
