// puzzle: lazy_scratch_first_call
// bug: the call that compiles gives the kernel all of its scratch, later ones that of one CTA
// kin: pytorch/pytorch#182825
// expect: illegal-access write after
// minimal: 2 calls; M=1 N=17; M=1 N=17
// minimal: 2 calls; M=17 N=1; M=17 N=1
// minimal: 2 calls; M=1 N=1 num_ctas=2; M=1 N=1 num_ctas=2
#include "lazy.h"
#include "puzzles.h"

namespace redzone::puzzles {

void add_lazy_scratch_first_call(Registrar& registrar) {
  add_lazy_pair(registrar, "lazy_scratch_first_call",
                {.scratch = lazy::ScratchRule::first_call_only});
}

}  // namespace redzone::puzzles
