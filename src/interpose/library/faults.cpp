// SIGSEGV and SIGBUS. The guard's handler stays installed; a handler that the program installs is
// stored separately, and the program sees it as the installed one.
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>

#include "interpose/host_memory.h"
#include "interpose/library/export.h"
#include "interpose/library/guard.h"
#include "interpose/library/host_guard.h"
#include "interpose/library/real_symbols.h"

namespace redzone::interpose {
namespace {

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
using Signal = sighandler_t (*)(int, sighandler_t);

constinit std::atomic<bool> watching{false};
// The program's actions for SIGSEGV and SIGBUS.
struct sigaction of_program[2];

int real_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  static constinit std::atomic<Sigaction> known{nullptr};
  Sigaction function = known.load(std::memory_order_acquire);
  if (function == nullptr) {
    function = reinterpret_cast<Sigaction>(real_function("sigaction"));
    known.store(function, std::memory_order_release);
  }
  return function(number, action, before);
}

struct sigaction* kept(int number) {
  if (!watching.load(std::memory_order_acquire)) return nullptr;
  return number == SIGSEGV ? &of_program[0] : number == SIGBUS ? &of_program[1] : nullptr;
}

// signal() and related functions, which differ in the flags.
sighandler_t set_handler(const char* function, int number, sighandler_t handler, int flags) {
  struct sigaction* const program = kept(number);
  if (program == nullptr) return reinterpret_cast<Signal>(real_function(function))(number, handler);
  const sighandler_t before = program->sa_handler;
  std::memset(program, 0, sizeof *program);
  program->sa_handler = handler;
  program->sa_flags = flags;
  return before;
}

// Does what the signal would have done without the guard.
void chain(int number, siginfo_t* info, void* context) {
  struct sigaction* const program = kept(number);
  const struct sigaction action = *program;
  const bool has_handler = (action.sa_flags & SA_SIGINFO) != 0 ||
                           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  const bool sent = info->si_code <= 0;  // sent by a process, not a fault
  if (sent && action.sa_handler == SIG_IGN) return;
  if (!has_handler) {
    // A fault that is ignored ends the process, too. With the default action restored, the
    // instruction faults again; a signal that was sent is raised again.
    struct sigaction fatal = {};
    fatal.sa_handler = SIG_DFL;
    real_sigaction(number, &fatal, nullptr);
    if (sent) ::raise(number);
    return;
  }
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    std::memset(program, 0, sizeof *program);
    program->sa_handler = SIG_DFL;
  }
  sigset_t blocked = action.sa_mask;  // blocked until this handler returns
  if ((action.sa_flags & SA_NODEFER) == 0) ::sigaddset(&blocked, number);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

// Processors that have no bit for non-executable pages report instruction fetches as reads; then
// the address is that of the instruction itself.
Access access_of(const siginfo_t& info, const gregset_t& registers) {
  constexpr greg_t write_bit = 2, fetch_bit = 16;
  const auto address = reinterpret_cast<greg_t>(info.si_addr);
  if ((registers[REG_ERR] & fetch_bit) != 0 || address == registers[REG_RIP])
    return Access::execute;
  return (registers[REG_ERR] & write_bit) != 0 ? Access::write : Access::read;
}

void handle(int number, siginfo_t* info, void* context) {
  const int before = errno;
  // A code that is not positive means that a process sent the signal.
  if (info->si_code > 0)
    if (HostMemory* const host = host_guard()) {
      const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
      const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
      const Access access = access_of(*info, registers);
      const bool reported = host->report_fault(address, access, number,
                                               static_cast<std::uint64_t>(registers[REG_RIP]));
      if (reported && host->survive(address, access)) {
        errno = before;
        return;  // repeat the access
      }
    }
  errno = before;
  chain(number, info, context);
}

}  // namespace

void watch_faults() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // SA_NODEFER: a program's handler may leave by a jump, or fault itself.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  real_sigaction(SIGSEGV, &action, &of_program[0]);
  real_sigaction(SIGBUS, &action, &of_program[1]);
  watching.store(true, std::memory_order_release);
}

}  // namespace redzone::interpose

using namespace redzone::interpose;

// NOLINTBEGIN: names and parameters are the C library's
REDZONE_EXPORT int sigaction(int number, const struct sigaction* action,
                             struct sigaction* before) noexcept {
  struct sigaction* const program = kept(number);
  if (program == nullptr) return real_sigaction(number, action, before);
  const struct sigaction old = *program;
  if (action != nullptr) *program = *action;
  if (before != nullptr) *before = old;
  return 0;
}

REDZONE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  return set_handler("signal", number, handler, SA_RESTART);
}

// The signal() of a program that is compiled for strict standard C.
REDZONE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return set_handler("__sysv_signal", number, handler, SA_RESETHAND | SA_NODEFER);
}

REDZONE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return set_handler("bsd_signal", number, handler, SA_RESTART);
}

REDZONE_EXPORT sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return set_handler("ssignal", number, handler, SA_RESTART);
}
// NOLINTEND
