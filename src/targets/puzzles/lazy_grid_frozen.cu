// puzzle: lazy_grid_frozen
// bug: the grid of the first call is launched for every later shape, too
// kin: pytorch/pytorch#120801
// expect: history y
// minimal: 2 calls; M=1 N=1; M=1 N=17
// minimal: 2 calls; M=1 N=17; M=1 N=1
// minimal: 2 calls; M=1 N=1; M=17 N=1
// minimal: 2 calls; M=17 N=1; M=1 N=1
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_grid_frozen(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_grid_frozen", {.grid = lazy::GridRule::first_call});
}

}  // namespace redzone::puzzles
