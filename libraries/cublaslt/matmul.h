// cublasLtMatmul as targets.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries::cublaslt {

void add_matmuls(Registrar& registrar);

}  // namespace redzone::libraries::cublaslt
