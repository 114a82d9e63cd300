// TMA descriptors that a target could not encode.
#pragma once

#include <redzone/tensor_map.h>

#include <span>
#include <string_view>

#include "core/trial.h"

namespace redzone::exec {

// Which rule it breaks, in words. `code` is the device's answer.
EncodeObservation refused_encode(std::int32_t call, std::string_view name,
                                 const tma::Descriptor& descriptor, int code,
                                 int compute_capability);

// A fault of a call that could not encode a descriptor says so.
void explain_by_encodes(Fault& fault, std::span<const EncodeObservation> encodes);

}  // namespace redzone::exec
