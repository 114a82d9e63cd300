// puzzle: lazy_scratch_per_cta
// bug: the launcher gives the kernel the scratch of one CTA, whatever the grid
// kin: pytorch/pytorch#175385, pytorch/pytorch#155896
// expect: illegal-access write after
// minimal: 1 call; M=1 N=17
// minimal: 1 call; M=17 N=1
// minimal: 1 call; M=1 N=1 num_ctas=2
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_scratch_per_cta(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_scratch_per_cta", {.scratch = lazy::ScratchRule::per_cta});
}

}  // namespace redzone::puzzles
