// The devices of this machine, by their kind: what is there, and opening one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace redzone::device {

struct Presence {
  std::string problem;         // the first thing missing, for people; "" where it can be opened
  int compute_capability = 0;  // 90; 0 where there is no such thing
  std::string nvrtc;           // version and path; "" where it is missing or not used
};

// Looks without creating a context; the driver process may call it.
Presence look_for(DeviceKind kind);

// The kinds that can be opened; those that run on the cores of the host first.
std::vector<DeviceKind> usable_kinds();

// What --device auto takes: the last of them that it may choose.
DeviceKind best_kind();

// A harness failure where something is missing.
Status<std::unique_ptr<Device>> open_device(DeviceKind kind);

}  // namespace redzone::device
