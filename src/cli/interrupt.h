// Turns Ctrl-C into a flag that loops poll.
#pragma once

namespace redzone::cli {

// Installs the handler for SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup). The
// second signal ends the process at once.
void watch_interrupts();
bool interrupted();

}  // namespace redzone::cli
