// Whether the kernel ends processes because the machine, or a limit of it, has no memory left.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>

namespace redzone::exec {

// How many processes the kernel has killed for lack of memory since it started, on the whole
// machine; empty if it does not count them (before Linux 4.13, or without /proc). A process is
// counted before it ends. Programs that kill for lack of memory, such as systemd-oomd, are not
// counted.
std::optional<std::uint64_t> oom_kills();

// The same, from the text of /proc/vmstat.
std::optional<std::uint64_t> oom_kills_in(std::istream& vmstat);

}  // namespace redzone::exec
