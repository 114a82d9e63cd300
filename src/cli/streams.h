// The standard descriptors of this process.
#pragma once

namespace redzone::cli {

// Opens those of 0, 1 and 2 that are closed on /dev/null, so that nothing else that is opened gets
// their numbers. The first thing that a program does.
void open_standard_descriptors();

}  // namespace redzone::cli
