// Time that the kernel gave a process no processor, which is nothing that the process did.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace redzone {

// How long the main thread of a process has been ready to run without a processor; 0 where the
// kernel does not say, or the process has ended and was waited for.
std::chrono::nanoseconds waited_for_processor(pid_t process);

}  // namespace redzone
