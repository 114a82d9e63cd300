// The worker's side: runs the jobs that come over a socket until the driver sends Quit or is gone.
#pragma once

#include "device/black_box.h"
#include "exec/trial_host.h"

namespace redzone::exec {

// The device loss was reported; the process left without running destructors.
inline constexpr int kDeviceLostExit = 87;

// Sends Hello, then runs. Returns the exit code for main(): 0 after Quit or when the driver is
// gone, 3 after an invalid message. Does not return after the host lost its device. Sets job, trial
// and `starting`/`preparing`/`reporting`/`idle` in the black box, and clears the other progress
// markers before each trial. Makes the kernel kill this process when its parent ends.
int worker_loop(int fd, TrialHost& host, device::BlackBox& box);

}  // namespace redzone::exec
