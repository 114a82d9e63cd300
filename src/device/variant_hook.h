// A dry run reveals which kernel variants a plan requests. A hook compiles them before the trial
// that needs them, in processes that need no GPU.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace redzone::device {

// `box`: the black box of this process, which records progress while the hook runs; may be null.
using VariantHook = std::function<void(const VariantRequest&, BlackBox* box)>;

// Opens the device for dry runs (see open_dry_run_device()), which calls `asked` for each variant
// that a target requests. Never fails.
std::unique_ptr<Device> open_asking_device(VariantHook asked);

// A hook that compiles variants for GPUs of this compute capability into the disk cache, from which
// their devices load them. Failures are silent (no NVRTC, no usable cache, a variant that does not
// compile): the device that needs the variant reports them.
VariantHook compiling_hook(int compute_capability);

// The reason why compiling_hook() would do nothing, apart from a missing NVRTC; "" if it would
// compile. Creates the folder of the cache.
std::string no_compiling_ahead();

}  // namespace redzone::device
