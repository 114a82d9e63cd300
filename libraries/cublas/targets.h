// The cuBLAS routines as targets.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries::cublas {

void add_targets(Registrar& registrar);

}  // namespace redzone::libraries::cublas
