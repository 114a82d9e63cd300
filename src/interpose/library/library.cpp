// Start and end of the preloaded library in a process.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "interpose/host_memory.h"
#include "interpose/internal_scope.h"
#include "interpose/library/export.h"
#include "interpose/library/guard.h"
#include "interpose/library/host_guard.h"
#include "interpose/library/real_symbols.h"
#include "interpose/origin_file.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {
namespace {

constinit Settings the_settings;
constinit std::atomic<bool> started{false};

void before_fork() {
  // Lock in this order, because the driver guard may free a host block while it holds its lock.
  if (DriverGuard* const guard = driver_guard_in_use()) {
    guard->torch.lock();
    guard->memory.lock();
    guard->launches.lock();
  }
  if (HostMemory* const host = host_guard()) host->lock_for_fork();
}

void unlock_driver() {
  if (DriverGuard* const guard = driver_guard_in_use()) {
    guard->launches.unlock();
    guard->memory.unlock();
    guard->torch.unlock();
  }
}

void after_fork_in_parent() {
  if (HostMemory* const host = host_guard()) host->unlock_after_fork();
  unlock_driver();
}

void after_fork_in_child() {
  if (HostMemory* const host = host_guard()) host->unlock_in_child();
  unlock_driver();
  recorder().reopen_after_fork();
  // The driver does not work in a child of a process that has used it.
  if (DriverGuard* const guard = driver_guard_in_use()) guard->memory.abandon();
}

bool driver_is_loaded() {
  void* const library = real_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr;
}

void note_libraries() {
  if (driver_is_loaded()) recorder().note(Fact::driver_present);
  note_torch();
}

bool read_settings_file(const char* folder, char (&text)[kSettingsTextBytes]) {
  char file[4096];
  const int n = std::snprintf(file, sizeof file, "%s/%s", folder, kSettingsFile);
  return n > 0 && static_cast<std::size_t>(n) < sizeof file &&
         read_small_file(file, text, sizeof text);
}

__attribute__((destructor)) void end() {
  if (!guarding()) return;
  const InternalScope scope;
  if (HostMemory* const host = host_guard()) host->compare_live();
  note_libraries();
  recorder().note(Fact::ended);
}

// Returns false if this process is not to be guarded.
bool open_guard() {
  const InternalScope scope;
  const char* const folder = std::getenv(kFolderVariable);
  const char* text = std::getenv(kSettingsVariable);
  char from_file[kSettingsTextBytes];
  if (folder != nullptr && text == nullptr && read_settings_file(folder, from_file))
    text = from_file;
  if (folder == nullptr || text == nullptr || !parse_settings(text, the_settings)) return false;
  if (!recorder().open(folder)) return false;
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (settings().python)
    find_python([](const char* name) { return real_dlsym(RTLD_DEFAULT, name); });
  // quick_exit() calls no destructors. The function registered first is called last.
  std::at_quick_exit(end);
  started.store(true, std::memory_order_release);
  if (driver_is_loaded()) recorder().note(Fact::driver_present);
  return true;
}

__attribute__((constructor)) void start() {
  if (open_guard() && settings().cpu) start_host_guard();
}

[[noreturn]] void leave(int code) {
  // A child of vfork() shares the memory of its parent, so its exit must not mark the process as
  // ended.
  if (guarding() && recorder().is_of_this_process()) recorder().note(Fact::ended);
  while (true) ::syscall(SYS_exit_group, code);
}

}  // namespace

const Settings& settings() {
  return the_settings;
}

void note_torch() {
  if (real_dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD) != nullptr)
    recorder().note(Fact::torch_present);
}

bool guarding() {
  return started.load(std::memory_order_acquire);
}

void start_host_guard() {
  if (!open_host_guard()) return;
  watch_faults();
  prove_host_guard();
}

}  // namespace redzone::interpose

// NOLINTBEGIN: the names are the C library's
REDZONE_EXPORT void _exit(int code) {
  redzone::interpose::leave(code);
}

REDZONE_EXPORT void _Exit(int code) noexcept {
  redzone::interpose::leave(code);
}
// NOLINTEND
