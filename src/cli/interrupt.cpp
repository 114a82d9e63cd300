#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace redzone::cli {
namespace {

// A signal handler can access only globals.
volatile sig_atomic_t g_interrupts = 0;

void on_signal(int signal) {
  g_interrupts = g_interrupts + 1;
  if (signal == SIGINT && g_interrupts > 1) _exit(130);
}

void do_nothing(int) {}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() {
  return g_interrupts > 0;
}

void outlive_failed_writes() {
  struct sigaction action = {};
  action.sa_handler = do_nothing;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace redzone::cli
