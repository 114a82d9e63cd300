// puzzle: lazy_tuning_accumulates
// bug: the kernel adds to its output, and each config that the first call tries adds to it, too
// kin: pytorch/pytorch#175416
// expect: history y
// minimal: 2 calls; M=1 N=1; M=1 N=1
// expect: reference y
// minimal: 1 call; M=1 N=1
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_tuning_accumulates(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_tuning_accumulates", {.tuning = lazy::TuningRule::accumulates});
}

}  // namespace redzone::puzzles
