// The plugin `cusparse`.
#include "common/plugin_entry.h"
#include "cusparse/library.h"
#include "cusparse/products.h"

REDZONE_LIBRARY_ENTRY {
  using namespace redzone::libraries;
  return plugin_info<cusparse::add_targets, prepare<cusparse::library>>();
}
