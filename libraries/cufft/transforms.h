// Batched transforms as targets.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries::cufft {

void add_targets(Registrar& registrar);
// Loads the library, and its kernels with a first plan.
void prepare();

}  // namespace redzone::libraries::cufft
