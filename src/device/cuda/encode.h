// Encodes a TMA descriptor, given as plain values, through the driver.
#pragma once

#include "device/cuda/driver_api.h"
#include "device/tensor_map.h"

namespace redzone::device::cuda {

// Calls cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, which `api` must have. Ranks up to
// TensorMapEncoder::kMostRank only: the driver may read that many entries.
CUresult encode(const DriverApi& api, const tma::Descriptor& descriptor, CUtensorMap& map);

}  // namespace redzone::device::cuda
