// Handles signals that must not end a driver at once: Ctrl-C sets a flag that loops check, and a
// failed write returns an error instead of a signal.
#pragma once

namespace redzone::cli {

// Installs the handler for SIGINT, SIGTERM and SIGHUP (unless SIGHUP is ignored, as under nohup). A
// SIGINT after another signal ends the process at once. A second SIGTERM does not: a job manager
// sends SIGTERM to all processes of a job, and some of these pass it on.
void watch_interrupts();
bool interrupted();

// Makes SIGPIPE and SIGXFSZ ineffective: a write to a closed pipe, or past the limit of a file's
// size, then fails with an error instead. Programs that this process starts have the default
// action, because a handler does not survive execve().
void outlive_failed_writes();

}  // namespace redzone::cli
