// The driver's own answer to a TMA descriptor.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "tma/descriptor.h"

namespace redzone::device {

// Encodes descriptors and throws the maps away. Holds a primary context of its own, so no process
// that starts workers may have one; for one thread.
class TensorMapEncoder {
 public:
  virtual ~TensorMapEncoder() = default;
  virtual const std::string& device_name() const = 0;
  virtual const std::string& driver_version() const = 0;
  virtual int compute_capability() const = 0;  // 90 for 9.0

  // The CUresult of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col as it is: 0 accepts, 1
  // (invalid value) rejects, anything else is about the context and not about the descriptor. Ranks
  // up to kMostRank only, because the driver may read as many entries.
  virtual int encode(const tma::Descriptor& descriptor) = 0;
  static constexpr std::uint32_t kMostRank = 16;
};

// Fails with one line for people where there is no driver, no GPU, none of compute capability 9.0,
// or where this build has no CUDA side.
Status<std::unique_ptr<TensorMapEncoder>> open_tensor_map_encoder();

}  // namespace redzone::device
