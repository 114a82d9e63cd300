// The worker's side: runs jobs that come over a socket until the driver says Quit or is gone.
#pragma once

#include "device/black_box.h"
#include "exec/trial_host.h"

namespace redzone::exec {

// The device was lost and reported so; the process left without destructors.
inline constexpr int kDeviceLostExit = 87;

// Says Hello, then runs. The exit code for main(): 0 after Quit or when the driver has gone, 3 when
// it sent what is no message. Does not return after the host lost its device. Sets job, trial and
// `starting`/`preparing`/`reporting`/`idle` in the black box, and clears the other marks before
// each trial. Makes the kernel kill this process when its parent ends.
int worker_loop(int fd, TrialHost& host, device::BlackBox& box);

}  // namespace redzone::exec
