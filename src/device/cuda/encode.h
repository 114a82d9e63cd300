// The driver's encoding of a TMA descriptor given as plain values.
#pragma once

#include "device/cuda/driver_api.h"
#include "device/tensor_map.h"

namespace redzone::device::cuda {

// cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, which `api` must have. Ranks up to
// TensorMapEncoder::kMostRank only, because the driver may read as many entries.
CUresult encode(const DriverApi& api, const tma::Descriptor& descriptor, CUtensorMap& map);

}  // namespace redzone::device::cuda
