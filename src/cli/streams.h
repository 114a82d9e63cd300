// The standard descriptors of this process.
#pragma once

namespace redzone::cli {

// Opens those of 0, 1 and 2 that are closed on /dev/null, so that nothing else that is opened gets
// their numbers. The first thing that a program does.
void open_standard_descriptors();

// A descriptor of what stdout was, for results alone. From then on what this process writes to
// stdout goes to stderr: what the code of a plugin prints is no result. -1, with errno, where there
// is no descriptor left. For a process with one thread.
int take_stdout();

}  // namespace redzone::cli
