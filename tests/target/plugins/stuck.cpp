// A constraint that does not return for the smallest call.
#include <unistd.h>

#include "noop.h"

REDZONE_PLUGIN(registrar) {
  redzone::TargetSpec spec = noop_spec("endless");
  spec.constraints.push_back(redzone::Constraint::predicate(
      "N is pondered", [](const redzone::Dims&, const redzone::Config&) -> bool {
        for (;;) ::pause();
      }));
  registrar.add(std::move(spec), [] { return std::make_unique<Noop>(); });
}
