#include <unistd.h>

#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "sleeper");
  for (;;) ::pause();
}
