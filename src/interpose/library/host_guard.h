// The guard of malloc() in this process.
#pragma once

namespace redzone::interpose {

class HostMemory;

// nullptr until start_host_guard() has succeeded.
HostMemory* host_guard();
bool is_guarded_host_block(const void* address);
// Reserves the addresses; false if that fails.
bool open_host_guard();

// Takes over SIGSEGV and SIGBUS. A handler that the program installs is called for faults unrelated
// to the guard, and after the guard has reported its own.
void watch_faults();

}  // namespace redzone::interpose
