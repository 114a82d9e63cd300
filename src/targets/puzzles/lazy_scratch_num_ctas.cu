// puzzle: lazy_scratch_num_ctas
// bug: the scratch is that of the grid, without the CTAs of a cluster
// kin: pytorch/pytorch#175385, where the product of the mend must have the factor, too
// expect: illegal-access write after
// minimal: repros/lazy_scratch_num_ctas.toml
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_scratch_num_ctas(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_scratch_num_ctas",
                {.scratch = lazy::ScratchRule::without_num_ctas});
}

}  // namespace redzone::puzzles
