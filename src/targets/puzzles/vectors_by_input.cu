// puzzle: vectors_by_input
// bug: vectors of four are copied where the input begins at a multiple of 16 bytes, wherever the
//      output begins
// kin: elementwise kernels that choose vector accesses by the base of one of their tensors
// expect: misaligned-access
// minimal: 1 call, mixed; N=4
#include "puzzles.h"
#include "vectors.h"

namespace redzone::puzzles {
namespace vectors_by_input {

template <bool kFixed>
struct VectorsByInput : VectorCopy {
  static TargetSpec spec() {
    return spec_of<kFixed>("vectors_by_input", "y = x, by vectors where x allows them.");
  }

 private:
  bool may_use_vectors(const TensorArg& x, const TensorArg& y) const override {
    return begins_with_vector(x) && (!kFixed || begins_with_vector(y));
  }
};

}  // namespace vectors_by_input

void add_vectors_by_input(Registrar& registrar) {
  add_pair<vectors_by_input::VectorsByInput>(registrar);
}

}  // namespace redzone::puzzles
