#include "noop.h"

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "thrower");
  throw std::runtime_error("no license\nfor \x1b[31mthis");
}
