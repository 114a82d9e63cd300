// The guards of this process, chosen once, before main().
#pragma once

#include "interpose/device_memory.h"
#include "interpose/driver.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"
#include "interpose/stream_holds.h"
#include "interpose/torch_blocks.h"

namespace redzone::interpose {

// The settings of this process. A guard that the settings do not enable does nothing.
const Settings& settings();
// True once the library has started and has a record; nothing is guarded before.
bool guarding();

// Handles dlsym(handle, name) for a name that begins with "cu". If true, `*out` is the result.
bool answer_driver_lookup(void* handle, const char* name, void** out);

// The driver and its guarded memory.
struct DriverGuard {
  Driver driver;
  LaunchLog launches;
  StreamHolds holds;
  DeviceMemory memory;
  TorchBlocks torch;
};
DriverGuard* driver_guard();
// Like driver_guard(), but does not load the driver's functions: nullptr unless an earlier call
// has.
DriverGuard* driver_guard_in_use();

// Records whether PyTorch's CUDA library is loaded.
void note_torch();

// Self-test: shows, by allocations of the guard itself through each way to the driver's functions,
// that such allocations are guarded. Stores the result in the record. Runs once per process, before
// its first block.
void prove_driver_guard(DriverGuard& guard);

// The same self-test for malloc(), when the library starts.
void prove_host_guard();

// Installs the fault handler; blocks of malloc() may be guarded from now on.
void start_host_guard();

}  // namespace redzone::interpose
