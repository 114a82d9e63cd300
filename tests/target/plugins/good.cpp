#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "scan.forward");
  add_noop(registrar, "scan.backward");
}
