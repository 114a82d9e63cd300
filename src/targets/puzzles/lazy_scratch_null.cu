// puzzle: lazy_scratch_null
// bug: the kernel is launched with a null pointer for its scratch
// kin: jax-ml/jax#38912
// expect: illegal-access write
// minimal: 1 call; M=1 N=1
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_scratch_null(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_scratch_null", {.scratch = lazy::ScratchRule::null});
}

}  // namespace redzone::puzzles
