// TMA descriptors on the host device.
#pragma once

#include "device/device.h"

namespace redzone::device {

// Returns the result that cuTensorMapEncodeTiled has according to the rules of tma/checker.h, and
// sets the map for the emulated copies of redzone/host_bulk_copy.h. `unsupported` for a descriptor
// that the rules allow but the emulated copies do not support.
Status<int> encode_for_host(const tma::Descriptor& descriptor, TensorMap& map);

}  // namespace redzone::device
