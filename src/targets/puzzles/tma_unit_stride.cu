// puzzle: tma_unit_stride
// bug: the stride of a dim of size 1 is encoded as it came, though it is never used and need not be
//      one that a descriptor can have
// kin: flashinfer-ai/flashinfer#2150 (sequence length 1); pytorch/pytorch#83158
// expect: fault
// minimal: 1 call; B=1 TQ=1 TK=1 HQ=1 HK=1 D=64 v.unit_stride=1
// minimal: 1 call; B=1 TQ=1 TK=1 HQ=1 HK=1 D=64 k.unit_stride=1
// minimal: 1 call; B=1 TQ=1 TK=1 HQ=1 HK=1 D=64 q.unit_stride=1
#include "puzzles.h"
#include "ragged_prefill.h"

namespace redzone::puzzles {

void add_tma_unit_stride(Registrar& registrar) {
  const auto variant = [](bool fixed) {
    return ragged::Variant{{.normalize_unit_strides = fixed}, 8, false};
  };
  ragged::add(registrar, "puzzle.tma_unit_stride", Category::puzzle, variant(false));
  ragged::add(registrar, "twin.tma_unit_stride", Category::twin, variant(true));
}

}  // namespace redzone::puzzles
