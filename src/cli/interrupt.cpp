#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace redzone::cli {
namespace {

// A signal handler can access only globals.
volatile sig_atomic_t g_interrupts = 0;

void on_signal(int) {
  g_interrupts = g_interrupts + 1;
  if (g_interrupts > 1) _exit(130);
}

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

}  // namespace redzone::cli
