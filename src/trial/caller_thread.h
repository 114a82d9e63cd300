// A separate host thread for some calls of a target (Callers::each).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "device/device.h"

namespace redzone::trial {

class CallerThread {
 public:
  // The device must outlive this object.
  explicit CallerThread(device::Device& device) : device_(device) {}

  // Runs `code` in a new thread that may use the device and handles faults as the calling thread
  // does. Returns after that thread has ended and its thread_local objects are destroyed. Throws
  // what `code` threw, or std::system_error if no thread can be created.
  void run(const std::function<void()>& code);

 private:
  device::Device& device_;
  std::unique_ptr<std::byte[]> signal_stack_;  // created by the first run()
};

}  // namespace redzone::trial
