// Ctrl-C as a flag that the loops ask for.
#pragma once

namespace redzone::cli {

// Installs the handler for SIGINT, SIGTERM and, unless it is ignored as under nohup, SIGHUP. The
// second signal ends the process at once.
void watch_interrupts();
bool interrupted();

}  // namespace redzone::cli
