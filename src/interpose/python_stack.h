// The Python stack of the calling thread, if the program runs CPython 3.11 to 3.13.
#pragma once

#include "interpose/recorder.h"

namespace redzone::interpose {

// Looks up the interpreter's functions, before main(); without them the other functions do nothing.
// `find(name)` returns a symbol of the program, or null.
void find_python(void* (*find)(const char* name));

// Verifies the layout of stacks, once this thread holds the interpreter's lock in a Python
// function. The interpreter allocates meanwhile, so call it only where a C function called by
// Python may use the interpreter: never within malloc() or free(), which the interpreter's
// allocator calls while its state is inconsistent.
void learn_python();

// Adds the Python stack to `out`, whether or not this thread holds the interpreter's lock; adds
// nothing before learn_python() has succeeded. The interpreter allocates nothing for this. Not for
// signal handlers.
void take_python_stack(Recorder& recorder, Frames& out);

}  // namespace redzone::interpose
