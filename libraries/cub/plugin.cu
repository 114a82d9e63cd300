// The plugin `cub`.
#include "cub/algorithms.h"

REDZONE_PLUGIN(registrar) {
  using namespace redzone::libraries::cub_targets;
  add_reduce(registrar);
  add_scan(registrar);
  add_sort(registrar);
  add_select(registrar);
}
