// Time that a process waited for a processor, which the process itself did not cause.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace redzone {

// How long the main thread of a process has been runnable without a processor; 0 if the kernel does
// not report it, or the process has ended and was reaped.
std::chrono::nanoseconds waited_for_processor(pid_t process);

}  // namespace redzone
