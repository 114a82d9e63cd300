// Signals that end no driver at once: Ctrl-C is a flag that the loops ask for, and a write that
// fails is an error of that write.
#pragma once

namespace redzone::cli {

// Installs the handler for SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup). A
// SIGINT after another signal ends the process at once. A second SIGTERM does not: what ends a job
// sends it to all processes of the job, and some of these pass it on.
void watch_interrupts();
bool interrupted();

// SIGPIPE and SIGXFSZ do nothing from then on: a write to a reader that went away, or past the
// limit of a file's size, fails with an error instead. Programs that this process starts have the
// default action, as a handler does not outlive execve().
void outlive_failed_writes();

}  // namespace redzone::cli
