// Backtraces of the calling thread. Uses the unwinder that is linked into the library, which
// neither allocates nor takes a lock, so it may be used in a signal handler.
#pragma once

#include "interpose/record.h"

namespace redzone::interpose {

// The frames of the program that called into the library. Frames whose address lies in the library
// are omitted.
void take_backtrace(Frames& out);

// For a signal handler: the frames from the interrupted instruction on; that instruction alone if
// the unwinder does not reach it.
void take_backtrace_from(std::uint64_t instruction, Frames& out);

}  // namespace redzone::interpose
