// The zygote's side (exec/zygote.h): forks workers for the driver.
#pragma once

#include <optional>

#include "core/fd.h"

namespace redzone::exec {

// The first byte that the zygote sends: it has loaded its targets, and can be forked.
inline constexpr char kZygoteIsReady = 'r';
// A request has one byte and these descriptors: socket, black box, output. The answer is the id of
// the fork as a 32-bit integer, or -1.
inline constexpr int kForkDescriptors = 3;

struct ForkedWorker {
  Fd socket, black_box;
};

// Forks a process for each request of the driver, and returns in each fork. In the zygote it
// returns nullopt once the driver has ended, or at once if the process holds a GPU open or has
// other threads, because locks of other threads would never be released in a fork. `driver`: the
// descriptor of the socket.
//
// A fork is a child of the driver (CLONE_PARENT), leads its own process group, is killed by the
// kernel when the driver ends, and has the output as standard output and standard error. Its later
// mappings have other addresses than in other forks, as in a program that was started; its stack,
// its heap and its loaded code have the same addresses as in the zygote.
std::optional<ForkedWorker> serve_forks(int driver);

}  // namespace redzone::exec
