// A host thread of its own for some calls of a target (Callers::each).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "device/device.h"

namespace redzone::trial {

class CallerThread {
 public:
  // The device must outlive this.
  explicit CallerThread(device::Device& device) : device_(device) {}

  // Runs `code` in a new thread that may use the device, and in which faults are handled as in the
  // calling thread. Returns after that thread has ended, with its thread_local objects; throws what
  // `code` threw, or std::system_error where no thread can be made.
  void run(const std::function<void()>& code);

 private:
  device::Device& device_;
  std::unique_ptr<std::byte[]> signal_stack_;  // made by the first run()
};

}  // namespace redzone::trial
