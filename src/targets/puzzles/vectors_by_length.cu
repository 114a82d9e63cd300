// puzzle: vectors_by_length
// bug: vectors of four are copied whenever the length is a multiple of four, wherever the tensors
//      begin
// kin: wrappers that choose vector loads by the size of a row and are given a slice
// expect: misaligned-access x
// minimal: 1 call, exact; N=4
// expect: misaligned-access y
// minimal: 1 call, mixed; N=4
#include "puzzles.h"
#include "vectors.h"

namespace redzone::puzzles {
namespace vectors_by_length {

template <bool kFixed>
struct VectorsByLength : VectorCopy {
  static TargetSpec spec() {
    return spec_of<kFixed>("vectors_by_length", "Copies a tensor, four elements at a time.");
  }

 private:
  bool may_use_vectors(const TensorArg& x, const TensorArg& y) const override {
    return !kFixed || (begins_with_vector(x) && begins_with_vector(y));
  }
};

}  // namespace vectors_by_length

void add_vectors_by_length(Registrar& registrar) {
  add_pair<vectors_by_length::VectorsByLength>(registrar);
}

}  // namespace redzone::puzzles
