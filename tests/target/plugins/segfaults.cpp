#include <csignal>

#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "crasher");
  std::raise(SIGSEGV);
}
