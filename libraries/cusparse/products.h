// Products with a sparse matrix as targets.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries::cusparse {

void add_targets(Registrar& registrar);

}  // namespace redzone::libraries::cusparse
