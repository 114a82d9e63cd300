// The worker's side: runs the jobs that come over a socket until the driver sends Quit or is gone.
#pragma once

#include "device/black_box.h"
#include "exec/trial_host.h"

namespace redzone::exec {

// Exit code of a worker that reported the loss of its device and exited without running
// destructors.
inline constexpr int kDeviceLostExit = 87;

// Sends Hello, then runs jobs. Returns the exit code for main(): 0 after Quit or when the driver is
// gone, 3 after an invalid message. Does not return after the host lost its device. Sets job, trial
// and the phases starting, preparing, reporting and idle in the black box, and resets its call
// indices, kernel and fault before each trial. Makes the kernel kill this process when its parent
// ends.
int worker_loop(int fd, TrialHost& host, device::BlackBox& box);

}  // namespace redzone::exec
