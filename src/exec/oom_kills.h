// Whether the kernel ends processes because the machine, or a limit of it, has no memory left.
#pragma once

#include <cstdint>
#include <istream>

namespace redzone::exec {

// How many processes the kernel has killed for lack of memory since it started; 0 if it does not
// count them (before Linux 4.13). A process is counted before it ends.
std::uint64_t oom_kills();

// The same, from the text of /proc/vmstat.
std::uint64_t oom_kills_in(std::istream& vmstat);

}  // namespace redzone::exec
