// Where the Python interpreter of the calling thread is. Nothing is linked: the functions of
// CPython 3.10 and later are looked up in the program, which has them if it is an interpreter.
#pragma once

#include "interpose/recorder.h"

namespace redzone::interpose {

// Looks the functions up, before main(); without them the other function does nothing.
// `find(name)`: a function of the program, or null.
void find_python(void* (*find)(const char* name));

// Adds the Python stack to `out` if this thread holds the interpreter's lock; not in signal
// handlers. What the interpreter allocates meanwhile is not the program's (InternalScope).
void take_python_stack(Recorder& recorder, Frames& out);

}  // namespace redzone::interpose
