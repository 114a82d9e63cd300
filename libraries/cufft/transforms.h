// Batched transforms as targets.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries::cufft {

void add_targets(Registrar& registrar);
// Loads the library. Its first plan loads its kernels.
void prepare();

}  // namespace redzone::libraries::cufft
