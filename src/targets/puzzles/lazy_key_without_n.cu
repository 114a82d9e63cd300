// puzzle: lazy_key_without_n
// bug: what is frozen for a shape is found again without looking at N
// kin: pytorch/pytorch#175416
// expect: history y
// minimal: 2 calls; M=1 N=1; M=1 N=17
// minimal: 2 calls; M=1 N=17; M=1 N=1
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_key_without_n(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_key_without_n", {.key = lazy::KeyRule::without_dim});
}

}  // namespace redzone::puzzles
