// The plugin `ragged_prefill`.
#include "ragged_prefill.h"

REDZONE_PLUGIN(registrar) {
  redzone::ragged::add(registrar, "ragged_prefill", redzone::Category::kernel, {});
}
