// Declares samples of its reference but cannot compute them.
#include "noop.h"

struct Boastful : Noop {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec = noop_spec("boastful");
    spec.has_reference = true;
    spec.sampled_rows = 4;
    return spec;
  }
  void reference(redzone::ReferenceCall&) const override {}
};

REDZONE_PLUGIN(registrar) {
  registrar.add<Boastful>();
}
