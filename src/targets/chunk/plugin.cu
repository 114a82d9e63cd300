// The plugin `chunk`: chunked gated linear attention.
#include "targets.h"

REDZONE_PLUGIN(registrar) {
  registrar.add<redzone::chunk::FwdH>();
  registrar.add<redzone::chunk::FwdPhase1>();
  registrar.add<redzone::chunk::BwdDh>();
  registrar.add<redzone::chunk::BwdDhCorrection>();
}
