// Where the Python interpreter of the calling thread is, if the program is one of CPython 3.11
// to 3.13.
#pragma once

#include "interpose/recorder.h"

namespace redzone::interpose {

// Looks the interpreter's functions up, before main(); without them the others do nothing.
// `find(name)`: a symbol of the program, or null.
void find_python(void* (*find)(const char* name));

// Learns to read stacks, once this thread holds the interpreter's lock in a function of Python. The
// interpreter allocates meanwhile. So it must be where a function of C that Python calls may use
// the interpreter: never within malloc() or free(), which the interpreter's own allocator calls in
// its midst.
void learn_python();

// Adds the Python stack to `out`, whether this thread holds the interpreter's lock or not; none
// before learn_python() has succeeded. The interpreter allocates nothing for it. Not in signal
// handlers.
void take_python_stack(Recorder& recorder, Frames& out);

}  // namespace redzone::interpose
