// The standard file descriptors (0, 1, 2) of this process.
#pragma once

namespace redzone::cli {

// Opens /dev/null for each standard descriptor that is closed, so that no file opened later gets
// the descriptor's number. Call it first in main().
void open_standard_descriptors();

// Returns a new descriptor for stdout, for results only, and redirects descriptor 1 to stderr,
// because output of plugin code is not a result. Returns -1 and sets errno if there is no free
// descriptor. Call it while the process has one thread.
int take_stdout();

}  // namespace redzone::cli
