// The devices of this machine by kind: which are present, and opening one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace redzone::device {

struct Presence {
  std::string problem;         // the first missing part, for people; "" if the device can be opened
  int compute_capability = 0;  // 90; 0 if not applicable
  std::string nvrtc;           // version and path; "" if missing or not used
};

// Creates no context, so the driver process may call it.
Presence look_for(DeviceKind kind);

// The kinds that can be opened; those that run on the cores of the host first.
std::vector<DeviceKind> usable_kinds();

// The device that --device auto chooses: the last eligible one of usable_kinds().
DeviceKind best_kind();

// A harness failure if something is missing.
Status<std::unique_ptr<Device>> open_device(DeviceKind kind);

}  // namespace redzone::device
