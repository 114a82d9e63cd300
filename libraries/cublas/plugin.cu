// The plugin `cublas`.
#include "common/plugin_entry.h"
#include "cublas/library.h"
#include "cublas/targets.h"

REDZONE_LIBRARY_ENTRY {
  using namespace redzone::libraries;
  return plugin_info<cublas::add_targets, prepare<cublas::library>>();
}
