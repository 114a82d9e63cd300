// The shape of a tensor uses a dim that is not declared.
#include "noop.h"

REDZONE_PLUGIN(registrar) {
  redzone::TargetSpec spec = noop_spec("astray");
  spec.tensors.push_back({.name = "y", .shape = redzone::shape_of({"M"})});
  registrar.add(std::move(spec), [] { return std::make_unique<Noop>(); });
}
