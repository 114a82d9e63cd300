// Encoding of TMA descriptors by the CUDA driver.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "tma/descriptor.h"

namespace redzone::device {

// Encodes descriptors and discards the maps. Owns a primary context, so a process that starts
// workers must not create one. Single-threaded.
class TensorMapEncoder {
 public:
  virtual ~TensorMapEncoder() = default;
  virtual const std::string& device_name() const = 0;
  virtual const std::string& driver_version() const = 0;
  virtual int compute_capability() const = 0;  // 90 for 9.0

  // Returns the CUresult of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col unchanged: 0 accepts,
  // 1 (invalid value) rejects, any other value is about the context and not about the descriptor.
  // Ranks up to kMostRank only: the driver may read that many entries.
  virtual int encode(const tma::Descriptor& descriptor) = 0;
  static constexpr std::uint32_t kMostRank = 16;
};

// Fails with one line for people if there is no driver, no GPU of compute capability 9.0, or no
// CUDA support in this build.
Status<std::unique_ptr<TensorMapEncoder>> open_tensor_map_encoder();

}  // namespace redzone::device
