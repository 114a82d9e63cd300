// Return addresses of the calling thread. Uses the unwinder that is linked into the library, which
// neither allocates nor takes a lock, so it may be used in a signal handler.
#pragma once

#include "interpose/record.h"

namespace redzone::interpose {

// The frames above the library's own: those whose address lies outside of it.
void take_backtrace(Frames& out);

// In a signal handler: the frames from the interrupted instruction on. If the unwinder does not
// reach it, that instruction alone.
void take_backtrace_from(std::uint64_t instruction, Frames& out);

}  // namespace redzone::interpose
