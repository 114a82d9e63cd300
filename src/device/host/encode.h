// TMA descriptors where there is no TMA.
#pragma once

#include "device/device.h"

namespace redzone::device {

// What cuTensorMapEncodeTiled would answer, by the rules of tma/checker.h, and the map that the
// emulated copies of redzone/host_bulk_copy.h read. `unsupported` for a descriptor that the rules
// allow and those copies cannot do.
Status<int> encode_for_host(const tma::Descriptor& descriptor, TensorMap& map);

}  // namespace redzone::device
