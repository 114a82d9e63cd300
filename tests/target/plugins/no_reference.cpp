// Declares a reference but has none.
#include "noop.h"

struct Boastful : Noop {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec = noop_spec("boastful");
    spec.has_reference = true;
    return spec;
  }
};

REDZONE_PLUGIN(registrar) {
  registrar.add<Boastful>();
}
