#include <unistd.h>

#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "cold_slow");
  registrar.warm_up([] { ::usleep(1000 * 1000); });
}
