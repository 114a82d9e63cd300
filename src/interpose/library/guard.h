// What guards this process: decided once, before main().
#pragma once

#include "interpose/device_memory.h"
#include "interpose/driver.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"
#include "interpose/stream_holds.h"
#include "interpose/torch_blocks.h"

namespace redzone::interpose {

// The settings of this process. Guards of which the settings have nothing do nothing.
const Settings& settings();
// True once the library has started and has a record; nothing is guarded before.
bool guarding();

// dlsym(handle, name) for a name that begins with "cu". True: `*out` is the answer.
bool answer_driver_lookup(void* handle, const char* name, void** out);

// The driver and its guarded memory, once libcuda.so.1 is loaded; nullptr if it cannot be found.
struct DriverGuard {
  Driver driver;
  LaunchLog launches;
  StreamHolds holds;
  DeviceMemory memory;
  TorchBlocks torch;
};
DriverGuard* driver_guard();
// The same, but nullptr unless a call has needed it before.
DriverGuard* driver_guard_in_use();

// Whether PyTorch's part for CUDA is loaded by now, in the record.
void note_torch();

// Shows, by allocations of the guard's own through every way to the driver's functions, that they
// are guarded; the result is in the record. Once per process, before its first block.
void prove_driver_guard(DriverGuard& guard);

// The same for malloc(), when the library starts.
void prove_host_guard();

// Installs the handler of faults, and the blocks of malloc() may be guarded from now on.
void start_host_guard();

}  // namespace redzone::interpose
