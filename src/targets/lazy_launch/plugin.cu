// The plugin `lazy_launch`: the launcher with its rules as knobs, all of them correct by default.
#include "lazy_launch.h"

REDZONE_PLUGIN(registrar) {
  redzone::lazy::add_with_rule_knobs(registrar, "lazy_launch");
}
