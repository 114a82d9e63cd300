// Throws while the loader runs its initializers.
#include "noop.h"

static const int value = []() -> int { throw std::runtime_error("too early"); }();

REDZONE_PLUGIN(registrar) {
  add_noop(registrar, "early" + std::to_string(value));
}
