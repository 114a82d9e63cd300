// Compiles a kernel variant with NVRTC. Needs no device.
#pragma once

#include <redzone/target.h>

#include <string>
#include <string_view>

#include "device/cuda/nvrtc_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// Machine code of one kernel.
struct Cubin {
  std::string lowered_name;  // of the kernel in `image`
  std::string image;         // bytes of a cubin
};

// "sm_90a" for 90, "sm_80" for 80: Hopper-specific instructions need the `a`.
std::string arch_name(int compute_capability);

// The header that kernel sources can include in addition to NVRTC's own, from memory:
// <redzone/kernel.h>.
std::string_view kernel_header();

// Fails with kind harness and the first lines of the compiler's log.
Status<Cubin> compile_variant(const NvrtcApi& nvrtc, const VariantRequest& request,
                              const std::string& arch);

}  // namespace redzone::device::cuda
