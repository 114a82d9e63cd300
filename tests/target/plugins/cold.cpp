#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "cold");
  registrar.warm_up([] { throw std::runtime_error("no handle"); });
}
