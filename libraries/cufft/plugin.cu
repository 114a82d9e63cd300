// The plugin `cufft`.
#include "common/plugin_entry.h"
#include "cufft/transforms.h"

REDZONE_LIBRARY_ENTRY {
  using namespace redzone::libraries;
  return plugin_info<cufft::add_targets, cufft::prepare>();
}
