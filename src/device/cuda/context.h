// The primary context of device 0, which the runtime API, cuBLAS and libtorch use as well.
#pragma once

#include <memory>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// Keeps the primary context alive, and current on the thread that retained it. The destructor
// restores the previous current context; it must run on the same thread.
class PrimaryContext {
 public:
  static Status<std::unique_ptr<PrimaryContext>> retain(const DriverApi& api, CUdevice device);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  // Makes the context current on the calling thread if the thread has no current context.
  void attach_thread() const;

 private:
  PrimaryContext(const DriverApi& api, CUdevice device, CUcontext context, CUcontext previous)
      : api_(api), device_(device), context_(context), previous_(previous) {}

  const DriverApi& api_;
  CUdevice device_;
  CUcontext context_;
  CUcontext previous_;
};

}  // namespace redzone::device::cuda
