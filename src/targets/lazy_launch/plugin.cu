// The plugin `lazy_launch`: the launcher with all of its rules right.
#include "lazy_launch.h"

REDZONE_PLUGIN(registrar) {
  redzone::lazy::add(registrar, "lazy_launch", redzone::Category::kernel, {});
}
