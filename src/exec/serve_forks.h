// The zygote's side (exec/zygote.h): forks workers for the driver.
#pragma once

#include <optional>

#include "core/fd.h"

namespace redzone::exec {

// The zygote's first byte: it has loaded its targets, and can be forked.
inline constexpr char kZygoteIsReady = 'r';
// A request has one byte and these descriptors: socket, black box, output. The answer is the id of
// the fork as a 32-bit integer, or -1.
inline constexpr int kForkDescriptors = 3;

struct ForkedWorker {
  Fd socket, black_box;
};

// Forks a process for each request of the driver, and returns in each of them. In the zygote it
// returns nothing once the driver has ended, or at once if the process holds a GPU open or has
// other threads, whose locks nobody would release in a fork. `driver`: the descriptor of the
// socket.
//
// A fork is a child of the driver (CLONE_PARENT), leads a group of its own, is killed by the kernel
// when the driver ends, and has the output as standard output and standard error. What it maps lies
// at other addresses than in other forks, as in a program that was started; its stack, its heap and
// what was loaded lie where they do in the zygote.
std::optional<ForkedWorker> serve_forks(int driver);

}  // namespace redzone::exec
