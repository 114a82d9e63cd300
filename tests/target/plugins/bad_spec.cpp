#include "noop.h"

REDZONE_PLUGIN(registrar) {
  auto spec = noop_spec("broken");
  spec.knobs = {{.name = "num_warps", .values = {}}};
  registrar.add(spec, [] { return std::make_unique<Noop>(); });
}
