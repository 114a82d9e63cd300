// Keeps the device busy during a trial; see core/contention.h.
#pragma once

#include <memory>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

class Contention {
 public:
  // Loads the kernel. `processors`: multiprocessors of the device. No stream may be held.
  static Status<std::unique_ptr<Contention>> create(const DriverApi& api, int processors);
  ~Contention();  // waits for the running kernel
  Contention(const Contention&) = delete;
  Contention& operator=(const Contention&) = delete;

  // Launches the kernel on a separate stream. The kernel ends by itself, after 0.3 ms.
  Status<void> begin();

 private:
  Contention(const DriverApi& api, int processors) : api_(api), processors_(processors) {}

  const DriverApi& api_;
  const int processors_;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUstream stream_ = nullptr;
  CUdeviceptr words_ = 0;  // the words that the kernel adds to
};

}  // namespace redzone::device::cuda
